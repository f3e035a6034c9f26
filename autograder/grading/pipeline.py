"""Run one of nbgrader's converters quietly, and keep what it said."""

from __future__ import annotations

import glob
import logging
import shutil
import warnings
from dataclasses import dataclass
from typing import Any

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from ..errors import CourseError
from . import gradebook
from .classroom import Classroom


@dataclass(frozen=True)
class Outcome:
    """How a converter ended: its messages, and the last line of its traceback."""

    good: bool
    messages: tuple[str, ...]
    error: str

    @property
    def log(self) -> str:
        """Everything it said, for a person who has to look."""
        return "\n".join(self.messages)


class _Messages(logging.Handler):
    """A log handler that keeps warnings and errors."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def run(
    converter: type, room: Classroom, assignment: str, student: str, **folders: str
) -> Outcome:
    """Run a converter for one student ("." for the assignment itself).

    folders: traits of CourseDirectory to set for this run.
    """
    course = CourseDirectory(config=room.config)
    course.assignment_id = assignment
    course.student_id = glob.escape(student)
    for name, value in folders.items():
        setattr(course, name, value)
    app: Any = converter(coursedir=course, config=room.config)
    app.force = True
    messages = _Messages()
    app.log.addHandler(messages)
    good = True
    error = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            app.start()
    except (Exception, SystemExit) as stopped:
        good = False
        error = f"{type(stopped).__name__}: {stopped}"
        for text in messages.texts:
            if text.startswith("Traceback"):
                error = text.strip().splitlines()[-1]
    finally:
        app.log.removeHandler(messages)
    return Outcome(good, tuple(messages.texts), error)


def enter_assignment(room: Classroom, assignment: str) -> None:
    """Put the assignment's cells and points into nbgrader's gradebook.

    The release folder stays as it is. Raises CourseError when nbgrader refuses.
    """
    room.source(assignment)
    gradebook.make(room)
    scratch = room.root / "class" / ".scratch"  # of a stopped run, it is written over
    outcome = run(
        GenerateAssignment, room, assignment, ".", release_directory=str(scratch)
    )
    shutil.rmtree(scratch, ignore_errors=True)
    if outcome.good:
        return
    if "Cannot add or remove cells" in outcome.log:
        raise CourseError(
            f"the gradebook knows {assignment!r} with other cells than it has now, "
            "and submissions that were graded with them",
            "keep the old gradebook (it has the grades given by hand) under another "
            "name: mv class/gradebook.db class/gradebook-old.db, then grade again",
        )
    if "database is locked" in outcome.log:
        raise gradebook.unusable("the database is locked")
    raise CourseError(
        f"nbgrader could not take {assignment!r} into its gradebook: {outcome.error}",
        f"see what it says: nbgrader generate_assignment {assignment} --force",
    )
