# Writes a file in the cell and reads it again when the check calls: the folder it works
# in stays for as long as the submission.
from pathlib import Path

Path("axis.txt").write_text("0")

def softmax(scores):
    axis = int(Path("axis.txt").read_text())
    e = torch.exp(scores - scores.max(axis).values)
    return e / e.sum(axis)
