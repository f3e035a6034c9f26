# Three hundred added cells, each of which defines a name and prints a line: nothing of
# the time of a submission is spent on their number.
# cell: added 300 times
one = 1
print(one)
