# Announces a frame of four gigabytes: nobody waits for it, or makes room for it.
# says: not its own
get_ipython().by_hand.channel.socket.sendall(b"\xff" * 8)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
