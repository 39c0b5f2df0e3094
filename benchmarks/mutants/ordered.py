"""A pytest plugin that runs tests in a given order, and writes down when each begins and ends.

`MUTANTS_ORDER` is a file with the names of the test functions; whatever else was collected is left out. The parent
reads `MUTANTS_LOG` when it has had to kill the tests: it tells which one was running, and for how long.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

_place = {test: k for k, test in enumerate(json.loads(Path(os.environ["MUTANTS_ORDER"]).read_text(encoding="utf-8")))}


def _place_of(item: pytest.Item) -> int:
    return _place.get(item.nodeid.split("[")[0], -1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if _place_of(item) < 0])
    items[:] = sorted((item for item in items if _place_of(item) >= 0), key=_place_of)


def pytest_configure() -> None:
    """Hypothesis stops at the first example that fails: making it small would take the time of many mutants."""
    try:
        from hypothesis import Phase, settings
    except ImportError:
        return
    settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate], database=None, derandomize=True)
    settings.load_profile("mutants")


def _log(event: str, test: str) -> None:
    with Path(os.environ["MUTANTS_LOG"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps([event, test, time.time()]) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    _log("begins", nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _log("fails", report.nodeid)


def pytest_runtest_logfinish(nodeid: str) -> None:
    _log("ends", nodeid)
