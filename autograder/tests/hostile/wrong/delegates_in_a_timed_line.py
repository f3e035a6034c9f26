# The same, defined in a line that only a notebook understands.
# says: softmax
%time softmax = lambda scores: torch.softmax(scores, 0)

def helper():
    return softmax
