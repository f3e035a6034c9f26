"""nbgrader's configuration of this course: `nbgrader <command> attention` works
from this folder as it is. Class data lives under class/, which git ignores."""

import os
import sys
from pathlib import Path

root = Path(__file__).resolve().parent
# nbgrader calls `alembic` and the kernels call `python`: the ones beside us
tools = str(Path(sys.executable).parent)
if os.environ.get("PATH", "").split(os.pathsep)[0] != tools:
    os.environ["PATH"] = os.pathsep.join([tools, os.environ.get("PATH", "")])
if str(root) not in sys.path:
    sys.path.insert(0, str(root))

from autograder.grading.preprocessors import (  # noqa: E402
    authors_files,
    autograde_preprocessors,
    feedback_preprocessors,
    release_preprocessors,
    sanitize_preprocessors,
)
from autograder.paths import CHAPTERS  # noqa: E402

c = get_config()

# where things are
(root / "class").mkdir(exist_ok=True)
c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "by-hand-at-scale"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.source_with_tests_directory = "class/source_with_tests"
c.CourseDirectory.submitted_directory = "class/submitted"
c.CourseDirectory.autograded_directory = "class/autograded"
c.CourseDirectory.feedback_directory = "class/feedback"
c.CourseDirectory.solution_directory = "class/solution"
c.CourseDirectory.db_url = f"sqlite:///{root / 'class' / 'gradebook.db'}"

# only notebooks, visible expected values and worksheets leave solutions/: what else
# lies there is the authors' (sources, wrong answers, hidden values, recorded results)
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "__pycache__",
    "*.pyc",
    "feedback",
    "*.hidden.json",
    *sorted(authors_files(root)),
]

# release, grade, tell: nbgrader's own steps with ours in between
c.GenerateAssignment.preprocessors = release_preprocessors()
c.Autograde.sanitize_preprocessors = sanitize_preprocessors()
c.Autograde.autograde_preprocessors = autograde_preprocessors()
c.GenerateFeedback.preprocessors = feedback_preprocessors()
c.GenerateFeedback.exporter_class = "autograder.grading.notebook_page.FeedbackPage"
# the formgrader shows students' texts in the instructor's own server: as text
c.HTMLExporter.filters = {"markdown2html": "autograder.grading.formgrader.harmless"}
c.Execute.timeout = 60  # seconds a cell; the first one imports torch
# kernels that can encrypt what they say over TCP do (others say that they can't)
c.KernelManager.transport_encryption = "auto"

# `nbgrader zip_collect attention --force` reads class/downloaded/attention/archive:
# the LMS's zip, a zip a student, or loose files. What is before the notebook's name
# is the student, without what Canvas (_LATE_123_456) and Moodle
# (_123_assignsubmission_file_) put in between; a folder named by the student does too.
c.ZipCollectApp.downloaded_directory = "class/downloaded"
names = "|".join(CHAPTERS)
c.FileNameCollectorPlugin.named_regexp = (
    r".*[/\\]extracted[/\\](?:.*[/\\])?"
    rf"(?!\.|(?:exercises|{names})[/\\])(?P<student_id>[^/\\]+?)"
    r"(?:_LATE)?(?:_\d+)*(?:_assignsubmission_file_?)?"
    rf"[_/\\](?:exercises[/\\])?(?:(?:{names})[/\\])?"
    rf"(?P<file_id>{names})(?:[ _-]?\(?\d+\)?)?\.ipynb$"
)
