# Sends large values for the same case again and again, each of them allowed: together
# they are not.
# says: far too much
shell = get_ipython().by_hand

def softmax(scores):
    while True:
        head = {"t": "case", "label": "x", "status": "value", "value": 1}
        shell.channel.send(head, [bytes(7 * 2**20)])
