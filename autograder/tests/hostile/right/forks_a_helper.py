# Computes in a process of its own and in a pool of two, as a tutorial might: all of
# them are waited for, nothing is wrong with that.
import multiprocessing
import os

if os.fork() == 0:
    os._exit(0)
os.wait()
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, range(-4, 4)))

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
