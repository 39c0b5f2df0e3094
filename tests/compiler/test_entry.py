"""The native entry point: taken for plain arrays, declined for all else, and it neither leaks nor dangles."""

import gc
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.native.target import host
from featherweight.compiler.runtime.fastcall import _numpy_api
from featherweight.compiler.runtime.kernel import Argument, Kernel

pytestmark = pytest.mark.skipif(_numpy_api() is None, reason="no native entry point on this Python or NumPy")

NAMES = {"forward_dynamics": ("q", "v", "tau"), "inverse_dynamics": ("q", "v", "a"), "mass_matrix": ("q",)}


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)


def batch(model, count, seed=0):
    return [np.stack(rows) for rows in zip(*(state(model, seed + k) for k in range(count)), strict=True)]


def one_entry(model, name="forward_dynamics"):
    """The function for one state, made by a first call."""
    arrays = state(model)[: len(NAMES.get(name, ("q",)))]
    getattr(fw, name)(model, *arrays)
    return model.cache.entries[name]


def batch_entry(model):
    """The function of forward dynamics for small batches."""
    fw.forward_dynamics(model, *batch(model, 3))
    return model.cache.entries["forward_dynamics", (), ()][1]


MODEL = fw.robots.chain(3)
ONE = one_entry(MODEL)
BATCH = batch_entry(MODEL)


def bob(mass):
    return fw.Inertia.point(mass, (0, 0, 1))


class Subclass(np.ndarray):
    pass


# ---- what goes through


@pytest.mark.parametrize("name", NAMES)
def test_plain_arrays_go_through_and_give_the_kernels_bits(name):
    entry = one_entry(MODEL, name)
    arrays = state(MODEL, 5)[: len(NAMES[name])]
    result = entry(*arrays)
    assert type(result) is np.ndarray
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    assert result.flags.owndata
    assert result.flags.writeable
    slow = getattr(fw, name)(MODEL, *(a.tolist() for a in arrays))
    assert result.shape == slow.shape
    assert result.tobytes() == slow.tobytes()


def test_kernels_of_the_same_shapes_share_compiled_code_and_nothing_else(monkeypatch):
    light, heavy = (fw.Builder().add_body("a", joint=fw.joints.Revolute("y"), inertia=bob(m)).build() for m in (1, 3))
    q, v, tau = [0.4], [0.0], [6.0]
    first = fw.inverse_dynamics(light, q, v, tau), fw.forward_dynamics(light, q, v, tau)
    monkeypatch.setattr("featherweight.compiler.llvm.entry.emit_entry", None)
    second = fw.inverse_dynamics(heavy, q, v, tau), fw.forward_dynamics(heavy, q, v, tau)
    arrays = [np.array(x) for x in (q, v, tau)]
    for model, (force, acceleration) in ((light, first), (heavy, second)):
        assert model.cache.entries["inverse_dynamics"](*arrays).tobytes() == force.tobytes()
        assert model.cache.entries["forward_dynamics"](*arrays).tobytes() == acceleration.tobytes()
    assert second[0] == pytest.approx(3 * first[0])


@pytest.mark.parametrize("count", [None, 3])
def test_robots_of_other_sizes_share_it_too(count, monkeypatch):
    """The code has the numbers of axes; the sizes of each kernel are checked all the same."""
    monkeypatch.setattr("featherweight.compiler.llvm.entry.emit_entry", None)
    made = []
    for model in (fw.robots.chain(2), fw.robots.chain(5)):
        arrays = state(model) if count is None else batch(model, count)
        entry = one_entry(model) if count is None else batch_entry(model)
        expected = fw.forward_dynamics(model, *(a.tolist() for a in arrays))
        made.append((entry, arrays, expected))
    for entry, arrays, expected in made:
        result = entry(*arrays)
        assert result.shape == expected.shape
        assert result.tobytes() == expected.tobytes()
    assert made[0][0](*made[1][1]) is None
    assert made[1][0](*made[0][1]) is None
    mixed = [made[0][1][0], *made[1][1][1:]]
    assert made[1][0](*mixed) is None


def test_each_kernel_knows_how_many_rows_are_worth_threads(monkeypatch):
    """Of a function that takes three times as long, a third of the rows."""
    asked = []
    monkeypatch.setattr("featherweight.compiler.runtime.code.Code.run_many", lambda code, call: asked.append(code))
    for cost in (2_500, 7_500):
        kernel = Kernel("double", [Argument("x", (1,), "1")], [(1,)], lambda x, *_: ([[2 * x[0][0]]], 0), lambda _: "")
        code = kernel.code(host().width)
        code.cost = cost
        few, entry = 1_000_000 // cost, kernel.entry(batch=True)
        assert entry(np.ones((few, 1))).tolist() == [[2.0]] * few
        assert asked == []
        entry(np.ones((few + 1, 1)))
        assert asked.pop() is code


def test_the_public_function_takes_the_entry_point(monkeypatch):
    model = fw.robots.chain(3)
    one_entry(model)
    monkeypatch.setitem(model.cache.entries, "forward_dynamics", lambda *arrays: "taken")
    assert fw.forward_dynamics(model, *state(model)) == "taken"


def test_several_results_come_as_a_tuple():
    entry = one_entry(MODEL, "forward_kinematics")
    result = entry(state(MODEL, 4)[0])
    assert type(result) is tuple
    assert [y.shape for y in result] == [(4, 3, 3), (4, 3)]
    slow = fw.forward_kinematics(MODEL, state(MODEL, 4)[0].tolist())
    assert [y.tobytes() for y in result] == [y.tobytes() for y in slow]
    kept = (np.zeros(1), np.zeros(1))
    ours = list(kept)  # the entry point keeps a reference too
    assert [sys.getrefcount(y) for y in result] == [sys.getrefcount(y) for y in kept]
    assert len(ours) == 2


def test_every_call_makes_new_results():
    arrays = state(MODEL)
    first, second = ONE(*arrays), ONE(*arrays)
    assert first is not second
    assert not np.may_share_memory(first, second)
    first[:] = 7
    assert ONE(*arrays).tobytes() == second.tobytes()


def addresses(n, hold):
    """Of the results of n calls, each kept if `hold` says so."""
    arrays, held, found = state(MODEL), [], []
    for k in range(n):
        result = ONE(*arrays)
        found.append(id(result))
        hold(k, result, held)
    return found


def test_dropped_results_are_handed_out_again():
    assert len(set(addresses(20, lambda k, y, held: None))) <= 2


def test_results_in_use_are_never_handed_out_again():
    arrays = state(MODEL)
    expected = ONE(*arrays).tobytes()
    others = [np.asarray(state(MODEL, seed)) for seed in range(10, 30)]
    views = [ONE(*arrays)[1:] for _ in range(3)]
    buffers = [memoryview(ONE(*arrays)) for _ in range(3)]
    whole = [ONE(*arrays) for _ in range(3)]
    for other in others:
        ONE(*other)
    assert all(y.tobytes() == expected for y in whole)
    assert all(y.tobytes() == expected for y in buffers)
    assert all(y.tobytes() == expected[8:] for y in views)


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")  # NumPy 2.5 lets it be done all the same
def test_a_result_that_was_altered_or_is_watched_is_not_handed_out_again():
    model = fw.robots.chain(4)
    q = np.zeros(4)
    entry = one_entry(model, "mass_matrix")
    expected = entry(q).copy()

    def reshape(y):
        y.shape = (2, 8)

    def freeze(y):
        y.flags.writeable = False

    def reinterpret(y):
        y.dtype = np.int64

    def resize(y):
        y.resize((3, 3), refcheck=False)

    watched = []
    for spoil in (reshape, freeze, reinterpret, resize, lambda y: watched.append(weakref.ref(y))):
        for _ in range(4):
            spoil(entry(q))
            again = entry(q)
            assert again.shape == (4, 4)
            assert again.dtype == np.float64
            assert again.flags.writeable
            np.testing.assert_array_equal(again, expected)
            del again
    entry(q + 1)
    assert all(y() is None or np.array_equal(y(), expected) for y in watched)


def test_read_only_and_borrowed_memory_go_through():
    q, v, tau = state(MODEL)
    expected = ONE(q, v, tau).tobytes()
    q.flags.writeable = False
    wide = np.concatenate([v, v])
    assert ONE(q, wide[3:], tau).tobytes() == expected
    assert ONE(np.frombuffer(q.tobytes()), v, tau).tobytes() == expected


def test_small_batches_go_through_with_arguments_for_all_rows():
    q, v, tau = batch(MODEL, 9)
    expected = [ONE(q[k], v[k], tau[k]).tobytes() for k in range(9)]
    assert [row.tobytes() for row in BATCH(q, v, tau)] == expected
    expected = [ONE(q[k], v[0], tau[1]).tobytes() for k in range(9)]
    assert [row.tobytes() for row in BATCH(q, v[0], tau[1])] == expected
    expected = [ONE(q[0], v[0], tau[k]).tobytes() for k in range(9)]
    assert [row.tobytes() for row in BATCH(q[0], v[0], tau)] == expected


# ---- what is declined


def unaligned(a):
    memory = np.zeros(8 * a.size + 1, dtype=np.uint8)
    view = memory[1:].view(np.float64)
    view[:] = a
    return view


UNUSUAL = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "float32": lambda a: a.astype(np.float32),
    "int": lambda a: a.astype(np.int64),
    "complex": lambda a: a.astype(complex),
    "object": lambda a: a.astype(object),
    "other byte order": lambda a: a.astype(">f8"),
    "not contiguous": lambda a: np.repeat(a, 2)[::2],
    "reversed": lambda a: a[::-1],
    "unaligned": unaligned,
    "subclass": lambda a: a.view(Subclass),
    "masked": np.ma.masked_array,
    "too short": lambda a: a[:-1].copy(),
    "too long": lambda a: np.append(a, 0.0),
    "empty": lambda a: a[:0],
    "one row": lambda a: a[None].copy(),
    "column": lambda a: a[:, None].copy(),
    "batch": lambda a: np.stack([a, a]),
    "number": lambda a: 1.0,
    "no axes": lambda a: np.array(1.0),
    "None": lambda a: None,
    "text": lambda a: "abc",
    "NaN": lambda a: np.append(a[:-1], np.nan),
    "infinity": lambda a: np.append(a[:-1], -np.inf),
}


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("kind", UNUSUAL)
def test_anything_unusual_is_declined(kind, place):
    arrays = list(state(MODEL))
    arrays[place] = UNUSUAL[kind](arrays[place])
    assert ONE(*arrays) is None


def test_a_result_that_is_not_finite_is_declined():
    q, v, tau = state(MODEL)
    assert ONE(q, v, tau * 1e300) is not None
    assert ONE(q, v * 1e300, tau) is None  # its square overflows


@pytest.mark.parametrize("count", [0, 1, 2, 4, 9])
def test_a_wrong_number_of_arguments_is_declined(count):
    arrays = list(state(MODEL)) * 3
    assert ONE(*arrays[:count]) is None
    assert BATCH(*arrays[:count]) is None


def test_keywords_are_refused():
    q, v, tau = state(MODEL)
    with pytest.raises(TypeError, match="keyword"):
        ONE(q, v, tau=tau)


UNUSUAL_BATCHES = {
    "one state": lambda q, v, tau: (q[0], v[0], tau[0]),
    "rows that do not fit": lambda q, v, tau: (q, v[:-1].copy(), tau),
    "no rows, first": lambda q, v, tau: (q[:0], v, tau),
    "no rows, second": lambda q, v, tau: (q, v[:0], tau),
    "no rows, last": lambda q, v, tau: (q, v, tau[:0]),
    "no rows, beside arguments for all": lambda q, v, tau: (q[:0], v[0], tau),
    "no rows at all": lambda q, v, tau: (q[:0], v[:0], tau[:0]),
    "one row beside many": lambda q, v, tau: (q, v[:1].copy(), tau),
    "two leading axes": lambda q, v, tau: (q[None], v[None], tau[None]),
    "column by column": lambda q, v, tau: (np.asfortranarray(q), v, tau),
    "reversed": lambda q, v, tau: (q, v[::-1], tau),
    "a NaN in the last row": lambda q, v, tau: (q, v, np.where(np.arange(9)[:, None] == 8, np.nan, tau)),
    "transposed": lambda q, v, tau: (q.T.copy(), v.T.copy(), tau.T.copy()),
    "lists": lambda q, v, tau: (q.tolist(), v, tau),
}


@pytest.mark.parametrize("kind", UNUSUAL_BATCHES)
def test_any_unusual_batch_is_declined(kind):
    assert BATCH(*UNUSUAL_BATCHES[kind](*batch(MODEL, 9))) is None


def test_a_batch_worth_threads_gets_them_and_the_same_bits():
    many = 50_000
    q, v, tau = batch(MODEL, 2)
    rows = [np.tile(x, (many, 1)) for x in (q, v, tau)]
    with fw.threads(2):
        result = BATCH(*rows)
    assert (result == np.tile(BATCH(q, v, tau), (many, 1))).all()
    rows[1][many] = np.nan
    assert BATCH(*rows) is None


def test_a_declined_call_changes_none_of_its_arguments():
    arrays = [np.append(a[:-1], np.nan) for a in state(MODEL)]
    before = [a.tobytes() for a in arrays]
    assert ONE(*arrays) is None
    assert [a.tobytes() for a in arrays] == before


def test_a_bad_quaternion_is_declined_and_explained():
    model = fw.Builder().add_body("a", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1, 1)).build()
    q, v = model.neutral(), np.zeros(6)
    fw.forward_dynamics(model, q, v, v)
    entry = model.cache.entries["forward_dynamics"]
    assert entry(q, v, v) is not None
    q[6] = 1.1
    assert entry(q, v, v) is None
    with pytest.raises(ValueError, match="quaternion"):
        fw.forward_dynamics(model, q, v, v)


# ---- memory


def calls(kind):
    """A function to call often, and the objects it gets."""
    if kind == "several results":
        entry, arrays = one_entry(MODEL, "forward_kinematics"), (state(MODEL)[0],)
    elif kind == "several results declined":
        entry, arrays = one_entry(MODEL, "forward_kinematics"), (np.full(3, np.nan),)
    elif kind == "batch":
        entry, arrays = BATCH, tuple(batch(MODEL, 9))
    elif kind == "batch declined":
        q, v, tau = batch(MODEL, 9)
        entry, arrays = BATCH, (q, v, tau * np.nan)
    elif kind == "plain":
        entry, arrays = ONE, state(MODEL)
    else:
        q, v, tau = state(MODEL)
        entry, arrays = ONE, (q, v, UNUSUAL[kind](tau))
    return entry, arrays


KINDS = ["plain", "several results", "several results declined", "batch", "batch declined", "list", "NaN", "too short"]


@pytest.mark.parametrize("kind", [*KINDS, "float32", "not contiguous", "subclass", "None"])
def test_many_calls_leave_counts_and_memory_as_they_were(kind):
    entry, arrays = calls(kind)
    constant = (None, np.ndarray, np.dtype(np.float64), entry, entry.__self__)
    entry(*arrays)
    gc.collect()
    tracemalloc.start()
    try:
        counts = [sys.getrefcount(x) for x in (*arrays, *constant)]
        memory, _ = tracemalloc.get_traced_memory()
        blocks = sys.getallocatedblocks()
        for _ in range(20_000):
            entry(*arrays)
        more_memory = tracemalloc.get_traced_memory()[0] - memory
        more_blocks = sys.getallocatedblocks() - blocks
        changes = [sys.getrefcount(x) - c for x, c in zip((*arrays, *constant), counts, strict=True)]
    finally:
        tracemalloc.stop()
    assert max(map(abs, changes)) < 100  # None is counted all over the interpreter
    assert more_memory < 10_000
    assert more_blocks < 1000


def test_results_are_freed_when_nobody_holds_them():
    arrays = batch(MODEL, 9)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        held = [BATCH(*arrays) for _ in range(100)]
        while_held, _ = tracemalloc.get_traced_memory()
        del held
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert while_held - before > 100 * 9 * 3 * 8
    assert after - before < 2000


def test_the_entry_point_works_on_when_its_model_is_gone():
    model = fw.robots.chain(4)
    arrays, many = state(model), batch(model, 5)
    entry, entries = one_entry(model), batch_entry(model)
    expected, expected_many = entry(*arrays).tobytes(), entries(*many).tobytes()
    del model
    gc.collect()
    for n in range(2, 12):  # other code, to be written where the old one would have been
        one_entry(fw.robots.chain(n, mass=2.0))
        gc.collect()
    assert entry(*arrays).tobytes() == expected
    assert entries(*many).tobytes() == expected_many
    assert gc.is_tracked(entry)
    del entry, entries
    gc.collect()


def test_models_come_and_go_without_leaving_memory():
    def once():
        model = fw.robots.chain(2)
        fw.forward_dynamics(model, *state(model))
        fw.forward_dynamics(model, *batch(model, 3))

    for _ in range(3):
        once()
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(10):
        once()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 2000


def test_two_models_do_not_share_their_workspace():
    a, b = fw.robots.chain(3), fw.robots.chain(3, mass=2.0)
    first, second = one_entry(a), one_entry(b)
    arrays = state(a, 8)
    alone = first(*arrays).tobytes()
    second(*state(b, 9))
    assert first(*arrays).tobytes() == alone
    assert second(*arrays).tobytes() != alone
