"""Identity: by fields, all the way down, for our objects and for those of users."""

import dataclasses
import functools
from collections import deque

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Box, Heightfield, Impulse, Plane, Sphere, SpringDamper, Surface
from featherweight.identity import identity, is_ours
from featherweight.integrators import RK4, SemiImplicit, Variational
from featherweight.model import Model

OURS = [
    Plane(),
    Box(),
    Sphere(),
    Heightfield(),
    Impulse(),
    SpringDamper(),
    Variational(),
    fw.actuators.DCMotor(1.0, 1.0, 1.0, 1.0, 1.0),
    fw.Limits(-1.0, 1.0, 1.0, 1.0),
    fw.Inertia.sphere(1.0, 0.1),
    fw.Placement(),
    fw.Rotor(2.0, fw.Inertia.sphere(1.0, 0.1)),
]
PAIRS = [(type(one).__name__, one, f.name) for one in OURS for f in dataclasses.fields(one)]


@pytest.mark.parametrize(("one", "field"), [pair[1:] for pair in PAIRS], ids=[f"{n}-{f}" for n, _, f in PAIRS])
def test_each_field_of_a_public_class_is_a_part_of_it(one, field):
    other = _with(one, field, _another(getattr(one, field)))
    assert identity(one) != identity(other)
    assert identity(one) == identity(_with(one, field, getattr(one, field)))
    assert identity(one).everywhere is not None


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Model) if f.init])
def test_each_field_of_a_model_is_a_part_of_it(field):
    model = fw.robots.mini_cheetah()
    other = _with(model, field, ("something else",))
    for_people = field in ("notes", "description")
    assert (model.fingerprint == other.fingerprint) == for_people


def _with(one, field, value):
    """A copy that differs in one field, whatever its class would say of that."""
    other = object.__new__(type(one))
    for name, own in vars(one).items():
        if name != "identity":
            object.__setattr__(other, name, own)
    object.__setattr__(other, field, value)
    return other


def _another(value):
    return "something else" if not isinstance(value, float) else np.nextafter(value, 10.0)


def test_equal_robots_have_one_fingerprint_in_every_process():
    assert fw.robots.humanoid().fingerprint == fw.robots.humanoid().fingerprint
    assert fw.robots.chain(3).fingerprint != fw.robots.chain(3, mass=2.0).fingerprint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (True, 1),
        ("1", 1),
        ((1.0,), [1.0]),
        (("a", "b"), ("a, b",)),
        ({"a": 1}, {"a": 2}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.zeros(3), np.zeros(4)),
        (np.zeros(3), np.zeros(3, np.float32)),
        (np.array([1.0, 2.0]), np.array([2.0, 1.0])),
        (np.float64(1.0), np.float32(1.0)),
        ({1, 2}, {1, 3}),
        (functools.partial(max, 1), functools.partial(max, 2)),
        (SemiImplicit(), RK4()),
        (deque([1]), deque([1])),  # nothing is known of its inside
    ],
)
def test_different_things_differ(one, other):
    assert identity(one) != identity(other)
    assert identity(one) == identity(one)


class Mine:
    factor = 1.0

    def __init__(self, number):
        self.number = number

    def value(self):
        return self.number * self.factor


class Slotted:
    __slots__ = ("__hidden", "shown")

    def __init__(self, hidden, shown):
        self.__hidden, self.shown = hidden, shown


def test_objects_of_others_are_known_by_their_fields_and_their_class():
    assert identity(Mine(1.0)) == identity(Mine(1.0)) != identity(Mine(2.0))
    assert identity(Slotted(1.0, 2.0)) != identity(Slotted(3.0, 2.0))
    assert identity(Mine(1.0)).everywhere is None  # no text says what it does
    twin = type("Mine", (), {"__init__": Mine.__init__, "value": lambda self: 2.0})
    assert identity(twin(1.0)) != identity(Mine(1.0))


def test_what_a_class_says_counts(monkeypatch):
    before = identity(Mine(1.0))
    monkeypatch.setattr(Mine, "factor", 2.0)
    other = identity(Mine(1.0))
    assert other != before
    monkeypatch.setattr(Mine, "value", lambda self: 3.0)
    assert identity(Mine(1.0)) != other


GAIN = 1.0


def by_global(q):
    return GAIN * q


def calling(q):
    return by_global(q)


def by_closure(gain):
    return lambda q: gain * q


def test_what_a_function_finds_outside_of_itself_counts(monkeypatch):
    before = identity(by_global), identity(calling)
    assert before == (identity(by_global), identity(calling))
    monkeypatch.setitem(globals(), "GAIN", 2.0)
    assert identity(by_global) != before[0]
    assert identity(calling) != before[1]
    cell = [1.0]

    def of_a_list(q):
        return cell[0] * q

    before = identity(of_a_list)
    cell[0] = 2.0
    assert identity(of_a_list) != before


def test_each_closure_is_another_function():
    assert identity(by_closure(1.0)) != identity(by_closure(2.0))


def test_circles_and_depth_come_to_an_end():
    one, other = Mine(None), Mine(None)
    one.number, other.number = other, one
    assert identity(one) == identity(one)
    deep = 1.0
    for _ in range(5000):
        deep = (deep, "x")
    assert identity(deep) == identity(deep)


def test_ours_is_what_is_found_in_the_package():
    class Claims(Surface):
        pass

    Claims.__module__ = "featherweight.contact.surfaces"
    assert is_ours(Plane)
    assert not is_ours(Claims)
    assert identity(Claims()).everywhere is None
