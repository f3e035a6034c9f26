# Becomes another program in place of itself.
import os

os.execv("/bin/true", ["true"])
