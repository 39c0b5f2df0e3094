"""Files that are made to take long are read in steps that grow with their length, and refused where there are too many.

Steps are counted, not seconds: lines of Python that are run. `make time-bombs` measures the largest files.
"""

from __future__ import annotations

import difflib
import importlib.util
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import featherweight as fw
from featherweight import errors
from featherweight.io import findings, limits, xml

FILE = Path(__file__).parents[2] / "benchmarks" / "time_bombs.py"
spec = importlib.util.spec_from_file_location("time_bombs", FILE)
assert spec is not None
assert spec.loader is not None
bombs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bombs)
GROWING = [kind for kind in bombs.KINDS if "too " not in kind and kind != "similar names"]  # which has a bound, below


def lines_run(text: str, way: str) -> int:
    """By reading a text, in this package and in the libraries of Python that it calls."""
    count = 0

    def inside(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return inside

    before = sys.gettrace()
    sys.settrace(inside)
    try:
        bombs.read(text, way)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("way", ["strict", "repair", "warn"])
@pytest.mark.parametrize("kind", GROWING)
def test_twice_as_much_takes_no_more_than_twice_as_many_steps(kind: str, way: str) -> None:
    bombs.read(bombs.text_of(kind, 40), way)  # what is done once
    few, many = (lines_run(bombs.text_of(kind, n), way) for n in (60, 120))
    assert many < 2.1 * few + 2000


def test_similar_names_are_compared_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = 0

    def counted(name: str, known: list[str], **options: Any) -> list[str]:
        nonlocal letters
        letters += sum(len(name) * len(other) for other in known)
        return difflib.get_close_matches(name, known[:3], **options)

    monkeypatch.setattr(errors, "difflib", type("Counted", (), {"get_close_matches": staticmethod(counted)}))
    assert bombs.read(bombs.text_of("similar names", 2000), "strict").startswith("ModelError")
    assert 0 < letters <= findings.MOST_HINTS * errors.LETTERS


def test_near_names_are_found_among_many() -> None:
    names = [f"left_leg_{k}_joint" for k in range(800)]
    assert errors.nearest("left_leg_700_jont", names) == ["left_leg_700_joint"]
    assert errors.nearest("x" * 1000, ["x" * 1001]) == []  # too long to be compared


@pytest.mark.parametrize(
    ("kind", "n", "message"),
    [
        (
            "chain",
            limits.PARTS // 2,
            f"{limits.PARTS // 2 + 1} links, {limits.PARTS // 2} joints and 0 shapes; at most {limits.PARTS} are read",
        ),
        ("boxes", limits.PARTS, f"1 links, 0 joints and {limits.PARTS} shapes; at most {limits.PARTS} are read"),
        ("boxes", limits.POINTS // 8 + 1, f"more than {limits.POINTS} contact points; contact=False takes none"),
        ("attributes", xml.MOST_ATTRIBUTES, f"more than {xml.MOST_ATTRIBUTES} attributes"),
    ],
)
def test_too_many_are_refused_with_the_limit(kind: str, n: int, message: str) -> None:
    with pytest.raises(fw.ModelError, match=message):
        fw.loads(bombs.text_of(kind, n), contact="all")


def test_a_chain_of_mimic_joints_is_as_fast_as_the_product_of_its_ratios() -> None:
    def follows(ratio: str, last: str = "") -> Any:
        return bombs._follows(ratio, last)

    def told(n: int, mimic: Any) -> str:
        return str(bombs.read(f'<robot name="r">{bombs.chain(n, mimic=mimic)}</robot>', "strict"))

    assert told(10, follows("2")).startswith("loaded")
    assert "\"j10\"> <mimic>: follows 'j0' 1024 times as fast (and 1 more" in told(12, follows("2"))
    assert "\"j10\"> <mimic>: follows 'j0' 1024 times as fast" in told(12, follows("-2"))
    assert "loaded" in told(30, follows("0.5"))
    assert "\"j0\"> <mimic>: joint 'none' does not exist; define it (and 4 more" in told(5, follows("1", "none"))
    circle = "follows in a circle: j0 -> j6 -> j5 -> j4 -> j3 -> j2 (and 6 more"
    assert circle in told(7, follows("1", "j6"))
    assert "follows itself" in told(1, follows("1", "j0"))


def test_a_follower_of_a_circle_is_told_so_and_messages_stay_short() -> None:
    long = "x" * 100_000
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{a}"/><child link="{b}"/><mimic joint="{of}"/></joint>'
        for name, a, b, of in (("a", "l0", "l1", long), (long, "l1", "l2", "c"), ("c", "l2", "l3", long))
    )
    links = "".join(bombs.LINK % f"l{k}" for k in range(4))
    with pytest.raises(fw.ModelError, match=r"follows in a circle: a -> x.*\(and 2 more") as caught:
        fw.loads(f'<robot name="r">{links}{joints}</robot>', policy="strict")
    assert len(str(caught.value)) < 1000
