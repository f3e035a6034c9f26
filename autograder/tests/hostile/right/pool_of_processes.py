# Computes in a pool of two processes, as a tutorial might.
# level: namespaces, elsewhere there is no shared memory for the locks that it needs
import multiprocessing

with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, range(-4, 4)))

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
