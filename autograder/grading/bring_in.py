"""Bring graded submissions to where people look: gradebook, notebooks, pages, results.

One writer, in this order: the gradebook in one transaction, then the notebooks and the
pages, and last the result files. Whoever is stopped in between has no result yet, and
is graded again; entering the same thing twice changes nothing.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.plugins import BasePlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from sqlalchemy.orm import object_session

from ..engine.graded import Graded
from . import results
from .classroom import Classroom
from .feedback import direct_page, plain_page
from .gradebook import Known, known_of, opened
from .results import Result


def bring_in(room: Classroom, assignment: str, gradeds: list[Graded]) -> None:
    """Write everything that follows from some graded submissions.

    Raises CourseError when the gradebook can't be written; no result is then.
    """
    known = enter(room, assignment, gradeds)
    for graded in gradeds:
        result = graded.result
        write_notebook(room, graded)
        if graded.notebook is None:
            page = plain_page(result)
        else:
            page = page_or_less(graded.notebook, result, known[result.student])
        results.write_text(room.page(result.student, assignment), page)
        results.write(result, room.results)


def enter(room: Classroom, assignment: str, gradeds: list[Graded]) -> dict[str, Known]:
    """Enter submissions into nbgrader's gradebook, all of them or none.

    What a person gave (points, extra credit, comments) stays. Returns what the
    gradebook knows of each afterwards.
    """
    with opened(room.db_url) as gradebook:
        late = AssignLatePenalties(config=room.config)
        late.init_plugin()
        cells = gradebook.find_notebook(assignment, assignment)
        names = {cell.id: cell.name for cell in cells._base_cells}
        kinds = {cell.name: cell.cell_type for cell in cells.source_cells}
        found = {}
        for graded in gradeds:
            row = _submission(gradebook, room, assignment, graded.result)
            _enter(row, names, kinds, graded)
            _penalty(row, late.plugin_inst, graded.result.student)
            found[graded.result.student] = known_of(row, names)
        gradebook.db.commit()
    return found


def _submission(
    gradebook: Gradebook, room: Classroom, assignment: str, result: Result
) -> SubmittedNotebook:
    """The gradebook's row of a submission, made when it is new."""
    db = gradebook.db
    student = db.get(Student, result.student)
    if student is None:
        student = Student(id=result.student)
        db.add(student)
    work = gradebook.find_assignment(assignment)
    row = (
        db.query(SubmittedAssignment)
        .filter_by(student_id=result.student, assignment_id=work.id)
        .first()
    )
    if row is None:
        row = SubmittedAssignment(assignment=work, student=student)
        for notebook in work.notebooks:
            mine = SubmittedNotebook(notebook=notebook, assignment=row)
            for cell in (*notebook.grade_cells, *notebook.task_cells):
                Grade(cell_id=cell.id, notebook=mine)
            for cell in (*notebook.solution_cells, *notebook.task_cells):
                Comment(cell_id=cell.id, notebook=mine)
        db.add(row)
        db.flush()
    row.timestamp = handed_in(room, assignment, result.student)
    return row.notebooks[0]


def handed_in(room: Classroom, assignment: str, student: str) -> datetime | None:
    """When a submission was handed in, as its timestamp.txt says."""
    stamp = room.notebook(student, assignment).with_name("timestamp.txt")
    try:
        if stamp.is_symlink() or stamp.stat().st_size > 200:
            return None
        when: datetime = parse_utc(stamp.read_text(encoding="utf-8").strip())
        return when
    except (OSError, ValueError, OverflowError):
        return None


def _enter(
    row: SubmittedNotebook,
    names: dict[str, str],
    kinds: dict[str, str],
    graded: Graded,
) -> None:
    """Scores and automatic comments, by the rules of nbgrader's own autograde."""
    scores = {check.id: check.score for check in graded.result.checks}
    blank = untouched(graded)
    for grade in row.grades:
        name = names[grade.cell_id]
        if name in scores:
            score: float | None = scores[name]
        else:  # a written answer: nobody has to read what was never written
            score = 0.0 if graded.notebook is None or name in blank else None
        grade.auto_score = score
        grade.needs_manual_grade = score is None or grade.manual_score is not None
    for comment in row.comments:
        name = names[comment.cell_id]
        comment.auto_comment = "No response." if name in blank else None


def untouched(graded: Graded) -> set[str]:
    """The answers, written ones too, that are as they were given out."""
    if graded.notebook is None:
        return set()
    from nbformat import from_dict
    from nbgrader.utils import compute_checksum

    found = set()
    for cell in graded.notebook["cells"]:
        info = cell["metadata"].get("nbgrader", {})
        if info.get("solution") and info.get("checksum"):
            lean = {**cell, "outputs": []} if cell["cell_type"] == "code" else cell
            if compute_checksum(from_dict(lean)) == info["checksum"]:
                found.add(str(info["grade_id"]))
    return found


def _penalty(row: SubmittedNotebook, plugin: BasePlugin, student: str) -> None:
    """What handing in late costs, as the course's plugin says (nothing by default)."""
    row.late_submission_penalty = None
    session: Any = object_session(row)
    session.flush()
    late = row.assignment.total_seconds_late
    if late > 0:
        session.refresh(row)  # its score is a query
        penalty = plugin.late_submission_penalty(student, row.score, late)
        if penalty is not None:
            row.late_submission_penalty = min(max(penalty, 0), row.score)


def page_or_less(notebook: dict[str, Any], result: Result, known: Known) -> str:
    """The feedback page; the summary alone where a notebook can't be drawn."""
    try:
        return direct_page(notebook, result, known)
    except Exception as error:  # one student's text must not stop the class
        said = f"your notebook could not be shown here ({type(error).__name__})"
        return plain_page(replace(result, warnings=[*result.warnings, said]))


def write_notebook(room: Classroom, graded: Graded) -> None:
    """The graded notebook, where the formgrader looks for it; none if refused."""
    student, assignment = graded.result.student, graded.result.assignment
    folder = room.autograded / student / assignment
    if graded.notebook is None:
        shutil.rmtree(folder, ignore_errors=True)
        return
    text = results.in_lines(graded.notebook)
    results.write_text(folder / f"{assignment}.ipynb", text)
    stamp = room.notebook(student, assignment).with_name("timestamp.txt")
    if stamp.is_file() and not stamp.is_symlink():
        shutil.copyfile(stamp, folder / "timestamp.txt")


def pages_again(room: Classroom, assignment: str, students: list[str]) -> None:
    """Write the feedback pages of graded submissions anew, with marks given since."""
    with opened(room.db_url) as gradebook:
        cells = gradebook.find_notebook(assignment, assignment)
        names = {cell.id: cell.name for cell in cells._base_cells}
        known = {
            row.student.id: known_of(row, names)
            for row in gradebook.notebook_submissions(assignment, assignment)
        }
    for student in students:
        path = results.result_path(room.results, student, assignment)
        result = results.read(path)
        notebook = _notebook(room.autograded / student / assignment, assignment)
        if notebook is None or student not in known:
            page = plain_page(result)
        else:
            page = page_or_less(notebook, result, known[student])
        results.write_text(room.page(student, assignment), page)


def _notebook(folder: Path, assignment: str) -> dict[str, Any] | None:
    try:
        text = (folder / f"{assignment}.ipynb").read_text(encoding="utf-8")
        return dict(json.loads(text))
    except (OSError, ValueError):
        return None
