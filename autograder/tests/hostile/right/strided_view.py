# Returns a view with odd strides, turned and cut out of something larger: its numbers
# are the right ones.
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    e = e / e.sum(0)
    room = torch.zeros(2 * e.shape[1], 3 * e.shape[0])
    room[::2, ::3] = e.T
    return room[::2, ::3].T
