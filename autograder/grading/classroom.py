"""The class's folders: what was handed in, and where everything derived goes."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from traitlets.config import Config

from ..errors import CourseError
from ..paths import chapters, course_root


@dataclass(frozen=True)
class Item:
    """A graded cell: a check, or a written answer that a person grades."""

    id: str
    points: float
    written: bool

    @property
    def answer(self) -> str:
        """The answer that a check judges."""
        return self.id.removesuffix("-check")


@dataclass(frozen=True)
class Classroom:
    """The course's root, nbgrader's configuration, and the folders under class/."""

    root: Path
    config: Config

    @classmethod
    def here(cls) -> Classroom:
        """The classroom of the course that we are in."""
        from .preprocessors import course_config

        return cls(course_root(), course_config())

    @property
    def submitted(self) -> Path:
        """What students handed in: <student>/<assignment>/<assignment>.ipynb."""
        return self.root / "class" / "submitted"

    @property
    def autograded(self) -> Path:
        """The graded notebooks, for the formgrader."""
        return self.root / "class" / "autograded"

    @property
    def feedback(self) -> Path:
        """The pages for students."""
        return self.root / "class" / "feedback"

    @property
    def results(self) -> Path:
        """One result file a submission."""
        return self.root / "class" / "results"

    @property
    def grades(self) -> Path:
        """The table of the whole class."""
        return self.root / "class" / "grades.csv"

    @property
    def db_url(self) -> str:
        """nbgrader's gradebook."""
        return str(self.config.CourseDirectory.db_url)

    def source(self, assignment: str) -> Path:
        """The source notebook of an assignment.

        Raises CourseError when the chapter or its built notebook is not there.
        """
        chapters([assignment], self.root)
        path = self.root / "solutions" / assignment / f"{assignment}.ipynb"
        if not path.is_file():
            raise CourseError(
                f"{path} is missing", f"run: python -m autograder build {assignment}"
            )
        return path

    def items(self, assignment: str) -> list[Item]:
        """The graded cells of an assignment, in order."""
        items = []
        for cell in nbformat.read(self.source(assignment), as_version=4).cells:
            info = cell.metadata.get("nbgrader", {})
            if info.get("grade"):
                written = bool(info["solution"])
                items.append(Item(info["grade_id"], float(info["points"]), written))
        return items

    def digest(self, assignment: str) -> str:
        """Fingerprint of everything that decides a score: a change means a regrade."""
        source = self.source(assignment)
        digest = hashlib.sha256()
        for suffix in (".ipynb", ".expected.json", ".hidden.json"):
            path = source.with_suffix(suffix)
            digest.update(path.read_bytes() if path.is_file() else b"")
        limits = source.with_name("limits.json")
        digest.update(limits.read_bytes() if limits.is_file() else b"")
        return digest.hexdigest()

    def notebook(self, student: str, assignment: str) -> Path:
        """Where a student's notebook lies."""
        return self.submitted / student / assignment / f"{assignment}.ipynb"

    def page(self, student: str, assignment: str) -> Path:
        """Where a student's feedback page lies."""
        return self.feedback / student / assignment / f"{assignment}.html"

    def students(self, assignment: str) -> list[str]:
        """Who handed in something for an assignment."""
        folders = self.submitted.glob(f"*/{assignment}")
        names = sorted(f.parent.name for f in folders if f.is_dir())
        return [name for name in names if not name.startswith(".")]


def collect(room: Classroom, folder: Path, assignment: str) -> list[str]:
    """Bring notebooks from elsewhere into class/submitted; returns the students.

    folder: one folder a student, named by the student, that holds the notebook
        itself, or <assignment>/ (as nbgrader has it), or exercises/<assignment>/
        (a clone of the course). What is there now replaces what was.

    Raises CourseError when there is no such folder or nothing in it.
    """
    if not folder.is_dir():
        raise CourseError(f"there is no folder {folder}", usage=True)
    if folder.resolve() == room.submitted.resolve():
        return room.students(assignment)
    students = sorted(
        d.name for d in folder.iterdir() if d.is_dir() and not d.name.startswith(".")
    )
    if not students:
        raise CourseError(
            f"{folder} holds no folders", "it needs one folder a student", usage=True
        )
    for loose in sorted(folder.glob("*.ipynb")):
        print(f"{loose.name}: not graded; it belongs in a folder of its student's")
    for student in students:
        found = notebooks(folder / student, assignment)
        target = room.notebook(student, assignment).parent
        if not found:
            before = "; what was there before counts" if any(target.glob("*")) else ""
            print(f"{student}: no notebook in {folder / student}{before}")
        target.mkdir(parents=True, exist_ok=True)
        for old in target.glob("*.ipynb") if found else []:
            old.unlink()
        for path in found:
            shutil.copy2(path, target / path.name, follow_symlinks=False)
        stamp = target / "timestamp.txt"
        if found and (handed_in := found[0].with_name("timestamp.txt")).is_file():
            shutil.copy2(handed_in, stamp)
        elif found:
            newest = max(path.lstat().st_mtime for path in found)
            stamp.write_text(timestamp(newest))
    return students


def overlooked(folder: Path, assignment: str) -> list[str]:
    """What lies in a folder of students' folders and is no submission: a sentence each.

    A folder that holds other assignments only is nothing to speak of.
    """
    said = []
    for loose in sorted(folder.glob("*.ipynb")):
        place = folder / "STUDENT" / assignment
        said.append(f"{loose.name}: not graded; it belongs in {place}")
    for student in sorted(d for d in folder.iterdir() if d.is_dir()):
        if student.name.startswith(".") or (student / assignment).is_dir():
            continue
        if found := notebooks(student, assignment):
            names = ", ".join(path.name for path in found)
            place = student / assignment
            said.append(f"{student.name}: {names}: not graded; it belongs in {place}")
        elif not any(student.iterdir()):
            said.append(f"{student.name}: not graded; the folder is empty")
    return said


def notebooks(folder: Path, assignment: str) -> list[Path]:
    """What a student handed in, in one of the places where it may lie.

    A browser or an LMS may have given it another name; several are all taken along,
    and the one with the right name counts.
    """
    name = f"{assignment}.ipynb"
    for place in (folder / assignment, folder, folder / "exercises" / assignment):
        found = [
            path
            for path in sorted(place.glob("*.ipynb"))
            if (path.is_file() or path.is_symlink()) and not path.name.startswith(".")
        ]
        if found:
            return sorted(found, key=lambda path: path.name != name)[:20]
    return []


def timestamp(seconds: float) -> str:
    """A moment in the form that nbgrader's timestamp.txt has."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
