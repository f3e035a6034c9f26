# Shows errors without end, each with a long trace.
# says: far too much
while True:
    get_ipython().by_hand.keep_error(ValueError, ValueError("x"), ["line " * 1000] * 60)
