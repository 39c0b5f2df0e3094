"""The tool behind `make mutants`, on a project of three functions: one tested, one only called, one neither."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks.mutants.faults import Fault, faults_in
from benchmarks.mutants.reach import Reach, reach
from benchmarks.mutants.sample import sample
from benchmarks.mutants.summary import summary
from benchmarks.mutants.trial import copy_of, judged, trial

SHAPES = '''"""Shapes: 1 + 1."""


def area(width: float, height: float = 2.0) -> float:
    """width * height."""
    if width < 0:
        raise ValueError(f"width: expected 0 or more, got {width - 0}")
    return width * height


def least(a: float, b: float) -> float:
    return min(a, b)


def forgotten(a: float) -> float:
    return -a
'''
TESTS = """
import pytest
from tiny.shapes import area, least

def test_area():
    assert area(3.0) == 6.0 and area(3.0, 5.0) == 15.0

def test_refused():
    with pytest.raises(ValueError):
        area(-1.0)

def test_least():
    least(1.0, 2.0)

def test_of_generated_code():
    exec(compile("x = 1", f"{area.__code__.co_filename} (1)", "exec"))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in (("src/tiny/shapes.py", SHAPES), ("tests/test_shapes.py", TESTS)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def changes(text: str) -> set[tuple[str, str]]:
    return {(fault.kind, fault.becomes) for fault in faults_in("x.py", text.encode())}


def test_what_is_tested_is_caught_and_what_is_only_called_survives(project: Path) -> None:
    folder = project / "src" / "tiny"
    found = reach(project, [project / "tests" / "test_shapes.py"], [folder], project / "kept")
    faults = sample(project, [folder], 100, 0)
    with copy_of(project) as copy:
        of = {f.becomes: trial(copy, f, found.tests_of(f.source, f.texts), found.seconds) for f in faults}
        assert (copy / "src/tiny/shapes.py").read_text(encoding="utf-8") == SHAPES
    assert of["return width / height"] | {"seconds": 0} == {
        "outcome": "caught", "test": "tests/test_shapes.py::test_area", "seconds": 0,
    }  # fmt: skip
    assert of["def area(width: float, height: float = 4.0) -> float:"]["outcome"] == "caught"
    assert of["if width >= 0:"]["outcome"] == "caught"
    assert of["return max(a, b)"]["outcome"] == "survived"
    assert of["return a"]["outcome"] == "survived"

    trials = {fault.id: [of[fault.becomes]] for fault in faults}
    (called,) = (fault.id for fault in faults if fault.becomes == "return max(a, b)")
    record = summary(faults, trials, {called: "only a demonstration"}, 0)
    assert (record["caught"], record["equivalent"], record["survived"], record["untried"]) == (3, 1, 1, 0)
    assert record["score"] == 0.75
    assert {told["fate"] for told in record["not_caught_at_first"]} == {"equivalent", "survived"}


def test_all_kinds_of_faults_are_found() -> None:
    assert changes("def f(a, b):\n    return a + b\n") == {("arithmetic", "return a - b")}
    assert changes("def f(a, b):\n    a = a * b\n") == {
        ("arithmetic", "a = a / b"), ("sign", "a = -(a * b)"), ("statement", "pass"),
    }  # fmt: skip
    assert changes("def f(a):\n    return a[0]\n") == {("constant", "return a[1]")}
    assert changes("def f(a, b):\n    return a and not b\n") == {
        ("condition", "return a or not b"), ("condition", "return a and b"),
    }  # fmt: skip
    assert changes("def f(a, b):\n    return a.cross(b + a)\n") == {
        ("order", "return (b + a).cross(a)"), ("arithmetic", "return a.cross(b - a)"),
    }  # fmt: skip
    assert changes("def f(a, b, c):\n    return where(a, b.x, -c)\n") == {
        ("order", "return where(a, (-c), b.x)"), ("sign", "return where(a, b.x, c)"),
    }  # fmt: skip


def test_words_types_and_marks_are_left_alone() -> None:
    quiet = "import a\n\n@b(1)\nclass C:\n    x: int | 3\n    def __repr__(self):\n        return self.a + self.b\n"
    assert not changes(quiet)
    assert not changes('def f(tree):\n    """1 + 1"""\n    tree.mark()\n    raise ValueError(f"{1 + 1}")\n')


def test_a_fault_and_its_place_in_the_draw_do_not_depend_on_code_elsewhere(project: Path) -> None:
    folder = project / "src" / "tiny"
    before = sample(project, [folder], 2, 7)
    (folder / "shapes.py").write_text(SHAPES.replace("def least", "é = 'x'\n\n\ndef least"), encoding="utf-8")
    assert {fault.id for fault in sample(project, [folder], 2, 7)} == {fault.id for fault in before}
    twice = faults_in("x.py", b"def f(a):\n    return -a\ndef g(a):\n    return -a\n")
    assert len({fault.id for fault in twice}) == 2


def test_a_hang_is_told_from_tests_that_take_their_time() -> None:
    begins = [["begins", "t::a[1]", time.time() - 60]]
    assert judged(None, begins, {"t::a": 0.5})["outcome"] == "hung"
    assert judged(None, begins, {"t::a": 20.0}) == {"outcome": "survived", "time_limit": True}
    assert judged(-11, begins, {})["outcome"] == "crashed"
    with pytest.raises(RuntimeError, match="pytest ended with 5"):
        judged(5, [], {})


def test_tests_that_reach_the_line_come_first_and_quick_ones_before() -> None:
    lines = {"s.py": {"x = 1": {"t.py::slow", "t.py::quick"}, "y = 2": {"u.py::other"}}}
    found = Reach({"t.py::slow": 2.0, "t.py::quick": 0.1, "t.py::beside": 0.01, "u.py::other": 1.0}, lines)
    assert found.tests_of("s.py", ["x = 1"]) == ["t.py::quick", "t.py::slow", "t.py::beside"]
    assert found.tests_of("s.py", ["never seen"])[0] == "t.py::quick"  # whoever reaches the file
    assert Fault("s.py", "constant", 1, 4, 5, "2", "x = 1", "x = 2", ()).applied(b"x = 1") == b"x = 2"
