# Sends open files and odd control messages along the socket to the warm process: they
# are not taken, and do not fill its table of files.
import array
import os
import socket

for number in range(3, 20):
    try:
        channel = socket.socket(fileno=os.dup(number))
        handles = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 200)
        head = b'{"t": "output", "output": 5}'
        data = len(head).to_bytes(4, "big") + bytes(4) + head
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)]
        for _ in range(20):
            channel.sendmsg([data], rights)
    except OSError:
        pass

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
