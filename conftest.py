"""For every test: under CI=true nothing may be left out, so a skip is a failure."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

Report = pytest.TestReport | pytest.CollectReport


def ci() -> bool:
    """Whether this run may leave nothing out."""
    return os.environ.get("CI", "").lower() in {"true", "1"}


def refuse(report: Report) -> None:
    """Turn a skip into a failure that keeps its reason; expected failures stay."""
    if ci() and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else ""
        report.outcome = "failed"
        report.longrepr = f"under CI=true nothing may be left out: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Report, Report]:
    report = yield
    refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Report, Report]:
    report = yield
    refuse(report)
    return report
