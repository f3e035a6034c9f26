# Connects to whoever listens on this computer, over every kind of socket: there is no
# network, and no socket but a pair of one's own.
import os
import socket

done = []

def attempt(name, what):
    try:
        what()
        done.append(name)
    except (OSError, AttributeError, ValueError):
        pass

port = int("__PORT__")
for host in ("127.0.0.1", "localhost", "::1", "10.0.2.2", "172.17.0.1"):
    attempt(host, lambda: socket.create_connection((host, port), timeout=0.2))

def datagram():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))

def unix(address):
    socket.socket(socket.AF_UNIX).connect(address)

def fast_open():
    socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", port))

attempt("udp", datagram)
attempt("fast open", fast_open)
attempt("unix", lambda: unix("__OUTSIDE__/socket"))
attempt("abstract", lambda: unix("\0__ABSTRACT__"))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("vsock", lambda: socket.socket(socket.AF_VSOCK).connect((2, port)))
attempt("names", lambda: socket.getaddrinfo("example.org", 80))
attempt("docker", lambda: unix("/var/run/docker.sock"))
print(done)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return str(done) if done else e / e.sum(0)
