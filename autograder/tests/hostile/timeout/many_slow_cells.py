# Ten added cells that take a while each: together they use up what the whole notebook
# has, and what comes after them does not run any more.
# cell: added 10 times
# limits: submission=3 seconds=1
# other: timeout, since the time of the whole notebook is used up
# says: whole notebook
import time

time.sleep(0.9)
