# Six hundred added cells: five hundred are enough for anybody.
# cell: added 600 times
# says: more than 500
one = 1
