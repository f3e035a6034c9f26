"""The one error that people see: what is wrong, and what to do about it."""

from __future__ import annotations


class CourseError(Exception):
    """A problem the user can mend.

    message : what is wrong, in one sentence
    mend    : what to do about it (a command, or the line to change)
    usage   : True when the arguments were unusable (exit code 2 instead of 1)
    """

    def __init__(
        self, message: str, mend: str | None = None, *, usage: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.usage = usage

    def __str__(self) -> str:
        return self.message if self.mend is None else f"{self.message}\n  {self.mend}"
