"""The feedback page: a summary, formulas, no hidden case, nothing fetched."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from autograder.engine.shown import rich
from autograder.grading.feedback import plain_page
from autograder.grading.gradebook import Mark
from autograder.grading.notebook_page import (
    Seen,
    headings,
    markdown,
    output,
    page,
    seen,
)
from autograder.grading.page import Row, tame, told, totals
from autograder.grading.results import CaseResult, CheckResult, Result
from autograder.tests.test_preprocessors import info, shown, verdict


def of(name: str) -> str:
    path = Path("class/feedback", name, "attention", "attention.html")
    return path.read_text("utf-8")


def check(*cases: CaseResult, status: str = "wrong", **more) -> CheckResult:
    return CheckResult("a-check", "a", 0.0, 2.0, status, cases=list(cases), **more)


# ------------------------------------------------------------ pages of a whole class


def test_exercises_are_listed_by_name_with_verdict_and_points(graded):
    text = of("wrong")
    row = re.search(r'<tr><th scope="row" class="name">.*?1\. Softmax.*?</tr>', text)
    assert row is not None
    for there in ('href="#softmax-check"', "not right", "/ 3", "Your rows sum to 1"):
        assert there in row[0]
    assert '<div class="judged" id="softmax-check">' in text
    for absent in ("Test cell", ">Comment</a>", "No response."):
        assert absent not in text
        assert absent not in of("blank")


def test_an_answer_that_nobody_marked_does_not_count(graded):
    text = of("good")
    assert "not marked yet (2 points)" in text
    assert "<strong>5</strong> of 5 points in the checks" in text
    assert "1 written answer is not marked yet: 2 points are still to be" in text
    assert "0 / 2" not in text
    assert "0 / 2" in of("blank")  # the stub needs no person


def test_pages_are_self_contained_and_in_a_language(graded):
    for path in Path("class/feedback").glob("*/attention/attention.html"):
        text = path.read_text("utf-8")
        assert '<html lang="en">' in text
        assert "default-src 'none'" in text
        assert "prefers-color-scheme: dark" in text
        assert not re.search(r"<script|<link|MathJax|@import|¶", text), path
        assert not re.search(r"""(?:src=["']?|url\()(?!["']?data:)""", text), path


def test_the_stock_command_writes_the_same_page(graded):
    import subprocess

    before = of("wrong")
    done = subprocess.run(
        ["nbgrader", "generate_feedback", "attention", "--student=wrong", "--force"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert of("wrong") == before


# -------------------------------------------------------------------- its sentences


def test_what_was_seen_gives_no_hidden_case_away():
    good = CaseResult("open", False, True, "right")
    secret = CaseResult("a secret", True, False, "wrong", "values 77 differ")
    assert told(check(good, secret)) == (
        "hidden case 1: your value is not the expected one"
    )
    broken = CaseResult("a secret", True, False, "error", "ValueError: 77")
    assert told(check(secret, broken)) == (
        "hidden case 1: your value is not the expected one"
    )
    shown_one = CaseResult("two keys", False, False, "wrong", "shape (2, 1)")
    assert told(check(secret, shown_one)) == "two keys: shape (2, 1)"
    assert told(check(status="timeout", reason="too long")) == "too long"
    blank = CaseResult("x", False, False, "blank", "not done yet")
    assert told(check(blank, status="blank")) is None


def test_totals_tell_checks_from_written_answers():
    a = Row("a", "a", "partial", 2 / 3, 2)
    w = Row("w", "w", "open", 0, 3, written=True)
    m = Row("m", "m", "marked", 1.5, 3, written=True)
    assert totals([a]) == ["<strong>0.67</strong> of 2 points"]
    assert totals([a, w])[0] == "<strong>0.67</strong> of 2 points in the checks"
    assert totals([a, w, m]) == [
        "<strong>2.17</strong> of 5 points in what is marked",
        "Checks: 0.67 of 2. Written answers: 1.5 of 3.",
        "1 written answer is not marked yet: 3 points are still to be given.",
    ]
    assert "0.5 points are taken off" in totals([a], penalty=0.5)[1]


def test_a_page_without_a_notebook_has_the_same_summary():
    secret = CaseResult("a secret", True, False, "wrong", "values 77 differ")
    text = plain_page(
        Result(
            "ada",
            "attention",
            0.0,
            2.0,
            [check(secret, reason="values 77 differ", hint="Think <again>.")],
            ["odd & rare"],
            "none",
            "x",
            "",
        )
    )
    assert "secret" not in text and "77" not in text
    assert "<b>Hint:</b> Think &lt;again&gt;." in text
    assert "odd &amp; rare" in text and "0 / 2" in text


def test_a_page_of_work_that_could_not_be_read_says_what_to_do():
    refused = check(status="refused", reason="x.ipynb is empty")
    other = replace(refused, id="b-check", answer="b")
    text = plain_page(
        Result("ada", "attention", 0.0, 4.0, [refused, other], [], "none", "x", "")
    )
    assert "<p>Nothing could be graded: x.ipynb is empty.</p>" in text
    assert "hand in that one file again" in text
    assert "<table" not in text


# ------------------------------------------------------------------ cells and pieces


def notebook(*cells):
    return new_notebook(cells=list(cells))


FACTS = {"student": "ada", "assignment": "attention", "seen": {}, "late_penalty": 0}


def test_formulas_are_mathml():
    html = markdown(r"With $\sqrt{d_k}$:" "\n\n" r"$$\frac{1}{2}$$" "\n\nand $\\nope$.")
    assert "<msqrt>" in html and "<mfrac>" in html
    assert "<code>\\nope</code>" in html and "$" not in html


def test_a_comment_of_a_person_is_shown_and_html_is_text():
    cell = new_markdown_cell(
        "An answer <script>alert(1)</script> ![x](https://example.org/x.png)",
        metadata=info("why", grade=True, solution=True, points=3),
    )
    cell.metadata.nbgrader.update(comment="Well **said**.", score=2.0)
    facts = {**FACTS, "seen": {"why": Seen("marked")}}
    text = page(notebook(new_markdown_cell("# T\n## 3. Why $x$?"), cell), facts)
    assert "<strong>said</strong>" in text and ">2 / 3</span>" in text
    assert "<script" not in text and "<img" not in text
    assert "3. Why <math" in text
    assert text.count("<h1>") == 1
    cell.metadata.nbgrader["comment"] = "No response."
    assert "Comment:" not in page(notebook(cell), facts)


@pytest.mark.parametrize(
    ("html", "safe"),
    [
        ("<b>x</b><script>y</script>", "<b>x</b>&lt;script>y&lt;/script>"),
        ("<META http-equiv=refresh>", "&lt;META http-equiv=refresh>"),
        ("<ifr\name>", "<ifr\name>"),
        ("< iframe src=x>", "&lt; iframe src=x>"),
    ],
)
def test_output_that_acts_is_text(html, safe):
    assert tame(html) == safe


def test_every_kind_of_output_is_shown():
    png = new_output("display_data", {"image/png": "QUJD\n"})
    assert 'src="data:image/png;base64,QUJD"' in output(png)
    svg = new_output("display_data", {"image/svg+xml": "<svg onload='x'/>"})
    assert "onload" not in output(svg) and "data:image/svg+xml" in output(svg)
    trace = new_output("error", ename="E", evalue="v", traceback=["\x1b[31mE<\x1b[0m"])
    assert "<pre>E&lt;</pre>" in output(trace)
    assert "<pre>1</pre>" in output(new_output("execute_result", {"text/plain": "1"}))


def test_a_verdict_that_cannot_be_read_is_an_error():
    meta = info("double-check", grade=True, locked=True, points=3)
    cell = new_code_cell("x", metadata=meta, outputs=[shown(verdict(1.0))])
    assert seen(cell, {}).status == verdict(1.0)["status"]
    for broken in ({"cases": "no"}, [], {**verdict(1.0), "status": "great"}):
        cell.outputs = [shown(broken)]
        assert seen(cell, {}).status == "error"
    given = {"double-check": Mark(2.0, given=True, open=False)}
    assert "given by a person" in (seen(cell, given).told or "")


def test_empty_cells_and_the_first_one_are_left_out():
    first = new_code_cell("# Makes the checker available", id="checker")
    text = page(notebook(first, new_code_cell(" "), new_code_cell("y = 1")), FACTS)
    assert "Makes the checker" not in text and text.count('class="code"') == 1


@pytest.mark.parametrize(
    "text",
    [
        "$" + r"\frac{" * 3000 + "x" + "}{y}" * 3000 + "$",
        r"\begin{a}" * 50_000,
        "# a" + " " * 300_000 + "b",
        "$" + "{" * 1500 + "}" * 400 + "$",
    ],
    ids=["deep", "environments", "heading", "braces"],
)
def test_no_text_keeps_the_page_from_being_made(text):
    assert markdown(text)
    assert len(headings(text)) == text.startswith("# ")


def test_many_tags_are_dropped_and_not_cleaned():
    assert rich({"text/html": "<b>" * 500_000}, 2**21) == {"text/html": ""}
    assert "<td>1</td>" in rich({"text/html": "<table><td>1"}, 2**21)["text/html"]
