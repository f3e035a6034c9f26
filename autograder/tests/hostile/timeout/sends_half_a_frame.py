# Sends the first half of a frame, and never the second.
import time

def softmax(scores):
    channel = get_ipython().by_hand.channel
    channel.socket.sendall((1000).to_bytes(4, "big") + bytes(4) + b'{"t": "case"')
    time.sleep(1000)
