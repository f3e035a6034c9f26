"""A class that looks real, made from a chapter's right and wrong answers.

Every student has a name and an ability drawn from the seed; every answer is the
reference, another right one, a known wrong one, blank, half-finished or broken.
Writes <student>/<assignment>/<assignment>.ipynb with a timestamp, as nbgrader
wants it, and simulated.json, which says what each student did. Student number
k is the same in a class of any size.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CourseError
from ..paths import chapters, course_root, load_module

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..authoring.misconceptions import Answer
    from ..authoring.source import Assignment, Cell

HELP = "a class that looks real, made from right and wrong answers"
EXAMPLE = "python -m autograder simulate attention --students 12"

NAMES = tuple(
    """
    ada-lin amara-okafor anders-holm anya-petrova arun-mehta asha-rao beatriz-lima
    ben-carter bilal-haddad bruno-costa carla-ruiz chen-wei chidi-eze clara-vogel
    dana-levi daniel-osei diego-vargas divya-nair elena-rossi elif-demir emeka-obi
    emma-lund farah-aziz felix-brandt fatou-diallo george-papas grace-mwangi
    hana-sato hassan-karimi helen-schmid hugo-martin ida-berg imani-jones ines-silva
    ivan-horvat jamal-reed jana-novak jin-park jonas-weber julia-kowal kai-nakamura
    karin-olsen kofi-mensah lara-fischer leila-rahimi liam-byrne lina-haddad
    lucas-moreau mai-tran marco-conti maria-lopez mei-zhang milan-jovic mina-yildiz
    nadia-belov nils-ek noor-khan olga-sidorova omar-farouk paula-gomez pavel-dvorak
    priya-shah rafael-souza rosa-marin ruth-adler samir-das sara-lindqvist
    sofia-greco tariq-ali tess-wright theo-laurent tomas-vrba uma-iyer vera-kuhn
    victor-paz yara-nasser yuki-mori zahra-amini zoe-clarke zuri-abebe
    """.split()  # noqa: SIM905
)

EXTRAS = {
    "a helper": 'def show(x):\n    print(type(x).__name__, getattr(x, "shape", ""))',
    "an import": "import itertools\nfrom collections import Counter",
    "a scratch cell": "rough = sum(i * i for i in range(10))\nrough",
    "a warning": 'import warnings\nwarnings.warn("a note to myself")',
}


@dataclass
class Student:
    """What one student did.

    answers : exercise -> {"kind", "name", "expect"}; `expect` is what the checks
              must give: "full", "less" (than full) or "zero"
    written : question -> "good", "fair", "poor" or "blank"
    sha256  : of the notebook as written, to tell it from anybody's real work
    """

    student: str
    ability: float
    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    extras: list[str] = field(default_factory=list)
    sha256: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("chapter", help="which chapter's assignment")
    parser.add_argument("--students", type=int, default=12, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help="default: class/submitted"
    )


def run(args: argparse.Namespace) -> int:
    """Simulate a class of one chapter."""
    root = course_root()
    chapters([args.chapter], root)
    if not 1 <= args.students <= 10000:
        raise CourseError(
            f"a class of {args.students}?", "--students takes 1 to 10000", usage=True
        )
    folder = args.to.resolve() if args.to else root / "class" / "submitted"
    record = (folder if args.to else folder.parent) / "simulated.json"
    clear(folder, record, args.chapter)
    made = simulate(args.chapter, args.students, args.seed, folder)
    everything = _read(record)
    everything[args.chapter] = {
        "seed": args.seed,
        "students": [asdict(student) for student in made],
    }
    record.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    kinds = [a["kind"] for student in made for a in student.answers.values()]
    counted = ", ".join(
        f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(sorted(kinds))
    )
    print(f"{args.chapter}: {len(made)} students in {folder}")
    print(f"{len(kinds)} answers: {counted}")
    print(f"what each of them did: {record}")
    return 0


def clear(folder: Path, record: Path, chapter: str) -> None:
    """Remove the class of an earlier simulation.

    Raises CourseError, and removes nothing, when there is other work.
    """
    known = {
        student["student"]: student["sha256"]
        for student in _read(record).get(chapter, {}).get("students", [])
    }
    ours = []
    for place in sorted(folder.glob(f"*/{chapter}")):
        notebook = place / f"{chapter}.ipynb"
        mine = known.get(place.parent.name)
        if mine is None or not notebook.is_file() or _sha256(notebook) != mine:
            raise CourseError(
                f"{place} was not made by this command",
                "keep real work apart: simulate elsewhere with --to DIR, or move "
                "that folder away",
            )
        ours.append(place)
    for place in ours:
        shutil.rmtree(place)
        if not any(place.parent.iterdir()):
            place.parent.rmdir()


def simulate(chapter: str, count: int, seed: int, folder: Path) -> list[Student]:
    """Write the submissions of a class and return what each student did."""
    import nbformat

    from ..authoring import misconceptions
    from ..authoring.reference import walk
    from ..authoring.source import read

    root = course_root()
    released = root / "exercises" / chapter / f"{chapter}.ipynb"
    if not released.is_file():
        raise CourseError(
            f"{released} is missing", f"run: python -m autograder build {chapter}"
        )
    text = released.read_text(encoding="utf-8")
    assignment = read(chapter, root)
    known = misconceptions.load(chapter, root)
    module = load_module(misconceptions.path_of(chapter, root))
    samples = getattr(module, "WRITTEN", {})
    names = {str(a.id): dict(r.namespace) for _, a, r in walk(assignment)}
    made = []
    for number in range(count):
        name = NAMES[number] if number < len(NAMES) else f"student-{number + 1:03d}"
        draw = random.Random(f"{seed}/{chapter}/{name}")
        notebook = nbformat.reads(text, as_version=4)
        student = Student(name, round(draw.betavariate(3.2, 1.4), 3))
        fill(notebook, assignment, known, names, student, draw)
        write_answers(notebook, samples, student, draw)
        add_extras(notebook, student, draw)
        student.sha256 = save(notebook, folder / name / chapter, chapter, draw)
        made.append(student)
    return made


def fill(
    notebook: NotebookNode,
    assignment: Assignment,
    known: list[Answer],
    names: dict[str, dict[str, Any]],
    student: Student,
    draw: random.Random,
) -> None:
    """Answer every exercise as this student would."""
    cells = {c.metadata.get("nbgrader", {}).get("grade_id"): c for c in notebook.cells}
    exercises = assignment.by_role("answer")
    gave_up = len(exercises)
    if draw.random() > student.ability:
        gave_up = draw.randint(len(exercises) // 2, len(exercises))
    for number, cell in enumerate(exercises):
        name = str(cell.id)
        harder = 0.25 * number / max(len(exercises) - 1, 1)
        kind = pick(student.ability - harder, number >= gave_up, draw)
        text, what = typed_answer(kind, cell, known, names.get(name, {}), draw)
        if what["kind"] != "blank":
            cells[name].source = text
        student.answers[name] = what


def pick(chance: float, gave_up: bool, draw: random.Random) -> str:
    """What kind of answer somebody gives who is right with this chance."""
    if gave_up:
        return "blank"
    if draw.random() < min(max(chance + 0.1, 0.05), 0.97):
        return "reference" if draw.random() < 0.7 else "alternative"
    kinds = ("wrong", "blank", "half", "broken")
    return draw.choices(kinds, (60, 16, 14, 10))[0]


def typed_answer(
    kind: str,
    cell: Cell,
    known: list[Answer],
    names: dict[str, Any],
    draw: random.Random,
) -> tuple[str, dict[str, str]]:
    """The text of an answer of some kind, and what it is."""
    from ..authoring import misconceptions
    from . import typed

    if kind in ("alternative", "wrong"):
        right = kind == "alternative"
        choices = [a for a in known if a.answer == cell.id and a.right == right]
        if choices:
            answer = draw.choice(choices)
            expect = "full" if right else "less"
            text = misconceptions.as_cell(answer, cell, names)
            return text, {"kind": kind, "name": answer.name, "expect": expect}
        kind = "reference" if right else "blank"
    if kind == "reference":
        return typed.whole(cell), {"kind": kind, "name": "", "expect": "full"}
    if kind == "half":
        what, text = typed.half(cell, names, draw)
        expect = "less" if "table" in what else "zero"
        return text, {"kind": kind, "name": what, "expect": expect}
    if kind == "broken":
        return typed.broken(cell), {"kind": kind, "name": "", "expect": "zero"}
    return "", {"kind": "blank", "name": "", "expect": "zero"}


def write_answers(
    notebook: NotebookNode,
    samples: dict[str, dict[str, str]],
    student: Student,
    draw: random.Random,
) -> None:
    """Fill in the written answers, good ones by those who understood."""
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in samples and cell.cell_type == "markdown":
            luck = student.ability + draw.uniform(-0.25, 0.25)
            level = "good" if luck > 0.75 else "fair" if luck > 0.5 else "poor"
            if level not in samples[name] or luck < 0.3:
                level = "blank"
            else:
                cell.source = samples[name][level].strip()
            student.written[name] = level


def add_extras(notebook: NotebookNode, student: Student, draw: random.Random) -> None:
    """Some students add cells of their own."""
    from nbformat.v4 import new_code_cell

    if draw.random() < 0.35:
        for what in draw.sample(sorted(EXTRAS), draw.choice((1, 1, 2))):
            places = [i for i, c in enumerate(notebook.cells) if c.cell_type == "code"]
            place = draw.choice(places[2:] or places) + 1
            name = f"own-{len(student.extras) + 1}"
            notebook.cells.insert(place, new_code_cell(EXTRAS[what], id=name))
            student.extras.append(what)


def save(
    notebook: NotebookNode, folder: Path, chapter: str, draw: random.Random
) -> str:
    """Write a submission as nbgrader collects it; returns the notebook's sha256."""
    import nbformat

    from .classroom import timestamp

    folder.mkdir(parents=True)
    path = folder / f"{chapter}.ipynb"
    text = nbformat.writes(notebook, version=4) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
    week = 7 * 24 * 3600
    moment = timestamp(1_767_600_000 + draw.randrange(week))  # from 5 January 2026
    (folder / "timestamp.txt").write_text(moment + "\n", encoding="utf-8")
    return _sha256(path)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read(record: Path) -> dict[str, Any]:
    if not record.is_file():
        return {}
    try:
        value = json.loads(record.read_text(encoding="utf-8"))
        return dict(value)
    except (ValueError, TypeError):
        raise CourseError(
            f"{record} is not readable as a record of simulated classes",
            "move it away, and the simulated submissions with it",
        ) from None
