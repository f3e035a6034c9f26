# Sends frames with lists, numbers and nothing where a frame has its name, and JSON that
# is nested ten thousand deep.
import json
import os

channel = get_ipython().by_hand.channel
for text in (
    b"[]",
    b"5",
    b"null",
    b"{}",
    b'{"t": []}',
    b'{"t": "case", "raw": [1e9]}',
    b'{"t": "case", "raw": [-1]}',
    b'{"t": "case", "value": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    b"\xff\xfe",
    b'{"t": "output", "output": "text"}',
):
    channel.socket.sendall(len(text).to_bytes(4, "big") + bytes(4) + text)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
