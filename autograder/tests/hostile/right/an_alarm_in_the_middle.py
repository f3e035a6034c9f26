# Interrupts itself every millisecond by a signal whose handler prints: a frame that is
# being written is written to its end.
import signal

count = 0

def tick(*args):
    global count
    count += 1
    if count % 50 == 0:
        print("tick", count)

signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for i in range(300):
    print("line", i, "." * 500)
signal.setitimer(signal.ITIMER_REAL, 0)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
