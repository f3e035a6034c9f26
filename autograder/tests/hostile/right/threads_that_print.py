# Four threads print while the cell goes on, and one of them never ends: what they say
# may mix, nothing else.
import threading
import time

def chatter(name, last):
    for i in range(last):
        print(name, i, "x" * 3000)
        time.sleep(0.0005)

threads = [threading.Thread(target=chatter, args=(n, 50), daemon=True) for n in "abcd"]
threads.append(threading.Thread(target=chatter, args=("e", 100_000), daemon=True))
for t in threads:
    t.start()
for t in threads[:-1]:
    t.join()

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
