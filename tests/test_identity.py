"""Identity: by fields, all the way down, for our objects and for those of users."""

import copy
import dataclasses
import functools
import itertools
import re
import sys
import threading
import types
from array import array
from collections import defaultdict, deque

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Box, Heightfield, Impulse, Plane, Sphere, SpringDamper, Surface
from featherweight.identity import identity, is_ours
from featherweight.integrators import RK4, SemiImplicit, Variational
from featherweight.model import Model
from featherweight.model.cache import ModelCache
from featherweight.spatial import Vector

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
        object.__setattr__(other, name, ModelCache() if name == "cache" else own)
    object.__setattr__(other, field, value)
    return other


def _another(value):
    return "something else" if not isinstance(value, float) else np.nextafter(value, 10.0)


MANY = [fw.Limits(float(k), k + 0.5) for k in range(20)]  # as long as what is written field by field


def _changed(items, k, value):
    return (*items[:k], value, *items[k + 1 :])


@pytest.mark.parametrize("field", ["lower", "upper", "velocity", "effort"])
@pytest.mark.parametrize("value", [3.25, 1, True, "3", None, (3.0,), pytest.param(10**5000, id="digits")])
def test_each_field_of_each_of_many_objects_is_a_part_of_it(field, value):
    one = tuple(MANY)
    assert identity(one) == identity(tuple(map(dataclasses.replace, MANY)))
    other = _changed(one, 7, dataclasses.replace(MANY[7], **{field: value}))
    assert identity(one) != identity(other) != identity(_changed(other, 7, other[8]))
    assert identity({str(k): x for k, x in enumerate(one)}) != identity({str(k): x for k, x in enumerate(other)})
    assert identity(other).everywhere is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((0.0,) * 9, (-0.0,) * 9),
        ((1.0,) * 9, (1.0,) * 8 + (1,)),
        ((1,) * 9, (True,) * 9),
        ((1.0,) * 9, (1.0,) * 10),
        ((1.0, 2) * 9, (2, 1.0) * 9),
        ([1.0] * 9, (1.0,) * 9),
        ((Vector(1.0, 2.0, 3.0),) * 9, ((1.0, 2.0, 3.0),) * 9),
        (((1.0, 2.0),) * 9, ((1.0, 2.0),) * 8 + ((1.0, 2.0, 3.0),)),
        ((("ab", "c"),) * 9, (("a", "bc"),) * 9),
        (((1.0,), (2.0,)) * 9, ((2.0,), (1.0,)) * 9),
        ((slice(0, 1),) * 9, (slice(0, 1),) * 8 + (slice(0, 2),)),
        ((Plane(),) * 9, (Plane(),) * 8 + (Box(),)),
        ((fw.joints.Revolute("x"),) * 9, (fw.joints.Revolute("x"),) * 8 + (fw.joints.Revolute("y"),)),
        ((fw.joints.Revolute("x"),) * 9, (fw.joints.Prismatic("x"),) * 9),
        (dict.fromkeys("abcdefghi", 1.0), dict.fromkeys("abcdefghj", 1.0)),
        (dict.fromkeys("abcdefghi", 1.0), dict.fromkeys("bacdefghi", 1.0)),
        (set(range(9)), set(range(10))),
    ],
)
def test_many_different_things_differ(one, other):
    assert identity(one) != identity(other)
    assert identity(one) == identity(copy.deepcopy(one))


def test_what_is_derived_or_added_is_told_apart_in_many_objects():
    robots = [fw.Limits(float(k)) for k in range(9)]
    before = identity(robots)
    object.__setattr__(robots[4], "more", 1.0)
    assert identity(robots) != before
    joints = [fw.joints.Revolute("x") for _ in range(9)]
    before = identity(joints)
    object.__setattr__(joints[8], "armature", 1.0)
    assert identity(joints) != before


def test_one_object_of_others_among_many_counts():
    joints = [fw.joints.Revolute("x") for _ in range(9)]
    odd = type("Odd", (fw.joints.Revolute,), {})("x")
    assert identity(joints).everywhere is not None
    assert identity([*joints[1:], odd]).everywhere is None


def test_equal_robots_have_one_fingerprint_in_every_process():
    assert fw.robots.humanoid().fingerprint == fw.robots.humanoid().fingerprint
    assert fw.robots.chain(3).fingerprint != fw.robots.chain(3, mass=2.0).fingerprint


def test_where_a_robot_was_read_is_no_part_of_it():
    """Nor on which line of which file: its code is found all the same."""
    text = fw.io.to_urdf(fw.robots.chain(3))
    assert fw.loads(text).fingerprint == fw.loads(text.replace("<link", "\n  <link")).fingerprint


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
        ({"a": 1}, {"b": 1}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.zeros(3), np.zeros(4)),
        (np.zeros(3), np.zeros(3, np.float32)),
        (np.array([1.0, 2.0]), np.array([2.0, 1.0])),
        (np.float64(1.0), np.float32(1.0)),
        ({1, 2}, {1, 3}),
        (functools.partial(max, 1), functools.partial(max, 2)),
        (functools.partial(int, base=2), functools.partial(int, base=3)),
        (SemiImplicit(), RK4()),
        (deque([1]), deque([2])),
        (deque([1]), [1]),
        (array("d", [1.0]), array("d", [2.0])),
        (bytearray(b"a"), bytearray(b"b")),
        (slice(0, 1), slice(0, 2)),
        (slice(0, 4, 1), slice(0, 4, 2)),
        (np.zeros(()), np.zeros(1)),
        (np.zeros((2, 2)), np.zeros((2, 2)).view(np.recarray)),
        (np.ma.array([1.0], mask=[True]), np.ma.array([1.0], mask=[False])),
        (np.zeros(1, [("a", "f8")]), np.zeros(1, [("b", "f8")])),
        (defaultdict(int), defaultdict(float)),
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


def test_what_a_base_class_says_counts(monkeypatch):
    child = type("Child", (Mine,), {})(1.0)
    before = identity(child)
    monkeypatch.setattr(Mine, "factor", 2.0)
    assert identity(child) != before


def test_a_method_is_that_of_its_object():
    assert identity(Mine(1.0).value) != identity(Mine(2.0).value)


GAIN = 1.0


def by_global(q):
    return GAIN * q


def calling(q):
    return by_global(q)


def by_closure(gain):
    return lambda q: gain * q


def by_inner_function(q):
    return (lambda x: GAIN * x)(q)


def by_defaults(q, gains=[1.0], *, more=[1.0]):  # noqa: B006
    return gains[0] * q + more[0]


@pytest.mark.parametrize("gains", [by_defaults.__defaults__[0], by_defaults.__kwdefaults__["more"]])
def test_defaults_of_a_function_count(gains):
    before = identity(by_defaults)
    gains[0] = 2.0
    assert identity(by_defaults) != before


def test_what_a_function_finds_outside_of_itself_counts(monkeypatch):
    functions = by_global, calling, by_inner_function
    before = [identity(f) for f in functions]
    assert before == [identity(f) for f in functions]
    monkeypatch.setitem(globals(), "GAIN", 2.0)
    assert not any(identity(f) == known for f, known in zip(functions, before, strict=True))
    cell = [1.0]

    def of_a_list(q):
        return cell[0] * q

    before = identity(of_a_list)
    cell[0] = 2.0
    assert identity(of_a_list) != before


def test_each_closure_is_another_function():
    assert identity(by_closure(1.0)) != identity(by_closure(2.0))


def test_a_back_reference_means_one_object_alone():
    one, other = np.array([1.0]), np.array([2.0])

    def holder(gain):
        mine = Mine((one, "x"))
        mine.spare, mine.gain = other, gain
        return mine

    assert identity(holder(one)) != identity(holder(other))

    def make(value):
        return type("Made", (), {"value": lambda self: value})

    A, B = make(1.0), make(2.0)
    assert identity([A(), B(), A()]) != identity([A(), B(), B()])


def test_classes_of_exec_are_not_builtins():
    spaces = [{}, {}]
    for value, space in enumerate(spaces):
        exec(f"class Step:\n    def value(self): return {value}", space)
    one, other = (space["Step"]() for space in spaces)
    assert identity(one) != identity(other)
    assert identity(one).everywhere is None


def test_what_a_module_has_counts(monkeypatch):
    settings = types.ModuleType("settings")
    settings.gain = 1.0
    monkeypatch.setitem(globals(), "settings", settings)
    before = identity(by_module)
    settings.gain = 2.0
    assert identity(by_module) != before


def by_module(q):
    return settings.gain * q  # noqa: F821


def test_code_that_is_replaced_in_place_counts():
    def one(q):
        return q

    def other(q):
        return 2 * q

    before = identity(one)
    one.__code__ = other.__code__
    assert identity(one) != before
    one.gain = 3.0
    assert identity(one) != before


def test_subclasses_of_containers_are_more_than_their_items():
    class Table(dict):
        pass

    one, other = Table(a=1), Table(a=1)
    other.gain = 2.0
    assert identity(one) != identity(other)
    assert identity(one) != identity({"a": 1})


def test_a_class_of_ours_that_was_changed_is_not_ours(monkeypatch):
    before = identity(Plane())
    monkeypatch.setattr(Plane, "height", lambda self, p: (p.z, None))
    assert identity(Plane()) != before
    assert identity(Plane()).everywhere is None
    monkeypatch.undo()
    assert identity(Plane()) == before
    changed = Plane()
    object.__setattr__(changed, "height", lambda p: None)
    assert identity(changed) != before


def test_a_class_of_ours_whose_attribute_got_another_name_is_not_ours():
    before = identity(Box())
    name, value = list(vars(Box).items())[-1]
    delattr(Box, name)
    try:
        Box.another = value
        assert identity(Box()).everywhere is None
        del Box.another
    finally:
        setattr(Box, name, value)
    assert identity(Box()) == before


def test_what_may_change_unseen_is_good_for_the_moment_alone():
    assert identity(Mine(1.0)).settled
    assert identity(Mine(threading.Lock())).settled  # no numbers in there
    assert not identity(Mine(itertools.count())).settled
    odd = type("Odd", (fw.joints.Revolute,), {"source": itertools.count()})("x")
    robot = fw.Builder("odd").add_body("b", joint=odd, inertia=fw.Inertia.sphere(1.0, 0.1)).build()
    assert not identity(robot).settled  # which asks the robot for what it knows of itself


def test_whole_numbers_of_any_length_differ():
    assert identity(10**5000) != identity(10**5000 + 1)


def test_odd_objects_are_taken():
    class Unhashable(type):
        __hash__ = None

    class Raising:
        def __repr__(self):
            raise RuntimeError

    odd = Unhashable("Odd", (), {})
    identity(odd, odd(), {Raising()}, re.compile("x"), sys.stdout, object(), iter([1]), Ellipsis)


def test_circles_and_depth_come_to_an_end():
    one, other = Mine(None), Mine(None)
    one.number, other.number = other, one
    assert identity(one) == identity(one)
    deep = 1.0
    for _ in range(5000):
        deep = (deep, "x")
    assert identity(deep) == identity(deep)
    assert not identity(deep).settled  # what is deeper may change


def test_ours_is_what_is_found_in_the_package():
    class Claims(Surface):
        pass

    Claims.__module__ = "featherweight.contact.surfaces"
    assert is_ours(Plane)
    assert not is_ours(Claims)
    assert identity(Claims()).everywhere is None
