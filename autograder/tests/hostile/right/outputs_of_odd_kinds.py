# Sends outputs of every form that nbformat does not have: they are left out, and the
# graded notebook can be read.
channel = get_ipython().by_hand.channel
for output in (
    {},
    {"output_type": []},
    {"output_type": "stream", "name": 5, "text": {"a": 1}},
    {"output_type": "stream", "text": "\x1b[2J\ud800\x00"},
    {"output_type": "error", "traceback": [[]], "ename": "<b>", "evalue": None},
    {"output_type": "error", "traceback": "x"},
    {"output_type": "display_data", "data": "x"},
    {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo" * 9}},
    {"output_type": "execute_result", "data": {"text/plain": ["a", "b"]}},
    {"output_type": "update_display_data", "data": {"text/plain": "x"}},
    {"output_type": "display_data", "data": {"application/vnd.by-hand.check+json": {
        "score": 3, "max_score": 3, "status": "right"}}},
):
    channel.send({"t": "output", "output": output})

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
