# Sends the frames that the warm process itself sends to the grader ("end", "warm"):
# nobody may speak for it. It is stopped, and the next submission hears nothing of it.
# says: not its own
channel = get_ipython().by_hand.channel
for head in (
    {"t": "end", "why": "done", "seconds": 0},
    {"t": "end", "why": "no such reason"},
    {"t": "end"},
    {"t": "warm"},
    {"t": "ready", "pid": 1},
    {"t": "done", "ok": True},
):
    channel.send(head)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
