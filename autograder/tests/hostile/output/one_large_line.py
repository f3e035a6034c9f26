# Prints one line of a hundred megabytes.
# says: far too much
print("x" * 10**8)
