# Announces a value of a hundred megabytes, sends all of it, and would send more: it is
# refused before it is read.
# says: far too much
shell = get_ipython().by_hand

def softmax(scores):
    channel = shell.channel
    head = b'{"t": "case", "label": "two keys, one query", "raw": [100000000]}'
    channel.socket.sendall(len(head).to_bytes(4, "big") + (10**8).to_bytes(4, "big"))
    channel.socket.sendall(head)
    for _ in range(100):
        channel.socket.sendall(bytes(10**6))
    return scores
