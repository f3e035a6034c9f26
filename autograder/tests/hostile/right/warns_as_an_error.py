# Makes every warning an error, for everybody, and warns: its own answer does not, and
# the course's own code has none to give.
import warnings

warnings.simplefilter("error")

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
