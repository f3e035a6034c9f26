# Starts a program that prints without end.
# says: far too much
!yes
