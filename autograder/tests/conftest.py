"""Fixtures that several tests share."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.tests import state
from autograder.tests.odd_class import odd_class
from autograder.tests.small_course import small_course

ROOT = Path(__file__).parents[2]


def environment(patch: pytest.MonkeyPatch, root: Path) -> None:
    """Work in the course at `root`, and put everything back afterwards."""
    patch.chdir(root)
    patch.setenv("AUTOGRADER_COURSE", str(root))
    patch.delenv("AUTOGRADER_SOLUTIONS", raising=False)
    patch.setenv("PYTHONPATH", str(ROOT))
    patch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    patch.setattr(sys, "path", list(sys.path))


@pytest.fixture(scope="session")
def built_course(tmp_path_factory):
    """A course of one small chapter, built once; tests take copies."""
    root = small_course(tmp_path_factory.mktemp("built course"))
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, root)
        assert main(["build"]) == 0
    return root


@pytest.fixture
def tiny_course(built_course, tmp_path, monkeypatch):
    """A fresh copy of the small course, in a path with a space; we are in it."""
    root = tmp_path / "my course"
    shutil.copytree(built_course, root)
    environment(monkeypatch, root)
    return root


@pytest.fixture(scope="session")
def class_once(built_course, tmp_path_factory):
    """The small course with a simulated class of 12, not graded."""
    root = tmp_path_factory.mktemp("class") / "the course"
    shutil.copytree(built_course, root)
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, root)
        assert main(["simulate", "attention", "--students", "12", "--seed", "3"]) == 0
    return root


@pytest.fixture(scope="session")
def undisturbed(class_once, tmp_path_factory):
    """What comes of that class when it is graded in one go: see `state.graded`."""
    root = tmp_path_factory.mktemp("undisturbed") / "the course"
    shutil.copytree(class_once, root)
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, root)
        assert main(["grade", "attention", "--seed", "7", "--jobs", "2"]) == 0
    return state.graded(root)


@pytest.fixture
def classroom(class_once, tmp_path, monkeypatch):
    """A fresh copy of the simulated class; we are in it."""
    root = tmp_path / "the course"
    shutil.copytree(class_once, root)
    environment(monkeypatch, root)
    return root


@pytest.fixture(scope="session")
def graded_once(built_course, tmp_path_factory):
    """The small course with the class of `odd_class`, graded once."""
    root = tmp_path_factory.mktemp("graded") / "the course"
    shutil.copytree(built_course, root)
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, root)
        odd_class(root)
        assert main(["grade", "attention"]) == 0
    return root


@pytest.fixture
def graded(graded_once, tmp_path, monkeypatch):
    """A fresh copy of the graded course; we are in it."""
    root = tmp_path / "the course"
    shutil.copytree(graded_once, root, symlinks=True)
    environment(monkeypatch, root)
    return root
