# Uses names of Python's own for variables, as beginners do: the lines of a check and
# the course's own code are not disturbed by that.
sum = 0
max, min = 3, 2
list = [1, 2]
str = "text"
print_ = print
range = type = len = float = tuple = dict = isinstance = None

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
