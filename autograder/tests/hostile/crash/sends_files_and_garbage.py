# Sends open files and a frame of the wrong form along the socket to the warm process,
# which takes no files, and stops whoever sends what no notebook sends.
# says: not its own
import array
import os
import socket

handles = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 100)
head = b'{"t": "output", "output": 5}'
data = len(head).to_bytes(4, "big") + bytes(4) + head
for number in range(3, 20):
    try:
        channel = socket.socket(fileno=os.dup(number))
        for _ in range(20):
            channel.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
    except OSError:
        pass
