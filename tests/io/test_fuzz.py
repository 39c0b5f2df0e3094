"""A slice of `make fuzz`: damaged files are refused, or load into models that are models."""

from __future__ import annotations

from dataclasses import replace

import fuzz_urdf
import numpy as np
import pytest
from fuzz_urdf import BYTES, TEXT, Failure, elements, mutant, run, seeds, validate

import featherweight as fw
from featherweight.spatial import RigidInertia, Symmetric, Vector

COUNT, SEED = 1500, 20_260


@pytest.fixture(scope="module")
def result():
    return run(SEED, range(COUNT))


def test_every_mutant_is_refused_or_becomes_a_model(result):
    assert not result["failures"]


def test_mutants_are_of_all_kinds(result):
    outcomes = result["outcomes"]
    assert sum(outcomes.values()) == COUNT
    assert outcomes["refused"] > COUNT / 4
    assert outcomes["loaded and stepped"] > COUNT / 8
    assert set(result["changes"]) == {change.__name__ for change in (*TEXT, *BYTES)}
    assert len(result["messages"]) > 100


def test_time_and_memory_are_bounded(result):
    assert result["slowest"][0] < fuzz_urdf.MOST_SECONDS
    assert result["megabytes"] < fuzz_urdf.MOST_MEGABYTES


def test_few_are_refused_without_a_line(result):
    """Those that the builder finds, not the reader."""
    assert result["outcomes"]["refused without a line"] < COUNT / 40


def test_a_mutant_follows_from_seed_and_number():
    assert [mutant(3, k) for k in range(50)] == [mutant(3, k) for k in range(50)]
    assert mutant(3, 0) != mutant(4, 0)
    assert len({mutant(3, k)[0] for k in range(200)}) > 190


@pytest.mark.parametrize("number", range(len(set(seeds()))))
def test_what_is_damaged_was_good(number):
    text = list(dict.fromkeys(seeds()))[number]
    model = fw.loads(text, policy="repair")
    validate(model, "repair")
    assert fuzz_urdf.steps(model) == "loaded and stepped"
    assert len(elements(text)) > 5


# ---- the validator finds what it should


def good():
    return fw.loads(fuzz_urdf.ALL_ELEMENTS, base="free")


def of(joint, **changes):
    model = good()
    joints = [replace(j, **changes) if j.name == joint else j for j in model.joints]
    return replace(model, joints=tuple(joints))


def with_inertia(inertia):
    model = good()
    return replace(model, inertias=(*model.inertias[:-1], inertia))


def spatial(mass, *moments):
    return RigidInertia(mass, Vector(0.0, 0.0, 0.0), Symmetric(moments[0], 0.0, 0.0, moments[1], 0.0, moments[2]))


BAD = {
    "a child before its parent": lambda: replace(good(), parent=(-1, 0, 3, 2, 2)),
    "a body that is its own parent": lambda: replace(good(), parent=(-1, 0, 1, 3, 2)),
    "too few parents": lambda: replace(good(), parent=(-1, 0, 1, 2)),
    "two bodies of one name": lambda: replace(good(), names=("world", "base", "arm", "arm", "wheel")),
    "two joints of one name": lambda: of("spin", name="hinge"),
    "no mass": lambda: with_inertia(spatial(0.0, 1.0, 1.0, 1.0)),
    "negative moment": lambda: with_inertia(spatial(1.0, -1.0, 1.0, 1.0)),
    "triangle inequality": lambda: with_inertia(spatial(1.0, 1.0, 1.0, 3.0)),
    "mass that is not finite": lambda: with_inertia(spatial(np.inf, 1.0, 1.0, 1.0)),
    "damping that is not finite": lambda: of("hinge", damping=(np.nan,)),
    "negative friction": lambda: of("hinge", friction=(-1.0,)),
    "limits out of order": lambda: of("hinge", limits=fw.Limits((1.0,), (0.0,), (1.0,), (1.0,))),
    "negative limits": lambda: of("hinge", limits=fw.Limits((0.0,), (1.0,), (-1.0,), (1.0,))),
    "a point nowhere": lambda: replace(
        good(), contact_points=(replace(good().contact_points[0], position=(0.0, np.nan, 0.0)),)
    ),
    "a shape of no size": lambda: replace(good(), geometry=(replace(good().geometry[0], size=(np.inf, 1.0, 1.0)),)),
}


@pytest.mark.parametrize("what", BAD)
def test_the_validator_finds(what):
    validate(good(), "strict")
    with pytest.raises(Failure):
        validate(BAD[what](), "strict")


def test_a_failure_is_reported_and_does_not_stop_the_run(monkeypatch):
    def fail(*_, **__):
        raise IndexError("list index out of range")

    monkeypatch.setattr(fw, "loads", fail)
    result = run(0, range(1, 5))
    assert result["outcomes"] == {"failed": 4}
    assert [failure["number"] for failure in result["failures"]] == [1, 2, 3, 4]
    assert result["failures"][0]["what"] == "IndexError: list index out of range"
