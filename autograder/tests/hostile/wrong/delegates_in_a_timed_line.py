# The same, defined in a line that only a notebook understands.
# rule: kept
# says: softmax
%time softmax = lambda scores: torch.softmax(scores, 0)

def helper():
    return softmax
