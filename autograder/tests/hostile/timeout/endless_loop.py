# Loops without end in the cell.
# says: loop without end
while True:
    pass
