"""What goes wrong in the LSTM exercises, and what to say to the student."""

from autograder.authoring import right, wrong
