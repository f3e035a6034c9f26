# Prints without end.
# says: far too much
while True:
    print("and so on " * 100)
