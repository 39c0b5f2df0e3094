"""`Stepper`: however a run is cut, its bits are those of one `rollout`; and bad calls change nothing."""

import copy
import os
import pickle
import sys
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import featherweight as fw

DT, STEPS, COUNT = 2e-3, 60, 11


def hopper() -> fw.Model:
    """A ball on a leg with two feet that floats above the ground; the mass of a foot is a parameter."""
    builder = fw.Builder("hopper", parameters=("leg.mass",))
    builder.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(2.0, 0.1))
    placement = fw.Placement((0.0, 0.0, -0.1))
    inertia = fw.Inertia(0.4, (0.0, 0.0, -0.1), np.diag([2e-3, 2e-3, 1e-4]))
    builder.add_body("leg", parent="trunk", joint=fw.joints.Revolute((0, 1, 0)), placement=placement, inertia=inertia,
                     damping=0.05, limits=fw.Limits(-0.3, 0.3))  # fmt: skip
    for name, y in (("left", 0.1), ("right", -0.1)):
        builder.add_contact_point(name, parent="leg", position=(0.0, y, -0.2))
    return builder.build()


def swing(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
    """A controller with a memory: it adds up what it sees."""
    tau = 0 * v
    tau[6] = p[0] * fw.scalar.sin(20 * t) - 0.1 * v[6] + x[0]
    return tau, np.array([0.9 * x[0] + 0.01 * q[2], x[1] + 1.0])


def push(t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """An ordinary Python controller, of one or many; each at its own time."""
    tau = -0.2 * v
    tau[..., 6] += np.cos(20 * np.asarray(t))
    return tau


MODEL = hopper()
SPRINGS, IMPULSES = fw.contact.SpringDamper(), fw.contact.Impulse()
COMPILED = fw.compiled(swing, state=[0.0, 0.0], parameters=[0.5])
SETUPS: dict[str, dict[str, Any]] = {
    "free": {},
    "rk4": {"integrator": "rk4", "contact": SPRINGS},
    "springs": {"contact": SPRINGS, "control": COMPILED},
    "impulses": {"contact": IMPULSES, "control": COMPILED},
    "variational": {"contact": IMPULSES, "integrator": "variational"},
    "variational free": {"integrator": "variational", "control": COMPILED},
    "python": {"contact": IMPULSES, "control": push},
    "wrenches": {"contact": IMPULSES, "f_ext": np.linspace(-0.3, 0.3, 18).reshape(3, 6)},
}


def beginning(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States, one of them no state and one so fast that it fails on the way, and masses."""
    rng = np.random.default_rng(seed)
    q, v = np.tile(MODEL.neutral(), (COUNT, 1)), rng.normal(size=(COUNT, MODEL.nv)) * 0.3
    q[:, 2] = 0.35 + 0.05 * rng.random(COUNT)
    q[1, 7], v[2, 3:6] = np.nan, 1e150
    return q, v, rng.uniform(0.3, 0.6, COUNT)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def whole_runs(name: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, fw.Trajectory]]:
    """Three beginnings, and what one rollout of all steps makes of each."""
    runs = []
    for seed in range(3):
        q, v, mass = beginning(seed)
        setup, given = dict(SETUPS[name]), {}
        if "control" not in setup:
            given = {"tau": np.tile(TAU, (STEPS, 1))}
        whole = fw.rollout(MODEL, q, v, steps=STEPS, dt=DT, parameters={"leg.mass": mass}, **given, **setup)
        runs.append((q, v, mass, whole))
    return runs


TAU = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2])


@pytest.mark.filterwarnings("ignore:.*beyond its limits")
@pytest.mark.parametrize("name", SETUPS)
def test_any_cutting_has_the_bits_of_one_rollout(name: str) -> None:
    """200 programs in all: steps of all and of some, rollouts, detours that are taken back, resets, copies, pickles."""
    runs = whole_runs(name)
    for seed in range(25):
        q, v, mass, whole = runs[seed % 3]
        rng = np.random.default_rng(1000 + seed)
        sim = fw.Stepper(MODEL, q, v, dt=DT, parameters={"leg.mass": mass}, **SETUPS[name])
        if "control" not in SETUPS[name]:
            sim.tau = TAU
        while sim.t.max() < (STEPS - 8.5) * DT:
            sim = one_act(sim, rng, whole)
        compare(sim, whole)


def one_act(sim: fw.Stepper, rng: np.random.Generator, whole: fw.Trajectory) -> fw.Stepper:
    """One of the things that may be done with a stepper."""
    act, n = rng.integers(7), int(rng.integers(1, 9))
    if act == 0:
        sim.step(n)
    elif act == 1:
        sim.step(n, ids=rng.permutation(COUNT)[: rng.integers(0, COUNT)])
    elif act == 2:
        before, began = sim.t.round(9), np.round(sim.t / DT).astype(int)
        every = int(rng.choice([k for k in range(1, n + 1) if n % k == 0]))
        made = sim.rollout(n, record_every=every)
        assert np.isclose(made.t[0], before[0])
        for lane in range(COUNT):
            kept = np.arange(0, n + 1, every) + began[lane]
            assert same(made.q[lane], whole.q[lane, kept])
            assert same(made.v[lane], whole.v[lane, kept])
            assert same(made.contact_force[lane], whole.contact_force[lane, kept[:-1]])
    elif act == 3:
        kept = sim.state()
        sim.step(n)
        sim.load(kept)
    elif act == 4:
        ids = rng.permutation(COUNT)[: rng.integers(0, 3)]
        rows = sim.state()[ids]
        sim.step(n, ids=ids)
        sim.load(rows, ids)
    elif act == 5 and rng.random() < 0.5:
        sim.reset(rng.random(COUNT) < 0.2)
    else:
        sim = pickle.loads(pickle.dumps(sim)) if rng.random() < 0.5 else copy.deepcopy(sim)
    return sim


def compare(sim: fw.Stepper, whole: fw.Trajectory) -> None:
    """Each robot is where one rollout has it after as many steps; where it had failed, it stands still."""
    for lane, k in enumerate(np.round(sim.t / DT).astype(int)):
        failed = int(whole.failed_step[lane])
        if 0 <= failed < k:
            assert (sim.status[lane], sim.failed_step[lane]) == (whole.status[lane], failed)
            k = failed if failed else 0
            if whole.status[lane] == fw.Status.BAD_INPUT:
                continue
            assert np.isfinite(sim.q[lane]).all()
        else:
            assert sim.status[lane] == (whole.status[lane] if whole.status[lane] == fw.Status.BAD_INPUT else 0)
            if sim.status[lane] == 0:
                assert same(sim.q[lane], whole.q[lane, k])
                assert same(sim.v[lane], whole.v[lane, k])


def small(**others: Any) -> fw.Stepper:
    return fw.Stepper(fw.robots.double_pendulum(), [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], dt=DT, **others)


def test_views_are_live_and_what_is_written_acts() -> None:
    sim = small()
    q, before = sim.q, sim.q.copy()
    sim.tau[1] = [3.0, 0.0]
    sim.step(5)
    assert q is sim.q or np.shares_memory(q, sim.q)
    assert (q != before).all()
    other = small()
    other.step(5)
    assert same(other.q[[0, 2]], q[[0, 2]])
    assert (other.q[1] != q[1]).any()
    sim.v = 0.0
    assert not sim.v.any()


@pytest.mark.parametrize("where", ["q", "v", "tau"])
def test_what_is_no_number_stops_its_lane_alone(where: str) -> None:
    sim, other = small(), small()
    getattr(sim, where)[1, 0] = np.nan
    sim.step(3)
    other.step(3)
    expected = fw.Status.BAD_CONTROL if where == "tau" else fw.Status.BAD_INPUT
    assert sim.status.tolist() == [0, expected, 0]
    assert sim.failed_step.tolist() == [-1, 0, -1]
    assert same(sim.q[[0, 2]], other.q[[0, 2]])
    sim.tau = 0.0
    sim.reset([1])
    sim.step(3, ids=[1])
    assert same(sim.q, other.q)
    assert not sim.status.any()


def test_a_quaternion_that_is_not_unit_and_a_negative_mass_are_found() -> None:
    sim = fw.Stepper(MODEL, count=4, dt=DT)
    sim.q[1, 3:7] *= 1.01
    sim.parameters["leg.mass"][2] = -0.1
    sim.f_ext[3, 1, 0] = np.inf
    sim.step()
    assert sim.status.tolist() == [0, *[fw.Status.BAD_INPUT] * 3]


@pytest.mark.parametrize(
    ("ids", "error"),
    [([0, 0], ValueError), ([3], IndexError), ([-1], IndexError), ([0.5], TypeError), ([[0]], TypeError),
     ([True, False], ValueError), ("0", TypeError)],
)  # fmt: skip
def test_bad_numbers_of_robots_change_nothing(ids: Any, error: type[Exception]) -> None:
    sim = small()
    before = sim.state()
    for call in (lambda: sim.step(1, ids), lambda: sim.reset(ids), lambda: sim.load(before, ids)):
        with pytest.raises(error, match="ids"):
            call()
    assert same(sim.state(), before)


def test_none_of_them_is_a_choice() -> None:
    sim = small()
    before = sim.state()
    sim.step(1, ids=[])
    sim.reset(np.zeros(3, dtype=bool))
    assert same(sim.state(), before)


@pytest.mark.parametrize("n", [0, -1, 1.0, True, "1"])
def test_bad_numbers_of_steps(n: Any) -> None:
    with pytest.raises(ValueError, match="n: expected a whole number"):
        small().step(n)


def test_bad_states_are_refused() -> None:
    sim = small()
    before = sim.state()
    for state in (before[:, :-1], before[:2], before[None]):
        with pytest.raises(ValueError, match="state"):
            sim.load(state)
    for column, number in ((0, np.nan), (0, -5.0), (1, 77.0), (2, 0.5)):
        forged = before.copy()
        forged[1, sim.layout["clock"].start + column] = number
        with pytest.raises(ValueError, match=r"state: expected rows as .* got the clock"):
            sim.load(forged)
    with pytest.raises(ValueError, match="q: expected shape"):
        sim.reset(q=np.zeros((2, 2)))
    assert same(sim.state(), before)


@pytest.mark.parametrize(
    "given",
    [{"count": 0}, {"v": np.zeros((2, 2))}, {"v": np.zeros((1, 3, 2))}, {"dt": 0.0}, {"contact": 3}],
)
def test_bad_arguments_are_named(given: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"q": np.zeros((3, 2)), "dt": DT, **given}
    with pytest.raises((ValueError, TypeError), match=next(iter(given))):
        fw.Stepper(fw.robots.double_pendulum(), **arguments)


def test_a_misspelt_name_is_not_taken() -> None:
    sim = fw.Stepper(MODEL, dt=DT, control=COMPILED)
    with pytest.raises(AttributeError, match="a Stepper has no 'taus'; did you mean 'tau'"):
        sim.taus = 1.0  # type: ignore[attr-defined]


def test_forces_of_a_controller_are_not_to_be_written() -> None:
    sim = fw.Stepper(MODEL, dt=DT, control=COMPILED)
    sim.step(4)
    with pytest.raises(AttributeError, match="controller"):
        sim.tau = 0.0
    with pytest.raises(ValueError, match="read-only"):
        sim.tau[:] = 0.0
    assert sim.tau[0, 6] != 0.0
    assert sim.x[0, 1] == 4.0


def test_parameters_of_a_controller_are_views() -> None:
    sim = fw.Stepper(MODEL, count=2, dt=DT, control=COMPILED)
    sim.p[1] = 2.0
    sim.step(10)
    one = fw.rollout(MODEL, MODEL.neutral(), np.zeros(7), steps=10, dt=DT,
                     control=fw.compiled(swing, state=[0.0, 0.0], parameters=[2.0]))  # fmt: skip
    assert same(sim.q[1], one.q[-1])
    assert (sim.q[0] != sim.q[1]).any()


def test_two_threads_at_once_are_refused() -> None:
    """The first is in a Python controller when the second comes."""
    inside, go_on = threading.Event(), threading.Event()

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        inside.set()
        go_on.wait(10)
        return np.zeros_like(v)

    sim = small(control=control)
    worker = threading.Thread(target=sim.step)
    worker.start()
    inside.wait(10)
    try:
        for call in (sim.step, sim.state, sim.reset, lambda: sim.rollout(1)):
            with pytest.raises(RuntimeError, match="another thread"):
                call()
    finally:
        go_on.set()
        worker.join()
    assert sim.t.tolist() == [DT] * 3


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of Python 3.12 and later, where there are threads
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_goes_its_own_way() -> None:
    sim, other = small(), small()
    sim.step(3)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        sim.step(20)
        os.write(writer, sim.q.tobytes())
        os._exit(0)
    found = np.frombuffer(os.read(reader, 10_000)).reshape(3, 2)
    os.waitpid(child, 0)
    other.step(23)
    assert same(found, other.q)
    sim.step(20)
    assert same(sim.q, other.q)


def test_a_controller_that_raises_leaves_whole_steps() -> None:
    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 2.5 * DT:
            raise ZeroDivisionError("enough")
        return np.zeros_like(v)

    sim, other = small(control=control), small()
    with pytest.raises(fw.SimulationError, match=r"ZeroDivisionError at t = 0\.006 s: enough"):
        sim.step(10)
    other.step(3)
    assert same(sim.q, other.q)
    assert sim.t.tolist() == other.t.tolist()


def test_single_precision_copies_lead_and_follow() -> None:
    sim, other = small(), small()
    q, tau = sim.view("q"), sim.view("tau")
    assert q.dtype == np.float32
    assert q is sim.view("q")
    tau[0] = [0.5, -0.25]
    other.tau[0] = [0.5, -0.25]
    sim.step(4)
    other.step(4)
    assert same(sim.q, other.q)
    assert same(q, other.q.astype(np.float32))
    sim.reset()
    assert same(q, np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], dtype=np.float32))
    with pytest.raises(ValueError, match="view: expected one of"):
        sim.view("t")


@pytest.mark.parametrize("control", [None, push, COMPILED], ids=["none", "python", "compiled"])
@pytest.mark.parametrize("count", [1, 5, 300])
def test_single_precision_copies_are_those_of_numpy(count: int, control: Any) -> None:
    """Of all views, also where rows are not in one piece, where threads step, and where some robots do."""
    sim = fw.Stepper(MODEL, count=count, dt=DT, contact=IMPULSES, control=control)
    sim.q[:, 2], sim.v[:, 4] = 0.3, np.linspace(-1.0, 1.0, count)
    sim.q[0, 0] = 1e300  # too large for it: infinite
    names = ["q", "v", "x", "contact_force"] + (["tau", "p"] if control else ["p"])
    with np.errstate(over="ignore"):
        views = {name: sim.view(name) for name in names}
        for act in (lambda: sim.step(3), lambda: sim.step(2, ids=[count - 1]), lambda: sim.rollout(2), sim.reset):
            act()
            for name, view in views.items():
                assert same(view, getattr(sim, name).astype(np.float32)), name
                assert view.flags.c_contiguous
            assert np.isinf(views["q"][0, 0]) or act == sim.reset


def test_what_leads_in_single_precision_acts_exactly() -> None:
    sim, other = (fw.Stepper(MODEL, count=9, dt=DT, control=COMPILED) for _ in range(2))
    free, held = (fw.Stepper(MODEL, count=9, dt=DT) for _ in range(2))
    given = np.random.default_rng(3).normal(size=(9, 8)).astype(np.float32)
    sim.view("p")[...], free.view("tau")[...] = given[:, :1], given[:, 1:]
    other.p[...], held.tau[...] = given[:, :1], given[:, 1:]
    for a, b in ((sim, other), (free, held)):
        a.step(4)
        b.step(4)
        a.step(2, ids=[1, 3])
        b.step(2, ids=[1, 3])
        assert same(a.state(), b.state())
        assert same(a.rollout(3).q, b.rollout(3).q)


def test_views_share_their_memory_by_the_array_protocols() -> None:
    """What `torch.from_numpy` and other libraries stand on: the buffer, and DLPack."""
    sim = small()
    single = sim.view("q")
    shared = [np.asarray(memoryview(single)), np.from_dlpack(single), np.from_dlpack(sim.q)]
    address = single.__array_interface__["data"][0]
    for _ in range(2):
        sim.step(3)
        assert all(same(other, view) for other, view in zip(shared, (single, single, sim.q), strict=True))
    assert sim.view("q").__array_interface__["data"][0] == address


def test_views_share_their_memory_with_torch() -> None:
    torch = pytest.importorskip("torch")
    sim = small()
    q = torch.from_numpy(sim.q)
    sim.step(3)
    assert same(q.numpy(), sim.q)


@pytest.mark.parametrize("control", [None, push, COMPILED], ids=["none", "python", "compiled"])
@pytest.mark.parametrize("count", [1, 3])
def test_records_of_an_interval(count: int, control: Any) -> None:
    """The first or the last of its steps, or the mean of all, whatever chunks it is computed in."""
    q = np.tile(MODEL.neutral(), (count, 1))
    q[:, 2] = 0.3
    if count == 1:
        q = q[0]
    arguments: dict[str, Any] = {"steps": 24, "dt": DT, "contact": IMPULSES, "control": control}
    fine = fw.rollout(MODEL, q, np.zeros(7), **arguments)
    for record, expected in (
        ("first", fine.contact_force[..., ::6, :, :]),
        ("last", fine.contact_force[..., 5::6, :, :]),
        ("mean", sum(fine.contact_force[..., k::6, :, :] for k in range(6)) / 6),
    ):
        coarse = fw.rollout(MODEL, q, np.zeros(7), record_every=6, record=record, **arguments)
        assert same(coarse.contact_force, expected)
        assert same(coarse.q, fine.q[..., ::6, :])
        assert coarse.contact_force.any()


def test_wrenches_act_as_in_forward_dynamics() -> None:
    """One semi-implicit step from rest against the acceleration that forward dynamics has."""
    q = MODEL.neutral()
    f_ext = np.random.default_rng(4).normal(size=(3, 6))
    made = fw.rollout(MODEL, q, np.zeros(7), steps=1, dt=1e-6, f_ext=f_ext, limits=False)
    a = fw.forward_dynamics(MODEL, q, np.zeros(7), np.zeros(7), f_ext=f_ext)
    assert np.allclose(made.v[-1] / 1e-6, a, rtol=1e-4)
    steps = np.stack([f_ext, 0 * f_ext])
    made = fw.rollout(MODEL, q, np.zeros(7), steps=2, dt=1e-6, f_ext=steps, limits=False)
    b = fw.forward_dynamics(MODEL, made.q[1], made.v[1], fw.passive_force(MODEL, made.q[1], made.v[1]))
    assert np.allclose((made.v[2] - made.v[1]) / 1e-6, b, rtol=1e-4)


def test_controllers_see_contact_and_are_asked_now_and_then() -> None:
    """What a controller sees and gives, against the same run with a Python controller's eyes."""

    def control(t: Any, q: Any, v: Any, x: Any, p: Any, s: Any) -> Any:
        tau = 0 * v
        tau[6] = 0.01 * s.contact_force[0, 2] + 0.1 * s.touching[1] + s.dt * s.step
        return tau, np.array([x[0] + 1]), {"load": s.contact_force[:, 2], "cost": x[0] * s.touching[0]}

    def asked(every: int) -> fw.Trajectory:
        own = fw.compiled(
            control, state=[0.0], every=every, sees=("contact_force", "touching", "dt", "step"),
            outputs={"load": (2,), "cost": ()},
        )  # fmt: skip
        q = MODEL.neutral()
        q[2] = 0.305
        return fw.rollout(MODEL, q, np.zeros(7), steps=40, dt=DT, contact=IMPULSES, control=own)

    run, seldom = asked(1), asked(4)
    felt = np.concatenate([np.zeros((1, 2, 3)), run.contact_force[:-1]])
    touching = (felt != 0).any(axis=-1)
    assert touching.any()
    assert not touching.all()
    expected = 0.01 * felt[:, 0, 2] + 0.1 * touching[:, 1] + DT * np.arange(40)
    assert np.allclose(run.tau[:, 6], expected, rtol=1e-13, atol=1e-16)
    assert run.x[:, 0].tolist() == list(range(41))
    assert same(run.outputs["load"], felt[:, :, 2])
    assert same(run.outputs["cost"], np.arange(40) * touching[:, 0])
    assert seldom.x[:, 0].tolist() == [1.0 + (k - 1) // 4 if k else 0.0 for k in range(41)]
    held = seldom.tau.reshape(10, 4, 7)
    assert same(held, np.repeat(held[:, :1], 4, axis=1))
    assert len(np.unique(held[:, 0, 6])) == 10
    felt = np.concatenate([np.zeros((1, 2, 3)), seldom.contact_force[:-1]])[::4]
    assert same(seldom.outputs["load"][::4], felt[:, :, 2])


def with_outputs(count: int) -> fw.Stepper:
    """Hoppers whose controller tells of two things."""

    def control(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        return -p[0] * v, x, {"height": q[2], "rates": v[3:6]}

    own = fw.compiled(control, parameters=[0.1], outputs={"height": (), "rates": (3,)})
    return fw.Stepper(MODEL, count=count, dt=DT, control=own, contact=IMPULSES)


@pytest.mark.parametrize("count", [1, 3])
def test_outputs_of_the_last_step_are_views(count: int) -> None:
    sim = with_outputs(count)
    assert set(sim.outputs) == {"height", "rates"}
    sim.q[:, 2], sim.v[:, 4] = 0.3 + 0.1 * np.arange(count), 1.0
    seen, single = sim.outputs["height"], sim.view("rates")
    for _ in range(3):
        before, rates = sim.q[:, 2].copy(), sim.v[:, 3:6].copy()
        sim.step()
        assert same(seen, before)
        assert same(sim.outputs["rates"], rates)
        assert same(single, rates.astype(np.float32))
    sim.reset()
    assert not seen.any()
    assert not single.any()
    with pytest.raises(ValueError, match="p, height, rates, got 'reward'"):
        sim.view("reward")
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 1.0
    assert not small().outputs


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("record", ["first", "last", "mean"])
def test_after_a_rollout_views_show_what_was_kept_last(every: int, record: str) -> None:
    sim, other = with_outputs(3), with_outputs(3)
    for one in (sim, other):
        one.q[:, 2], one.v[:, 2] = 0.2, -1.0
    height = sim.view("height")
    made = sim.rollout(20, record_every=every, record=record)
    assert made.contact_force.any()
    for name in ("tau", "contact_force", "contact_slip", "penetration"):
        assert same(getattr(sim, name), getattr(made, name)[:, -1]), name
    assert same(height, made.outputs["height"][:, -1].astype(np.float32))
    other.step(20)
    if every == 1 or record == "last":
        assert same(sim.contact_force, other.contact_force)
        assert same(sim.outputs["rates"], other.outputs["rates"])


def test_a_trajectory_with_outputs_can_be_saved(tmp_path: Any) -> None:
    def control(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        return p[0] * v, x + q, {"speed": v[0]}

    own = fw.compiled(control, state=[0.0, 0.0], parameters=[-0.1], outputs=("speed",))
    model = fw.robots.double_pendulum()
    run = fw.rollout(model, [[0.1, 0.2], [0.3, 0.4]], np.zeros(2), steps=6, dt=DT, control=own)
    assert run.x.shape == (2, 7, 2)
    assert same(run.outputs["speed"], run.v[:, :-1, 0])
    run.save(tmp_path / "run.fw")
    fw.rollout(model, [[0.1, 0.2], [0.3, 0.4]], np.zeros(2), steps=6, dt=DT, control=own, file=tmp_path / "other.fw")
    for name in ("run.fw", "other.fw"):
        loaded = fw.Trajectory.load(tmp_path / name)
        assert same(loaded.x, run.x)
        assert same(loaded.outputs["speed"], run.outputs["speed"])
    one = run.lane(1)
    assert same(one.x, run.x[1])
    assert same(one.outputs["speed"], run.outputs["speed"][1])


def test_other_numbers_for_a_controller_trace_nothing() -> None:
    def control(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        return p[0] - 0.1 * v + 0 * x[0], x + 1

    model, own = fw.robots.double_pendulum(), fw.compiled(control, state=[0.0], parameters=[0.5])
    first = fw.rollout(model, [0.1, 0.2], np.zeros(2), steps=3, dt=DT, control=own)
    (loop,) = own.loops[model].values()
    other = fw.rollout(
        model, [0.1, 0.2], np.zeros(2), steps=3, dt=DT, control=own.with_parameters([2.0]).with_state([7.0])
    )
    assert list(own.loops[model].values()) == [loop]
    assert other.x[-1, 0] == 10.0
    assert (other.q[-1] != first.q[-1]).any()
    with pytest.raises(ValueError, match=r"parameters: expected shape \(…, 1\)"):
        own.with_parameters([1.0, 2.0])


@pytest.mark.parametrize(
    ("given", "error"),
    [({"every": 0}, "every"), ({"sees": ("smell",)}, "sees"), ({"sees": "dt"}, "sees"), ({"outputs": 3}, "outputs")],
)
def test_bad_controllers_are_named(given: dict[str, Any], error: str) -> None:
    with pytest.raises((ValueError, TypeError), match=error):
        fw.compiled(swing, **given)


def test_outputs_must_be_what_was_declared() -> None:
    model = fw.robots.double_pendulum()
    for outputs, message in (
        ({"a": (2,)}, r"declare it: outputs=\{'a': \(\)\}"),
        ({"b": ()}, "a dictionary of b, got a"),
    ):
        own = fw.compiled(lambda t, q, v, x, p: (v, x, {"a": q[0]}), outputs=outputs)
        with pytest.raises(fw.SimulationError, match=message):
            fw.rollout(model, [0.1, 0.2], np.zeros(2), steps=1, dt=DT, control=own)
    with pytest.raises(ValueError, match="sees contact, and there is none"):
        fw.rollout(MODEL, MODEL.neutral(), np.zeros(7), steps=1, dt=DT, control=fw.compiled(swing, sees=("touching",)))


@pytest.mark.parametrize("control", [None, COMPILED], ids=["none", "compiled"])
@pytest.mark.parametrize("count", [1, 40])
def test_steps_allocate_nothing(count: int, control: Any) -> None:
    """Neither Python nor NumPy asks for memory, but for small objects of the moment; native code never does."""
    sim = fw.Stepper(MODEL, count=count, dt=DT, contact=IMPULSES, control=control)
    sim.view("q"), sim.view("p")
    sim.step(3)
    tries = [_allocated(sim) for _ in range(3)]  # other threads of this process may allocate in one of them
    most, after, kept = (min(numbers) for numbers in zip(*tries, strict=True))
    assert most < 500
    assert after < 100
    assert kept < 10


def _allocated(sim: fw.Stepper) -> tuple[int, int, int]:
    """Of 200 calls: peak and rest of what is asked for [bytes], and blocks that stay."""
    tracemalloc.start()
    try:
        for _ in range(3):
            sim.step(2)
        blocks = sys.getallocatedblocks()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(200):
            sim.step(2)
        after, most = tracemalloc.get_traced_memory()
        return most - before, after - before, sys.getallocatedblocks() - blocks
    finally:
        tracemalloc.stop()


def test_a_trot_in_a_thousand_calls_ends_where_one_run_ends() -> None:
    """At 0.3 m/s, with all that contact, solver and controller remember."""
    scene = fw.scenes.trot(velocity=(0.3, 0.0, 0.0))
    whole = fw.rollout(scene.model, scene.q, scene.v, steps=2000, record_every=2000, **scene.means)
    sim = fw.Stepper(scene.model, scene.q, scene.v, **scene.means)
    for _ in range(1000):
        sim.step(2)
    assert same(sim.q[0], whole.q[-1])
    assert same(sim.v[0], whole.v[-1])
    assert sim.q[0, 0] > 0.3
