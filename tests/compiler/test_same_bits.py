"""Same bits always: one state or a batch, any lane, size, thread count, memory layout, cutting or float mode."""

import ctypes
import functools
from collections import Counter

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler import Argument, Kernel
from featherweight.compiler.native.library import Library
from featherweight.compiler.native.target import host
from featherweight.compiler.plan.steps import Chunk
from featherweight.dynamics.functions import FORWARD_DYNAMICS, INVERSE_DYNAMICS, MASS_MATRIX
from featherweight.dynamics.kinematics import FORWARD_KINEMATICS

COUNT = 4097


def branching_robot():
    """A floating trunk with four legs, equal in structure but not in numbers, and a slider askew."""
    rng = np.random.default_rng(7)

    def box(mass):
        return fw.Inertia.box(mass, rng.uniform(0.1, 0.3, 3), at=rng.uniform(-0.1, 0.1, 3))

    builder = fw.Builder("branching").add_body("trunk", joint=fw.joints.Free(), inertia=box(6.9))
    for leg in ("front_left", "front_right", "hind_left", "hind_right"):
        parent = "trunk"
        for name, axis in (("hip", "x"), ("thigh", "y"), ("calf", "y")):
            builder.add_body(
                f"{leg}_{name}",
                parent=parent,
                joint=fw.joints.Revolute(axis),
                placement=fw.Placement(rng.uniform(-0.3, 0.3, 3)),
                inertia=box(rng.uniform(0.2, 1.5)),
            )
            parent = f"{leg}_{name}"
    placement = fw.Placement((0.1, 0, 0.2), rpy=(0.1, 0.2, 0.3))
    slider = fw.joints.Prismatic((1, 2, 2))
    return builder.add_body("slider", parent="trunk", joint=slider, placement=placement, inertia=box(0.5)).build()


ROBOTS = {
    "chain": functools.cache(lambda: fw.robots.chain(7)),
    "double_pendulum": functools.cache(fw.robots.double_pendulum),
    "branching": functools.cache(branching_robot),
}
QUANTITIES = {
    "forward_dynamics": (FORWARD_DYNAMICS, lambda m, q, v, x: (fw.forward_dynamics(m, q, v, x),)),
    "inverse_dynamics": (INVERSE_DYNAMICS, lambda m, q, v, x: (fw.inverse_dynamics(m, q, v, x),)),
    "mass_matrix": (MASS_MATRIX, lambda m, q, v, x: (fw.mass_matrix(m, q),)),
    "forward_kinematics": (FORWARD_KINEMATICS, lambda m, q, v, x: fw.forward_kinematics(m, q)),
}
every_robot = pytest.mark.parametrize("robot", ROBOTS)
every_quantity = pytest.mark.parametrize("quantity", QUANTITIES)


@functools.cache
def states(robot):
    """q, v and accelerations or forces, COUNT rows each."""
    model, rng = ROBOTS[robot](), np.random.default_rng(11)
    q = np.stack([model.random(rng) for _ in range(COUNT)])
    return q, rng.normal(size=(COUNT, model.nv)), rng.normal(size=(COUNT, model.nv))


def rows(results, count):
    """The bytes of each state's results."""
    flat = [np.asarray(y).reshape(count, -1) for y in results]
    return [b"".join(y[k].tobytes() for y in flat) for k in range(count)]


def call(robot, quantity, *arrays):
    return QUANTITIES[quantity][1](ROBOTS[robot](), *arrays)


def call_kernel(robot, quantity, *arrays):
    kernel = QUANTITIES[quantity][0].kernel(ROBOTS[robot]())
    return kernel(*arrays[: len(kernel.inputs)])


@functools.cache
def alone(robot, quantity):
    """The bytes of each state's results when it is computed alone."""
    q, v, x = states(robot)
    return [rows(call(robot, quantity, q[k], v[k], x[k]), 1)[0] for k in range(COUNT)]


def first_difference(results, expected):
    """The first state whose bytes are not the expected ones; None if all are."""
    got = rows(results, len(expected))
    return next((k for k, (a, b) in enumerate(zip(got, expected, strict=True)) if a != b), None)


@every_quantity
@every_robot
def test_any_batch_size_and_lane_gives_the_bits_of_one_state(robot, quantity):
    q, v, x = states(robot)
    expected = alone(robot, quantity)
    for n in [*range(1, 41), 100, 1000, COUNT]:
        first = 3 * n if n <= 40 else 0  # so that a state is in other lanes for other sizes
        part = slice(first, first + n)
        for compute in (call, call_kernel):  # with the native entry point, and without
            assert first_difference(compute(robot, quantity, q[part], v[part], x[part]), expected[part]) is None, n


@every_quantity
@every_robot
def test_a_state_has_its_bits_in_every_lane_among_any_others(robot, quantity):
    q, v, x = states(robot)
    expected = alone(robot, quantity)
    for lane in range(2 * host().width + 1):
        others = np.arange(100 + lane, 100 + lane + 2 * host().width + 1)
        others[lane] = 5
        results = call(robot, quantity, q[others], v[others], x[others])
        assert first_difference(results, [expected[k] for k in others]) is None


@every_quantity
@every_robot
def test_the_fast_path_and_the_explaining_path_agree(robot, quantity):
    q, v, x = states(robot)
    for k in range(20):
        lists = call(robot, quantity, q[k].tolist(), v[k].tolist(), x[k].tolist())
        assert first_difference(lists, alone(robot, quantity)[k : k + 1]) is None


@every_quantity
@every_robot
def test_any_number_of_threads_gives_the_same_bits(robot, quantity, monkeypatch):
    monkeypatch.setattr("featherweight.compiler.runtime.code.WORTH_A_THREAD", 0)
    for n in (1, 2, 3, 4):
        for count in (65, 129, COUNT):
            part = [a[:count] for a in states(robot)]
            with fw.threads(n):
                results = call_kernel(robot, quantity, *part)
            assert first_difference(results, alone(robot, quantity)[:count]) is None, (n, count)


def layouts(a):
    """The same rows in other memory."""
    n, m = a.shape
    buffer = np.zeros(a.size * 8 + 4, dtype=np.uint8)
    unaligned = buffer[4:].view(np.float64).reshape(n, m)
    unaligned[...] = a
    read_only = a.copy()
    read_only.flags.writeable = False
    return {
        "reversed rows": a[::-1].copy()[::-1],
        "reversed columns": a[:, ::-1].copy()[:, ::-1],
        "every third row": np.repeat(a, 3, axis=0)[::3],
        "part of wider rows": np.concatenate([a, np.full((n, 5), np.nan)], axis=1)[:, :m],
        "every other column": np.repeat(a, 2, axis=1)[:, ::2],
        "column by column": np.asfortranarray(a),
        "unaligned": unaligned,
        "other byte order": a.astype(">f8"),
        "read-only": read_only,
    }


@every_quantity
@every_robot
def test_any_memory_layout_gives_the_same_bits(robot, quantity):
    inputs = [layouts(a[:21]) for a in states(robot)]
    expected = alone(robot, quantity)
    for name in inputs[0]:
        arrays = [a[name] for a in inputs]
        assert first_difference(call(robot, quantity, *arrays), expected[:21]) is None, name
        assert first_difference(call(robot, quantity, *(a[4] for a in arrays)), expected[4:5]) is None, name


@every_quantity
@every_robot
def test_broadcast_inputs_give_the_bits_of_written_out_ones(robot, quantity):
    q, v, x = states(robot)
    whole = (3, 4, 5)
    for shapes in (
        [(3, 4, 5), (), (5,)],
        [(1, 5), (4, 1), (3, 1, 1)],
        [(), (3, 4, 5), (1, 1, 1)],
        [(3, 1, 5), (3, 4, 1), (4, 5)],
    ):
        sizes = [int(np.prod(s)) for s in shapes]
        arrays = [a[:n].reshape(*s, -1) for a, n, s in zip((q, v, x), sizes, shapes, strict=True)]
        if quantity in ("mass_matrix", "forward_kinematics"):
            arrays[0] = np.broadcast_to(arrays[0], (*whole, q.shape[-1]))
        full = [np.broadcast_to(a, (*whole, a.shape[-1])).reshape(60, -1) for a in arrays]
        expected = [rows(call(robot, quantity, *(a[k] for a in full)), 1)[0] for k in range(60)]
        results = call(robot, quantity, *arrays)
        assert results[0].shape[:3] == whole
        assert first_difference(results, expected) is None


@pytest.mark.parametrize("quantity", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
@every_robot
def test_results_in_a_given_array_have_the_same_bits(robot, quantity):
    model, function = ROBOTS[robot](), getattr(fw, quantity)
    inputs = [a[:30] for a in states(robot)][: 1 if quantity == "mass_matrix" else 3]
    shape = function(model, *inputs).shape
    wide = np.empty((*shape[:-1], 99))
    for out in (np.empty(shape), np.empty(shape, order="F"), np.empty(shape)[::-1], wide[..., : shape[-1]]):
        assert function(model, *inputs, out=out) is out
        assert first_difference((out,), alone(robot, quantity)[:30]) is None


def fresh_kernel(robot, quantity, chunk_limit=1500):
    """A kernel that is cut like this; no fingerprint, so that it is not taken from the cache."""
    kernel = QUANTITIES[quantity][0]._make(ROBOTS[robot](), ())
    return Kernel(quantity, kernel.inputs, kernel.outputs, kernel.function, kernel.explain, chunk_limit)


def assert_kernel_agrees(kernel, robot, quantity):
    q, v, x = states(robot)
    inputs = (q, v, x)[: len(kernel.inputs)]
    assert first_difference(kernel(*(a[:33] for a in inputs)), alone(robot, quantity)[:33]) is None
    for k in range(5):
        assert first_difference(kernel(*(a[k] for a in inputs)), alone(robot, quantity)[k : k + 1]) is None


@pytest.mark.parametrize("chunk_limit", [1, 20, 200, 1500, 10**9])
@every_quantity
@every_robot
def test_cutting_into_functions_changes_no_bit(robot, quantity, chunk_limit):
    kernel = fresh_kernel(robot, quantity, chunk_limit)
    chunks = [step for step in kernel.plan.steps if isinstance(step, Chunk)]
    assert max(len(chunk.nodes) for chunk in chunks) <= chunk_limit
    assert_kernel_agrees(kernel, robot, quantity)


@every_quantity
@every_robot
def test_functions_of_their_own_and_shared_ones_have_the_same_bits(robot, quantity, monkeypatch):
    """With constants as literals and fixed places, or from tables: the roundings are the same."""
    monkeypatch.setattr(Chunk, "signature", lambda chunk: (id(chunk),))
    kernel = fresh_kernel(robot, quantity)
    assert "@shared" not in kernel.module(1, host()).text
    assert_kernel_agrees(kernel, robot, quantity)


def test_equal_legs_do_share_their_functions():
    kernel = fresh_kernel("branching", "forward_dynamics")
    uses = Counter(step.signature() for step in kernel.plan.steps if isinstance(step, Chunk))
    assert max(uses.values()) >= 3
    assert "@shared" in kernel.module(1, host()).text


# ---- the processor's floating-point mode

MODE_IR = {
    "x86": """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define i64 @mode() {
  %p = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %p)
  %m = load i32, ptr %p
  %w = zext i32 %m to i64
  ret i64 %w
}
define void @set_mode(i64 %w) {
  %p = alloca i32
  %m = trunc i64 %w to i32
  store i32 %m, ptr %p
  call void @llvm.x86.sse.ldmxcsr(ptr %p)
  ret void
}
""",
    "arm": """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define i64 @mode() {
  %w = call i64 @llvm.aarch64.get.fpcr()
  ret i64 %w
}
define void @set_mode(i64 %w) {
  call void @llvm.aarch64.set.fpcr(i64 %w)
  ret void
}
""",
}
FLUSH = {"x86": 0x8040, "arm": 1 << 24}  # flush to zero; on x86 also denormals are zero
UPWARD = {"x86": 0x4000, "arm": 1 << 22}  # round towards +∞
FLAGS = {"x86": 0x3F, "arm": 0}  # what has happened so far is no mode


class float_mode:
    """Run with other bits of the control register set; __exit__ checks that they are still there."""

    def __init__(self, bits):
        library = Library([host().object_code(MODE_IR[host().arch])], ("mode", "set_mode"))
        self.library = library
        self.mode = ctypes.PYFUNCTYPE(ctypes.c_uint64)(library["mode"])
        self.set_mode = ctypes.PYFUNCTYPE(None, ctypes.c_uint64)(library["set_mode"])
        self.bits = bits[host().arch]

    def __enter__(self):
        self.before = self.mode()
        self.set_mode(self.before | self.bits)

    def __exit__(self, *error):
        after = self.mode()
        self.set_mode(self.before)
        assert (after ^ self.before ^ self.bits) & ~FLAGS[host().arch] == 0


def test_the_float_modes_of_this_test_do_change_results():
    tiny = np.array([2.0**-1022, 3.0])
    with float_mode(FLUSH):
        flushed = tiny * 0.5
    with float_mode(UPWARD):
        upward = 1.0 / tiny
    assert flushed[0] == 0.0
    assert upward[1] > 1.0 / 3.0


@pytest.mark.parametrize("bits", [FLUSH, UPWARD], ids=["flush", "upward"])
def test_the_callers_float_mode_changes_no_bit_and_is_restored(bits, monkeypatch):
    monkeypatch.setattr("featherweight.compiler.runtime.code.WORTH_A_THREAD", 0)

    def function(scalars, lift, mark):
        x, y = scalars[0]
        return [[x * y, x * 0.5, x / 3.0 + y]], 0

    kernel = Kernel("small", [Argument("x", (2,), "2")], [(3,)], function, lambda _: "")
    rng = np.random.default_rng(13)
    x = rng.normal(size=(500, 2)) * 2.0 ** rng.integers(-1060, -480, (500, 2))
    entry = kernel.entry(batch=False)
    expected = [rows((entry(row),), 1)[0] for row in x]
    subnormal = kernel(x)[0]
    assert (np.abs(subnormal[subnormal != 0]) < 2.0**-1022).any()
    with float_mode(bits), fw.threads(3):
        batch = kernel(x)
        one = [entry(row) for row in x]
        slow = [kernel(row)[0] for row in x[:9]]
    assert first_difference(batch, expected) is None
    assert first_difference((np.array(one),), expected) is None
    assert first_difference((np.array(slow),), expected[:9]) is None


@every_quantity
@every_robot
def test_robots_have_the_same_bits_in_any_float_mode(robot, quantity):
    q, v, x = states(robot)
    expected = alone(robot, quantity)
    call(robot, quantity, q[:2], v[:2], x[:2])
    with float_mode(UPWARD):
        batch = call(robot, quantity, q[:50], v[:50], x[:50])
        one = call(robot, quantity, q[50], v[50], x[50])
    assert first_difference(batch, expected[:50]) is None
    assert first_difference(one, expected[50:51]) is None
