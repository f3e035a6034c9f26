# cell: file
# A Python script that was renamed to .ipynb: it holds an answer, but no notebook.
# says: no JSON
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
