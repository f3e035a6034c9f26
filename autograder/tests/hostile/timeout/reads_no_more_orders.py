# Says that the cell is through, and then reads no order any more.
import time

get_ipython().by_hand.channel.send({"t": "done", "ok": True})
time.sleep(1000)
