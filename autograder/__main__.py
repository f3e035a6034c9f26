"""`python -m autograder COMMAND`."""

import sys

from .cli import main
from .paths import start_quickly

if __name__ == "__main__":
    start_quickly()
    sys.exit(main())
