"""Rollouts that are asked for again are prepared: they see every number that has changed, and have the same bits."""

import copy
import pickle
import threading
import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.identity import Fields
from featherweight.simulation import prepared, running

DT, STEPS = 2e-3, 4


def walker(stop: float = 0.8, leg: float = 0.4) -> fw.Model:
    """A floating ball with a leg that has limits, and two feet; the mass of the leg is a parameter."""
    builder = fw.Builder("walker", parameters=("leg.mass",))
    builder.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(2.0, 0.1))
    inertia = fw.Inertia(leg, (0.0, 0.0, -0.1), np.diag([2e-3, 2e-3, 1e-4]))
    builder.add_body("leg", parent="trunk", joint=fw.joints.Revolute((0, 1, 0)), inertia=inertia, damping=0.05,
                     limits=fw.Limits(-stop, stop), placement=fw.Placement((0.0, 0.0, -0.1)))  # fmt: skip
    for name, y in (("left", 0.1), ("right", -0.1)):
        builder.add_contact_point(name, parent="leg", position=(0.0, y, -0.2))
    return builder.build()


MODEL = walker()
IMPULSES, SPRINGS = fw.contact.Impulse(friction=0.5), fw.contact.SpringDamper(stiffness=5e3, damping=50.0)
FORCES = np.linspace(-0.3, 0.3, STEPS * 7).reshape(STEPS, 7)
WRENCHES = np.linspace(-0.3, 0.3, 18).reshape(3, 6)


def states(*batch: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(batch))
    q, v = np.tile(MODEL.neutral(), (*batch, 1)), 0.3 * rng.normal(size=(*batch, 7))
    q[..., 2], v[..., 0], v[..., 2] = 0.299, 1.0, -0.3
    return q, v


def once(model: fw.Model, q: Any, v: Any, **others: Any) -> fw.Trajectory:
    return fw.rollout(model, q, v, **{"steps": STEPS, "dt": DT, **others})


def asked(model: fw.Model, q: Any, v: Any, **others: Any) -> fw.Trajectory:
    """Twice: the second of its kind is prepared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once(model, q, v, **others)
    return once(model, q, v, **others)


def long_way(model: fw.Model, q: Any, v: Any, **others: Any) -> fw.Trajectory:
    """What is asked for with parameters, if with none, is never prepared."""
    return once(model, q, v, parameters={}, **others)


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()


def same(a: fw.Trajectory, b: fw.Trajectory) -> bool:
    """All fields, to the bit."""
    for name in (f.name for f in fields(fw.Trajectory)):
        x, y = getattr(a, name), getattr(b, name)
        if isinstance(x, np.ndarray):
            if not same_bits(x, y):
                return False
        elif isinstance(x, dict) and x:
            if list(x) != list(y) or not all(map(same_bits, x.values(), y.values())):
                return False
        elif x is not y and x != y:
            return False
    return repr(a) == repr(b)


@pytest.fixture
def short_way(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From when it is called, nothing but what is prepared may be run."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("not prepared")

    return lambda: monkeypatch.setattr(running, "problem", refuse)


SETUPS: dict[str, dict[str, Any]] = {
    "free": {},
    "forces": {"tau": FORCES, "contact": IMPULSES},
    "wrenches": {"f_ext": WRENCHES, "contact": IMPULSES, "integrator": "variational"},
    "both": {"f_ext": np.stack([WRENCHES] * STEPS), "tau": FORCES, "limits": False},
    "springs": {"contact": SPRINGS, "record_every": 2, "record": "last"},
    "constraints": {"constraints": [fw.constraints.DryFriction()], "contact": IMPULSES},
    "motors": {"tau": FORCES, "actuators": fw.actuators.DCMotor([0.0] * 6 + [6.0], 0.05, 0.2, 24.0, 3.0)},
}


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("name", SETUPS)
def test_a_prepared_rollout_has_the_bits_of_any_other(name: str, batch: tuple[int, ...], short_way: Any) -> None:
    (q, v), setup = states(*batch), SETUPS[name]
    first, expected = asked(MODEL, q, v, **setup), long_way(MODEL, q, v, **setup)
    other = long_way(MODEL, q, 2 * v, **setup)
    short_way()
    assert same(first, expected)
    assert same(asked(MODEL, q, 2 * v, **setup), other)
    assert same(asked(MODEL, q, v, **setup), expected)
    assert not same(other, expected)


def test_each_number_that_is_changed_is_seen() -> None:
    """One thing at a time, in the place where it was; then it is changed back."""
    q, v = states()
    tau, f_ext = FORCES.copy(), WRENCHES.copy()

    def compare(model: fw.Model = MODEL, **others: Any) -> fw.Trajectory:
        setup = {"tau": tau, "f_ext": f_ext, "contact": IMPULSES, **others}
        twice = [asked(model, q, v, **setup) for _ in range(2)]
        expected = long_way(model, q, v, **setup)
        assert all(same(made, expected) for made in twice)
        return expected

    usual = compare()
    for array in (q, v, tau, f_ext):
        before = array.copy()
        array.reshape(-1)[-1] += 0.01
        assert not same(compare(), usual)
        array[...] = before
        assert same(compare(), usual)
    variants: list[dict[str, Any]] = [
        {"contact": fw.contact.Impulse(friction=0.05)}, {"dt": 1e-3}, {"steps": STEPS - 1, "tau": FORCES[1:]},
        {"record_every": 2}, {"integrator": "variational"}, {"model": walker(leg=0.5)}, {"contact": None},
        {"model": MODEL.with_scaled_mass(1.1)}, {"actuators": fw.actuators.DCMotor(6.0, 0.05, 0.2, 1e-3, 3.0)},
        {"constraints": fw.constraints.DryFriction()},
        {"model": MODEL.with_payload("leg", fw.Inertia.sphere(0.3, 0.05))},
    ]  # fmt: skip
    for variant in variants:
        changed = compare(**variant)
        assert "constraints" in variant or not same(changed, usual), variant
        assert same(compare(), usual)


def test_fields_that_are_forced_to_change_are_seen() -> None:
    """Contact models are frozen; what gets around that is seen, too, at any depth."""
    q, v = states()
    plane = fw.contact.Plane()
    contact = fw.contact.Impulse(ground=plane, friction=0.5)
    usual = asked(MODEL, q, v, contact=contact)
    for thing, name, value in ((contact, "friction", 0.01), (plane, "friction", 0.02), (plane, "restitution", 0.9)):
        before = getattr(thing, name)
        object.__setattr__(thing, name, value)
        made = asked(MODEL, q, v, contact=contact)
        assert same(made, asked(MODEL, q, v, contact=contact))
        own = {"friction": 0.5, **({"friction": 0.01} if thing is contact else {})}
        ground = fw.contact.Plane(**{name: value}) if thing is plane else plane
        expected = asked(MODEL, q, v, contact=fw.contact.Impulse(ground=ground, **own))
        assert made.q.tobytes() == expected.q.tobytes() != usual.q.tobytes(), name
        object.__setattr__(thing, name, before)
    assert same(asked(MODEL, q, v, contact=contact), usual)


def test_what_can_change_inside_is_not_taken_for_fixed() -> None:
    """A number in an array without axes is an input of compiled code, and may be another one next time."""
    speed = np.array(0.5)
    limit = fw.constraints.JointLimit(recovery_speed=speed)  # type: ignore[arg-type]
    q, v = states()
    q[7], v[...] = 1.0, 0.0

    def end() -> float:
        made = fw.rollout(MODEL, q, v, steps=10, dt=DT, limits=False, constraints=limit)
        return float(made.v[1, 6])

    slow = [end() for _ in range(3)][-1]  # one that were prepared would be run again
    speed[...] = 5.0
    assert (slow, end()) == (-0.5, -5.0)
    assert not Fields([limit]).fixed
    assert Fields([IMPULSES, fw.contact.Heightfield(np.zeros((3, 3)), 0.1)]).fixed


def test_lists_of_constraints_are_known_by_what_is_in_them() -> None:
    q, v = states()
    v[6] = 3.0
    given: list[Any] = []
    free = asked(MODEL, q, v, constraints=given)
    given.append(fw.constraints.JointLimit(slop=-1.0))
    assert not same(asked(MODEL, q, v, constraints=given, limits=False), free)
    given.clear()
    assert same(asked(MODEL, q, v, constraints=given), free)


def test_gains_and_parameters_are_seen() -> None:
    q, v = states()
    own = fw.compiled(lambda t, q, v, x, p: (p[0] * v, x), parameters=[-0.1])
    made = [asked(MODEL, q, v, control=own.with_parameters([gain])).q[-1, 7] for gain in (-0.1, -0.2, -0.1)]
    assert made[0] == made[2] != made[1]
    made = [asked(MODEL, q, v, parameters={"leg.mass": mass}).q[-1, 7] for mass in (0.4, 0.5, 0.4)]
    assert made[0] == made[2] == asked(MODEL, q, v).q[-1, 7] != made[1]


GAIN, TABLE, CELL = 0.3, np.array([0.1, 0.2]), [0.4]


def leaning(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
    """A controller with a state and parameters, which refers to a number, an array and a list."""
    tau = [p[0] * v[k] + GAIN * TABLE[k % 2] * x[0] for k in range(7)]
    return tau, [x[0] + CELL[0] * p[1]], {"push": tau[0]}


LEANING = fw.compiled(leaning, state=[0.1], parameters=[-0.2, 0.5], outputs=["push"])


def fresh(model: fw.Model, q: Any, v: Any, **others: Any) -> fw.Trajectory:
    """The first of its kind is never prepared: by a model like this one, that has computed nothing."""
    return replace(once(copy.copy(model), q, v, **others), model=model)


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("contact", [None, IMPULSES])
def test_prepared_rollouts_with_a_controller_and_parameters(
    batch: tuple[int, ...], contact: Any, short_way: Any
) -> None:
    """A controller's numbers and the model's constants: for all robots, or for each its own."""
    (q, v), rng = states(*batch), np.random.default_rng(0)
    many = rng.uniform(0.1, 0.5, (*batch, 2)), {"leg.mass": rng.uniform(0.3, 0.6, batch)}
    setups: list[dict[str, Any]] = []
    for p, parameters in (([-0.1, 0.4], {"leg.mass": 0.5}), many, (many[0], None)):
        for control in (LEANING.with_parameters(p), LEANING.with_parameters(p).with_state([0.3])):
            setups.append({"control": control, "parameters": parameters, "contact": contact})
    setups.append({"parameters": many[1], "contact": contact})
    expected = [fresh(MODEL, q, v, **setup) for setup in setups]
    for setup in setups:
        asked(MODEL, q, v, **setup)
    short_way()
    for _ in range(2):
        for setup, known in zip(setups, expected, strict=True):
            made = asked(MODEL, q, v, **setup)
            assert same(made, known)
            made.outputs.clear()  # type: ignore[attr-defined]
            for value in made.parameters.values():
                value[...] = -1.0


def test_each_thing_that_a_controller_refers_to_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    q, v = states()
    usual = fresh(MODEL, q, v, control=LEANING)

    def compare(control: fw.simulation.control.Compiled) -> bool:
        """Is it what it was at first? And is it right?"""
        made, expected = asked(MODEL, q, v, control=control), fresh(MODEL, q, v, control=control)
        assert same(made, expected)
        return same(made, usual)

    assert compare(LEANING)
    for control in (LEANING.with_state([0.2]), LEANING.with_parameters([-0.3, 0.5]), replace(LEANING, every=2)):
        assert not compare(control)
        assert compare(LEANING)
    for thing in (TABLE, CELL, LEANING.state, LEANING.parameters):
        before, thing[0] = thing[0], 0.7
        assert not compare(LEANING)
        thing[0] = before
        assert compare(LEANING)
    monkeypatch.setitem(globals(), "GAIN", 0.9)
    assert not compare(LEANING)


@pytest.mark.parametrize("mass", [-1.0, np.nan, np.inf])
def test_constants_that_no_model_has_are_refused_as_ever(mass: float) -> None:
    q, v = states()
    asked(MODEL, q, v, parameters={"leg.mass": 0.5})
    for given in (mass, np.array(mass)):
        with pytest.raises(ValueError, match=r"leg\.mass"):
            asked(MODEL, q, v, parameters={"leg.mass": given})
    with pytest.raises(ValueError, match="was not declared"):
        asked(MODEL, q, v, parameters={"leg.mas": 0.5})
    assert not same(asked(MODEL, q, v, parameters={"leg.mass": 0.5}), asked(MODEL, q, v))


def test_a_bad_state_is_marked_and_the_next_one_is_good() -> None:
    q, v = states(3)
    usual = asked(MODEL, q, v, contact=IMPULSES)
    for place, value in (((1, 7), np.nan), ((1, 3), 2.0), ((0, 0), np.inf)):
        bad = q.copy()
        bad[place] = value
        made = asked(MODEL, bad, v, contact=IMPULSES)
        assert same(made, long_way(MODEL, bad, v, contact=IMPULSES))
        assert made.status.tolist() == [4 if lane == place[0] else 0 for lane in range(3)]
        assert same(asked(MODEL, q, v, contact=IMPULSES), usual)
    fast = v.copy()
    fast[2, 3:6] = 1e150
    assert same(asked(MODEL, q, fast, contact=IMPULSES), long_way(MODEL, q, fast, contact=IMPULSES))


def test_warnings_come_each_time_and_name_the_users_line() -> None:
    q, v = states()
    asked(MODEL, q, v)
    q[7] = 0.9
    for _ in range(3):
        with pytest.warns(UserWarning, match="begin beyond their limits") as told:
            fw.rollout(MODEL, q, v, steps=STEPS, dt=DT)
        assert told[0].filename == __file__
    q[7], v[6] = 0.799, 3.0
    arguments: dict[str, Any] = {"steps": STEPS, "dt": DT, "integrator": "rk4"}
    for _ in range(2):
        with pytest.warns(UserWarning, match="is beyond its limits") as told:
            fw.rollout(walker(), q, v, **arguments)
        assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v[6] = -3.0
        fw.rollout(walker(), q, v, **arguments)
    builder, ball = fw.Builder("swing"), fw.Inertia.sphere(1.0, 0.1, (0.0, 0.0, -1.0))
    free = builder.add_body("bob", joint=fw.joints.Revolute("y"), limits=fw.Limits(-0.8, 0.8), inertia=ball).build()
    for _ in range(3):  # the third one is repeated
        fw.rollout(free, np.zeros(1), np.ones(1), **arguments)
    assert list(map(type, free.cache.rollouts.values())) == [prepared.Prepared]
    with pytest.warns(UserWarning, match="is beyond its limits"):
        fw.rollout(free, np.full(1, 0.799), np.ones(1), **arguments)
    stiff = fw.contact.SpringDamper(stiffness=1e9)
    for _ in range(2):
        with pytest.warns(UserWarning, match="too long"):
            asked(MODEL, *states(), contact=stiff)


@pytest.mark.parametrize(
    ("given", "name"),
    [({"steps": True}, "steps"), ({"steps": 4.0}, "steps"), ({"record_every": True}, "record_every"),
     ({"limits": 1}, "limits"), ({"record": ["first"]}, "record"), ({"dt": "x"}, "dt"), ({"contact": 1}, "contact"),
     ({"q": np.zeros(8, dtype=complex)}, "q"), ({"tau": np.zeros((3, 7))}, "tau"), ({"model": 3}, "model")],
)  # fmt: skip
def test_bad_arguments_are_named_as_ever(given: dict[str, Any], name: str) -> None:
    q, v = states()
    asked(MODEL, q, v, steps=1)
    asked(MODEL, q, v)
    arguments: dict[str, Any] = {"model": MODEL, "q": q, "v": v, "steps": STEPS, "dt": DT, **given}
    if given == {"steps": True}:
        arguments["record_every"] = 1
    with pytest.raises((ValueError, TypeError), match=name):
        fw.rollout(**arguments)


def test_trajectories_are_whole_and_own_their_memory(tmp_path: Any) -> None:
    q, v = states()
    arguments: dict[str, Any] = {"contact": IMPULSES, "tau": FORCES}
    expected = long_way(MODEL, q, v, **arguments)
    first, second = asked(MODEL, q, v, **arguments), asked(MODEL, q, v, **arguments)
    for other in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first), copy.copy(first), replace(first)):
        assert other.q.tobytes() == expected.q.tobytes()
        assert np.array_equal(other.t, expected.t)
    for name in ("t", "q", "v", "tau", "contact_force", "status", "failed_step"):
        own = getattr(first, name)
        assert own is getattr(first, name)
        assert own.flags.writeable
        own[...] = 1
    first.outputs["mine"] = q  # type: ignore[index]
    assert same(second, expected)
    assert same(asked(MODEL, q, v, **arguments), expected)
    second.save(tmp_path / "run.fw")
    assert np.array_equal(fw.Trajectory.load(tmp_path / "run.fw").q, expected.q)
    assert np.array_equal(second.energy(), expected.energy())
    with pytest.raises(AttributeError, match="'Trajectory' object has no attribute 'p'"):
        _ = second.p  # type: ignore[attr-defined]
    assert not hasattr(expected, "_make")


def test_threads_do_not_share_memory(short_way: Any) -> None:
    q, v = states()
    expected = [long_way(MODEL, q, k * v, contact=IMPULSES) for k in range(4)]
    asked(MODEL, q, v, contact=IMPULSES)
    short_way()
    good = [0] * 4

    def work(k: int) -> None:
        for _ in range(200):
            good[k] += same(asked(MODEL, q, k * v, contact=IMPULSES), expected[k])

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert good == [200] * 4
    with fw.threads(1):
        assert same(asked(MODEL, q, v, contact=IMPULSES), expected[1])


def test_simulate_is_prepared_too_and_takes_no_batch(short_way: Any) -> None:
    q, v = states()
    many = states(1)
    expected = long_way(MODEL, q, v)
    asked(MODEL, *many)
    with pytest.raises(ValueError, match="expected one state, got a batch"):
        fw.simulate(MODEL, *many, duration=STEPS * DT, dt=DT)
    asked(MODEL, q, v)
    short_way()
    assert same(fw.simulate(MODEL, q, v, duration=STEPS * DT, dt=DT), expected)


def test_ctrl_c_ends_it_as_ever(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    q, v = states()
    asked(MODEL, q, v)

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(prepared.Prepared, "run", interrupted)
    made = asked(MODEL, q, v)
    assert not made.complete
    assert len(made.t) == 1
    assert "interrupted at t = 0 s" in caplog.text


def test_interpreted_rollouts_are_not_prepared(short_way: Any) -> None:
    q, v = states()
    asked(MODEL, q, v)
    short_way()
    with fw.interpret(), pytest.raises(AssertionError, match="not prepared"):
        asked(MODEL, q, v)


def test_few_are_kept_and_small_ones_only() -> None:
    model = walker()
    q, v = states()
    for k in range(1, prepared.MOST_KEPT + 5):
        asked(model, q, v, steps=k)
    assert len(model.cache.rollouts) == prepared.MOST_KEPT
    before = set(model.cache.rollouts)
    asked(model, q, v, steps=2000)
    asked(model, q, v, steps=6, record="mean", record_every=3)
    asked(model, q, v, control=lambda t, q, v: 0 * v)
    assert set(model.cache.rollouts) == before


def test_an_object_that_becomes_of_another_kind_is_seen() -> None:
    class Still(fw.integrators.SemiImplicit):
        def finish(self, tree: Any, motion: Any, v: Any, h: Any) -> Any:
            return list(motion.q), list(v)

    (q, v), method = states(), fw.integrators.SemiImplicit()
    usual = asked(MODEL, q, v, integrator=method)
    object.__setattr__(method, "__class__", Still)
    assert not same(asked(MODEL, q, v, integrator=method), usual)
