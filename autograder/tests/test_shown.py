"""What cells show is cleaned before a person opens it in a browser."""

from __future__ import annotations

import base64

import pytest

from autograder.engine.limits import Limits
from autograder.engine.shown import clean, outputs, rich, words

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 50).decode()
LIMITS = Limits(text=100, pictures=400)


def display(**data: object) -> dict:
    names = {name.replace("__", "/"): content for name, content in data.items()}
    return {"output_type": "display_data", "data": names, "metadata": {"x": 1}}


def test_text_pictures_and_tables_pass():
    table = "<table border='1'><tr><td>1</td></tr></table>"
    shown = outputs(
        [
            {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
            {"output_type": "stream", "name": "stderr", "text": "careful\n"},
            display(image__png=PNG, text__plain="<Figure>"),
            display(text__html=table, text__plain="1"),
        ],
        LIMITS,
    )
    assert [o["output_type"] for o in shown] == ["stream", "stream"] + [
        "display_data"
    ] * 2
    assert shown[0]["text"] == "a\nb\n"
    assert shown[2]["data"]["image/png"] == PNG
    assert shown[3]["data"]["text/html"] == (
        "<table><tbody><tr><td>1</td></tr></tbody></table>"
    )
    assert all(o.get("metadata", {}) == {} for o in shown)


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<td onclick='alert(1)'>x</td>",
        "<a href='javascript:alert(1)'>x</a>",
        "<iframe src='http://x'></iframe>",
        "<svg onload=alert(1)></svg>",
        "<style>body{display:none}</style>",
        "<form action=x><input></form>",
        "<base href='http://x'>",
        "<table background='http://x'><tr><td>",
    ],
)
def test_nothing_acts_or_loads(html):
    made = clean(html)
    for bad in ("<script", "onerror", "onclick", "href", "src", "<svg", "<style"):
        assert bad not in made
    for bad in ("<form", "<base", "background", "<iframe", "onload"):
        assert bad not in made


@pytest.mark.parametrize(
    "data",
    [
        {"application/javascript": "alert(1)"},
        {"application/vnd.by-hand.check+json": {"score": 9}},
        {"application/vnd.by-hand.check+json": "{}"},
        {"image/svg+xml": "<svg onload=alert(1)>"},
        {"image/png": base64.b64encode(b"<script>").decode()},
        {"image/png": "not base64"},
        {"text/plain": 3},
        {3: "x"},
        "text",
        None,
    ],
)
def test_what_is_no_text_picture_or_table_does_not(data):
    assert not any(rich(data, 1000).values())


def test_more_than_is_kept_is_cut():
    shown = outputs(
        [
            {"output_type": "stream", "name": "stdout", "text": "x" * 90},
            {"output_type": "stream", "name": "stdout", "text": "y" * 90},
            {"output_type": "stream", "name": "stdout", "text": "z" * 90},
            display(image__png=PNG + "A" * 400),
            display(image__png=PNG),
        ],
        LIMITS,
    )
    assert shown[0]["text"].startswith("x" * 90 + "y" * 10 + "\n... (more than")
    assert "z" not in shown[0]["text"]
    assert len(shown) == 2 and shown[1]["data"]["image/png"] == PNG


@pytest.mark.parametrize(
    "raw", [None, 3, "x", [], {}, {"output_type": "error"}, {"output_type": "stream"}]
)
def test_rubbish_shows_nothing(raw):
    assert outputs([raw], LIMITS) == []


def test_words_are_one_printable_line():
    assert words("a\nb\x00c\ud800d", 100) == "a bc?d"
    assert words("x" * 50, 5) == "xxxxx"
    assert words(["x"], 5) == ""
