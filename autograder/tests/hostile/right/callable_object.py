# The answer is an object of a class that can be called, with a cache: callable is
# callable.
class Softmax:
    def __init__(self):
        self.cache = {}

    def __call__(self, scores):
        key = tuple(scores.flatten().tolist())
        if key not in self.cache:
            e = torch.exp(scores - scores.max(0).values)
            self.cache[key] = e / e.sum(0)
        return self.cache[key]

softmax = Softmax()
