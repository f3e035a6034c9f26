"""Write the students' repository: the exercises, the checker, and nothing to spoil.

Copies exercises/, the package (without its tests, which hold answers),
requirements.txt, pyproject.toml, .gitignore and the licences, and writes a README
for students. Solutions and the book stay here. What was written is scanned for
leaks. A folder that an earlier run wrote is brought up to date, its git history
kept; any other folder must be empty.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from ..errors import CourseError
from ..paths import chapters, course_root
from .build import repository_url
from .confidential import confidential, squeeze
from .leaks import scan

HELP = "write a clean repository for students, without solutions"
EXAMPLE = "python -m autograder release ../students"

#: what a run has written, one path a line; also the sign that a folder is ours
MANIFEST = ".release"
FILES = (".gitignore", "LICENSE", "LICENSE-PROSE.md", "pyproject.toml")
UNWANTED = shutil.ignore_patterns(
    "tests", "__pycache__", "*.pyc", ".*", "*.egg-info", "sanitize.cfg"
)

README = """\
# By Hand, at Scale: exercises

Each chapter is a notebook to fill in. Every answer is judged the moment you run the
check below it, with a reason.

{chapters}

## Begin

You need Python 3.11, 3.12 or 3.13.

```
git clone {url}
cd {name}
python3 -m venv .venv          (Windows: py -3 -m venv .venv)
source .venv/bin/activate      (Windows: .venv\\Scripts\\activate)
python -m pip install -r requirements.txt
python -m pip install -e . --no-deps
jupyter lab
```

Then open a notebook and run its cells from the top. Hand in the notebook under the
name that it has; your instructor says where. Beside it lies the file with the values
that your answers are compared with: keep the two together.

Code: MIT licence (`LICENSE`). Texts: CC BY 4.0 (`LICENSE-PROSE.md`).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The folder to write."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write it")


def run(args: argparse.Namespace) -> int:
    """Write the repository; 1 if it would leak anything (then nothing is written)."""
    root = course_root()
    folder: Path = args.folder
    old = written_before(folder)
    if root.is_relative_to(folder.resolve()) or folder.resolve().is_relative_to(root):
        raise CourseError(
            f"{folder} is in this course's own folder",
            "choose one beside it: python -m autograder release ../students",
            usage=True,
        )
    with tempfile.TemporaryDirectory() as scratch:
        draft = Path(scratch) / "students"
        write(draft, root)
        if found := leaking(draft, root):
            print("\n".join(found))
            print(f"{len(found)} leaks: nothing was written")
            return 1
        new = manifest(draft)
        for name in old - new:
            (folder / name).unlink(missing_ok=True)
        shutil.copytree(draft, folder, dirs_exist_ok=True)
    (folder / MANIFEST).write_text("\n".join(sorted(new)) + "\n", encoding="utf-8")
    print(f"{len(new)} files, no leaks: {folder.resolve()}")
    return 0


def written_before(folder: Path) -> set[str]:
    """The files that an earlier run wrote there.

    Raises CourseError when there is something and no run of ours wrote it.
    """
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is no folder", usage=True)
    if not folder.is_dir() or {p.name for p in folder.iterdir()} <= {".git"}:
        return set()
    if not (folder / MANIFEST).is_file():
        raise CourseError(
            f"{folder} is not empty, and was not written by this command",
            "name a new or an empty folder",
            usage=True,
        )
    names = (folder / MANIFEST).read_text(encoding="utf-8").splitlines()
    base = folder.resolve()
    return {name for name in names if (base / name).resolve().is_relative_to(base)}


def manifest(folder: Path) -> set[str]:
    """The files of a folder."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }


def write(folder: Path, root: Path) -> None:
    """Write the students' files into a new folder."""
    package = Path(__file__).parents[1]
    shutil.copytree(package, folder / "autograder", ignore=UNWANTED)
    for chapter in chapters(root=root):
        place = folder / "exercises" / chapter
        place.mkdir(parents=True)
        for name in (f"{chapter}.ipynb", f"{chapter}.expected.json"):
            source = root / "exercises" / chapter / name
            if not source.is_file():
                raise CourseError(
                    f"{source} is missing", f"run: python -m autograder build {chapter}"
                )
            shutil.copy(source, place)
    for name in FILES:
        if (root / name).is_file():
            shutil.copy(root / name, folder)
    requirements = root / "requirements.txt"
    if requirements.is_file():
        shutil.copy(requirements, folder)
    url = repository_url(root)
    names = [f"- `exercises/{name}/{name}.ipynb`" for name in chapters(root=root)]
    text = README.format(
        chapters="\n".join(names), url=url, name=url.rstrip("/").rsplit("/", 1)[-1]
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def leaking(folder: Path, root: Path) -> list[str]:
    """What the folder tells and must not: exercises, and every other file.

    The engine speaks of markers and paths, so outside exercises/ only the answers
    themselves, hidden tests and mark schemes are looked for.
    """
    leaks = [str(leak) for leak in scan(folder / "exercises", root)]
    secrets = [confidential(chapter, root) for chapter in chapters(root=root)]
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and inside.parts[0] != "exercises":
            for known in secrets:
                text = squeeze(path.read_text(encoding="utf-8"))
                leaks += [
                    f"{inside}: {whose}: {secret[:60]!r}"
                    for secret, whose in known.texts.items()
                    if secret in text
                ]
    return leaks
