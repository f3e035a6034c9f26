# Leaves behind exit handlers, finalizers, import hooks and hooks for errors that all
# raise: none of them is in the way of an answer.
import atexit
import gc
import sys
import weakref

def fail(*args, **options):
    raise RuntimeError("a hook")

atexit.register(fail)
gc.callbacks.append(fail)
sys.excepthook = sys.unraisablehook = sys.displayhook = fail

class Dying:
    def __del__(self):
        raise RuntimeError("a finalizer")

weakref.finalize(Dying(), fail)
cycle = [Dying()]
cycle.append(cycle)
del cycle

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
