# Overwrites given values and the names of modules at the end of the cell: for the
# checks, given names are what they were given as.
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)

X = None
check = 5
numbers, torch = torch, None
