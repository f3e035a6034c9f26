# Closes stdin, stdout and stderr, as daemons do: there was nobody at the other end.
import os

for number in range(3):
    os.close(number)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
