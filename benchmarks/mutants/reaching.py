"""A pytest plugin that writes which source lines each test reaches, and how long it takes.

Lines are kept by their text, so that the record stays true when code above them moves. What is recorded of a test is
what it reached first: kernels that an earlier test of the same process compiled are not traced again.
"""

from __future__ import annotations

import collections
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOT = Path(os.environ["MUTANTS_ROOT"])
os.environ["COVERAGE_CORE"] = "ctrace"  # the one core that can tell tests apart

_tracer = coverage.Coverage(data_file=None, config_file=False, source=json.loads(os.environ["MUTANTS_FOLDERS"]))
_seconds: dict[str, list[float]] = collections.defaultdict(list)
_failed: set[str] = set()


def function_of(nodeid: str) -> str:
    """The test function of an item: all its parameters count as one test."""
    return nodeid.split("[")[0]


def pytest_load_initial_conftests() -> None:
    _tracer.start()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _tracer.switch_context(function_of(item.nodeid))
    yield
    _tracer.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _seconds[function_of(report.nodeid)].append(report.duration)
    if not report.passed:
        _failed.add(function_of(report.nodeid))


def pytest_sessionfinish() -> None:
    _tracer.stop()
    data = _tracer.get_data()
    lines: dict[str, dict[str, Any]] = {}
    for file in filter(os.path.isfile, data.measured_files()):  # generated code has a name, and no file
        text = Path(file).read_text(encoding="utf-8").splitlines()
        reached: dict[str, set[str]] = collections.defaultdict(set)
        for number, tests in data.contexts_by_lineno(file).items():
            reached[text[number - 1].strip()] |= {test for test in tests if test}
        lines[Path(file).relative_to(ROOT).as_posix()] = {key: sorted(tests) for key, tests in reached.items() if tests}
    record = {
        "seconds": {test: sum(each) / len(each) for test, each in _seconds.items()},
        "failed": sorted(_failed),
        "lines": lines,
    }
    Path(os.environ["MUTANTS_RECORD"]).write_text(json.dumps(record), encoding="utf-8")
