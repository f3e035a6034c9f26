# Writes files named like the course's own (an expected.json, a module autograder, a
# sitecustomize) beside the notebook: nobody reads them.
from pathlib import Path

Path("attention.expected.json").write_text('{"checks": {}}')
Path("attention.hidden.json").write_text('{"checks": {}}')
Path("autograder").mkdir()
for name in ("autograder/__init__.py", "sitecustomize.py", "numpy.py", "json.py"):
    Path(name).write_text("raise SystemExit('mine')")

def softmax(scores):
    return scores
