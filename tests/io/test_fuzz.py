"""A slice of `make fuzz`: damaged files are refused, or load into models that are models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import featherweight as fw
from benchmarks import fuzz_urdf
from benchmarks.fuzz_urdf import BYTES, TEXT, Failure, elements, mutant, run, seeds, validate
from featherweight import algorithms
from featherweight.spatial import RigidInertia, Symmetric, Vector

COUNT, SEED = 500, 20_260


@pytest.fixture(scope="module")
def result():
    return run(SEED, range(COUNT))


def test_every_mutant_is_refused_or_becomes_a_model(result):
    assert not result["failures"]


def test_mutants_are_of_all_kinds(result):
    outcomes = result["outcomes"]
    assert sum(outcomes.values()) == COUNT
    assert outcomes["refused"] > COUNT / 4
    assert outcomes["loaded and stepped"] > COUNT / 4
    assert 0 < outcomes["loaded against a warning, steps refused"] < COUNT / 4
    assert {name for name in outcomes if name.startswith("loaded")} == {
        "loaded and stepped", "loaded against a warning, steps refused",
    }  # fmt: skip
    assert set(result["changes"]) == {change.__name__ for change in (*TEXT, *BYTES)}
    assert len(result["messages"]) > 40


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


def test_mutants_are_named_one_at_a_time_and_in_ranges():
    assert [*fuzz_urdf.numbers_in("46611")] == [46611]
    assert [*fuzz_urdf.numbers_in("39048-39050")] == [39048, 39049, 39050]


@pytest.mark.parametrize("number", range(len(set(seeds()))))
def test_what_is_damaged_was_good(number):
    text = list(dict.fromkeys(seeds()))[number]
    model = fw.loads(text, policy="repair")
    validate(model, "repair")
    assert fuzz_urdf.steps(model) == ""
    assert len(elements(text)) > 5


# ---- the steps are those of the library, and find what they should


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_step_is_a_step_of_the_library(base, monkeypatch):
    """Plain floats are faster than arrays of one state; the numbers are the same."""
    model, last = fw.loads(fuzz_urdf.ALL_ELEMENTS, base=base), []
    real = algorithms.integrate
    monkeypatch.setattr(algorithms, "integrate", lambda *x: last.append(real(*x)) or last[-1])
    assert fuzz_urdf.steps(model) == ""
    q, v = model.neutral(), np.full(model.nv, 0.1)
    with fw.interpret():
        for _ in range(fuzz_urdf.STEPS):
            v = v + fuzz_urdf.DT * fw.forward_dynamics(model, q, v, np.zeros(model.nv))
            q = fw.integrate(model, q, v, fuzz_urdf.DT)
    assert np.abs(q - last[-1]).max() < 1e-14


POINT = fuzz_urdf.PENDULUM.replace('xyz="0 0 -0.5"', 'xyz="0 0 0"').replace("0.083", "0").replace("0.001", "0")


def test_what_cannot_be_stepped_is_found():
    with pytest.raises(fw.ModelError, match="moment of inertia about its joint's axis"):
        fw.loads(POINT, policy="strict")
    with pytest.warns(UserWarning, match="moment of inertia about its joint's axis"):
        model = fw.loads(POINT)
    assert fuzz_urdf.steps(model).startswith("step 1")
    expected = "loaded against a warning, steps refused"
    assert fuzz_urdf.stepped(model, POINT.encode(), "fixed") == expected
    for policy, data in (("strict", POINT), ("repair", POINT), ("warn", fuzz_urdf.PENDULUM)):
        with pytest.raises(Failure, match="is in order, but dynamics is not"):
            fuzz_urdf.stepped(model, data.encode(), "fixed", policy)


WAYS = {
    "repair": "is repaired and not loaded by default",
    "strict": "loads strictly, and by default as another",
    "fixed file": "a repaired file does not load strictly",
}


@pytest.mark.parametrize("also", WAYS)
def test_other_policies_are_held_against_the_default(also, tmp_path, monkeypatch):
    data, path = fuzz_urdf.PENDULUM.encode(), tmp_path / "robot.urdf"
    fuzz_urdf.other_ways(fw.loads(data), data, "fixed", also, path)
    real = fw.loads

    def lies(text, **options):
        if also == "strict":
            return real(fuzz_urdf.GRIPPER, **options)
        raise fw.ModelError("no")

    model = fw.loads(data)
    monkeypatch.setattr(fw, "loads", lies)
    with pytest.raises(Failure, match=WAYS[also]):
        fuzz_urdf.other_ways(model, data, "fixed", also, path)


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
    "negative moment of a heavy body": lambda: with_inertia(spatial(1e15, -1.0, 1.0, 1.0)),
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
