"""What the public functions do with every kind of argument: the right answer, or an error that names it."""

import contextlib
import subprocess
import sys
import threading

import mpmath
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import featherweight as fw
from featherweight import algorithms
from featherweight.spatial import Force, Vector

ROBOT = (
    fw.Builder("floating")
    .add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.box(5, (0.4, 0.2, 0.1), (0.01, 0, 0)))
    .add_body(
        "upper",
        parent="base",
        joint=fw.joints.Revolute((0.6, 0, 0.8)),
        placement=fw.Placement((0.2, 0.1, 0), rpy=(0.3, 0.2, 0.1)),
        inertia=fw.Inertia(1.0, (0, 0, -0.2), (0.02, 0.02, 0.01)),
    )
    .add_body("lower", parent="upper", joint=fw.joints.Prismatic("z"), inertia=fw.Inertia.rod(0.5, 0.4, (0, 0, -0.2)))
    .add_body("tail", parent="base", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(0.3, 0.1, (-0.3, 0, 0)))
    .build()
)
PENDULUM = fw.robots.pendulum()
SHAPES = {
    "q": (ROBOT.nq,),
    "v": (ROBOT.nv,),
    "a": (ROBOT.nv,),
    "tau": (ROBOT.nv,),
    "f_ext": (ROBOT.nb + 1, 6),
}
CALLS = {  # name of the call: the function and its arguments
    "forward_dynamics": (fw.forward_dynamics, ("q", "v", "tau")),
    "forward_dynamics+f_ext": (fw.forward_dynamics, ("q", "v", "tau", "f_ext")),
    "inverse_dynamics": (fw.inverse_dynamics, ("q", "v", "a")),
    "inverse_dynamics+f_ext": (fw.inverse_dynamics, ("q", "v", "a", "f_ext")),
    "joint_wrenches": (fw.joint_wrenches, ("q", "v", "a")),
    "joint_wrenches+f_ext": (fw.joint_wrenches, ("q", "v", "a", "f_ext")),
    "mass_matrix": (fw.mass_matrix, ("q",)),
    "forward_kinematics": (fw.forward_kinematics, ("q",)),
}
WITH_OUT = [call for call in CALLS if call != "forward_kinematics"]
BATCHES = [(), (1,), (5,), (2, 3), (20,)]

every_call = pytest.mark.parametrize("call", CALLS)
every_call_with_out = pytest.mark.parametrize("call", WITH_OUT)


def arguments(keep=lambda call, name: True):
    """Tests over all (call, argument) pairs that `keep` keeps."""
    pairs = [(call, name) for call in CALLS for name in CALLS[call][1] if keep(call, name)]
    return pytest.mark.parametrize(("call", "name"), [pytest.param(c, n, id=f"{c}-{n}") for c, n in pairs])


every_argument = arguments()
every_vector = arguments(lambda call, name: len(SHAPES[name]) == 1)
every_argument_with_out = arguments(lambda call, name: call in WITH_OUT)
every_argument_like_out = arguments(lambda call, name: "dynamics" in call and len(SHAPES[name]) == 1 and name != "q")


def state(call, batch=(), seed=0):
    """Clean arguments of a call: fresh, contiguous, float64."""
    rng = np.random.default_rng(seed)
    values = {}
    for name in CALLS[call][1]:
        values[name] = rng.normal(size=(*batch, *SHAPES[name]))
        if name == "q":
            quaternion = values[name][..., 3:7]
            quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return values


def run(call, values, **options):
    """The results of a call, as a tuple."""
    result = CALLS[call][0](ROBOT, **values, **options)
    return tuple(result) if isinstance(result, tuple) else (result,)


def assert_same_bits(results, expected):
    for result, right in zip(results, expected, strict=True):
        assert result.shape == right.shape
        assert result.dtype == np.float64
        assert np.asarray(result).tobytes() == right.tobytes()


def snapshot(values):
    return {n: np.array(v, copy=True) if isinstance(v, np.ndarray) else repr(v) for n, v in values.items()}


def assert_unchanged(values, before):
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            assert value.shape == before[name].shape, name
            assert np.asarray(value).tobytes() == before[name].tobytes(), name
        else:
            assert repr(value) == before[name], name


def refusal(call, values, **options):
    """The message of the ValueError or TypeError of a call that must be refused and change nothing."""
    before = snapshot(values)
    with pytest.raises((ValueError, TypeError)) as caught:
        run(call, values, **options)
    assert_unchanged(values, before)
    return str(caught.value)


def answer_or_refusal(call, values, **options):
    """The results and no message, or no results and the message of a ValueError or TypeError."""
    try:
        return run(call, values, **options), ""
    except (ValueError, TypeError) as error:
        return None, f"{type(error).__name__}: {error}"


# ---- layouts and types that hold the same numbers


def spread(a):
    """Every second entry of a larger array."""
    large = np.full((*a.shape[:-1], 2 * a.shape[-1]), np.nan)
    large[..., ::2] = a
    return large[..., ::2]


def spread_rows(a):
    """Rows further apart than they are long."""
    large = np.full((*a.shape[:-1], a.shape[-1] + 3), np.nan)
    large[..., : a.shape[-1]] = a
    return large[..., : a.shape[-1]]


def unaligned(a):
    memory = np.zeros(a.nbytes + 9, np.uint8)
    start = 1 - memory.ctypes.data % 8 + 8 if memory.ctypes.data % 8 > 1 else 1 - memory.ctypes.data % 8
    view = memory[start : start + a.nbytes].view(np.float64).reshape(a.shape)
    assert not view.flags.aligned
    view[...] = a
    return view


def field(a):
    """One field of a record array: rows of odd distance."""
    records = np.zeros(a.shape[0] if a.ndim > 1 else 1, dtype=[("flag", "u1"), ("x", "f8", a.shape[1:] or a.shape)])
    records["x"] = a
    return records["x"] if a.ndim > 1 else records["x"][0]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


class Subclass(np.ndarray):
    """An ndarray of another type."""


LAYOUTS = {
    "list": lambda a: a.tolist(),
    "tuple of lists": lambda a: tuple(a.tolist()),
    "list of arrays": list,
    "spread": spread,
    "spread rows": spread_rows,
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
    "rows backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "fortran": np.asfortranarray,
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "unaligned": unaligned,
    "field of records": field,
    "read-only": read_only,
    "subclass": lambda a: a.view(Subclass),
    "masked array, nothing masked": np.ma.masked_array,
    "longdouble": lambda a: a.astype(np.longdouble),
    "memoryview": lambda a: memoryview(np.ascontiguousarray(a)),
}


@every_argument
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_numbers_in_any_layout_give_the_same_bits(call, name, layout):
    for batch in BATCHES:
        values = state(call, batch)
        expected = run(call, values)
        values[name] = LAYOUTS[layout](values[name])
        before = snapshot(values)
        assert_same_bits(run(call, values), expected)
        assert_unchanged(values, before)


AXES_OF_LENGTH_ONE = {
    "new axis behind": lambda x: x[:, None],
    "new axis in front": lambda x: x[None],
    "a slice of one": lambda x: np.ascontiguousarray(x[:, None])[:, ::3],
    "both": lambda x: x[None, :, None],
    "backwards": lambda x: x[::-1][:, None][::-1],
}


@pytest.mark.parametrize("layout", AXES_OF_LENGTH_ONE)
@every_call
def test_axes_of_length_one_move_no_row(call, layout):
    """NumPy calls such arrays contiguous, whatever stride their short axes have."""
    values = state(call, (5,))
    expected = run(call, values)
    moved = {name: AXES_OF_LENGTH_ONE[layout](value) for name, value in values.items()}
    results = run(call, moved)
    for result, right in zip(results, expected, strict=True):
        assert (result.reshape(right.shape) == right).all()
    one = next(iter(values))
    mixed = run(call, {**values, one: moved[one]})
    assert all(np.isfinite(result).all() for result in mixed)
    if layout == "new axis behind" and len(values) > 1:
        assert (mixed[0][range(5), range(5)] == expected[0]).all()


@every_vector
def test_a_matrix_is_a_batch_of_rows(call, name):
    values = state(call, (5,))
    expected = run(call, values)
    values[name] = values[name].view(np.matrix)
    results = run(call, values)
    assert_same_bits(results, expected)
    assert not any(isinstance(r, np.matrix) for r in results)


@every_argument
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64, np.uint8, np.uint64])
def test_numbers_of_another_type_are_converted_exactly(call, name, dtype):
    for batch in BATCHES:
        values = state(call, batch)
        coarse = np.abs(np.round(values[name], 1) * 4) if np.dtype(dtype).kind == "u" else np.round(values[name] * 4)
        if name == "q":
            coarse[..., 3:7] = (0, 0, 0, 1)
        values[name] = coarse.astype(dtype).astype(np.float64)
        expected = run(call, values)
        values[name] = coarse.astype(dtype)
        assert_same_bits(run(call, values), expected)


@every_argument
def test_float32_quaternions_are_unit_enough(call, name):
    values = state(call, (5,))
    coarse = values[name].astype(np.float32)
    values[name] = coarse.astype(np.float64)
    expected = run(call, values)
    values[name] = coarse
    assert_same_bits(run(call, values), expected)


@every_argument
def test_one_argument_is_shared_by_the_whole_batch(call, name):
    values = state(call, (4,))
    one = values[name][2]
    repeated = {**values, name: np.array(np.broadcast_to(one, values[name].shape))}
    expected = run(call, repeated)
    for shared in (one, one[None], np.broadcast_to(one, values[name].shape)):
        results = run(call, {**values, name: shared})
        if len(values) > 1 or shared.ndim > one.ndim:
            for result, right in zip(results, expected, strict=True):
                assert np.array_equal(np.broadcast_to(result, right.shape), right)


@every_call
def test_a_row_has_the_same_bits_alone_and_in_any_batch(call):
    values = state(call, (21,))
    whole = run(call, values)
    for k in (0, 7, 20):
        assert_same_bits(run(call, {n: v[k] for n, v in values.items()}), [r[k] for r in whole])
    assert_same_bits(run(call, {n: v[3:12] for n, v in values.items()}), [r[3:12] for r in whole])
    assert_same_bits(
        run(call, {n: v.reshape(7, 3, *v.shape[1:]) for n, v in values.items()}),
        [r.reshape(7, 3, *r.shape[1:]) for r in whole],
    )


@every_call
def test_an_empty_batch_gives_an_empty_result(call):
    full = run(call, state(call))
    for batch in [(0,), (3, 0), (0, 3), (0, 0, 2)]:
        values = state(call, batch)
        for result, one in zip(run(call, values), full, strict=True):
            assert result.shape == batch + one.shape
        shared = {**values, "q": state(call)["q"]}
        if len(values) > 1:
            assert run(call, shared)[0].shape == batch + full[0].shape


@pytest.mark.parametrize("call", [call for call in CALLS if len(CALLS[call][1]) > 1])
def test_no_rows_go_with_one_row_and_with_no_other_number(call):
    """Also when the native entry point for batches has been made: 0 rows are not 5 rows somewhere else in memory."""
    function, names = CALLS[call]
    chain = fw.robots.chain(3)

    def values(**rows):
        return {n: np.zeros((rows.get(n, rows["others"]), *((4, 6) if n == "f_ext" else (3,)))) for n in names}

    function(chain, **values(others=5))
    for name in names:
        assert function(chain, **values(others=1, **{name: 0})).shape[0] == 0
        with pytest.raises(ValueError, match=rf"broadcast.*{name} \(0, "):
            function(chain, **values(others=5, **{name: 0}))


# ---- wrong shapes


WRONG_SHAPES = {
    "too short": lambda a: a[..., :-1],
    "too long": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "a number": lambda a: 0.5,
    "a scalar array": lambda a: np.array(0.5),
    "transposed": lambda a: np.moveaxis(np.stack([a] * 3), 0, -1),
    "no numbers": lambda a: np.zeros(0),
    "an empty list": lambda a: [],
    "one axis too many behind": lambda a: a[..., None],
}


@every_argument
@pytest.mark.parametrize("kind", WRONG_SHAPES)
def test_a_wrong_shape_is_refused_with_both_shapes(call, name, kind):
    values = state(call)
    values[name] = WRONG_SHAPES[kind](values[name])
    message = refusal(call, values)
    assert message.startswith(f"{name}: expected shape (…, {', '.join(map(str, SHAPES[name]))})")
    assert f"got {np.shape(values[name])}" in message


def test_a_transposed_batch_is_recognised():
    message = refusal("mass_matrix", {"q": state("mass_matrix", (3,))["q"].T})
    assert "transpose it" in message
    assert "one state a row" in message


def test_flat_and_short_wrenches_are_refused():
    values = state("forward_dynamics+f_ext")
    for wrong in (values["f_ext"].ravel(), values["f_ext"][1:], values["f_ext"][:, :3]):
        message = refusal("forward_dynamics+f_ext", {**values, "f_ext": wrong})
        assert message.startswith("f_ext: expected shape (…, 5, 6)")
        assert f"got {wrong.shape}" in message


@pytest.mark.parametrize("call", [call for call in CALLS if len(CALLS[call][1]) > 1])
def test_batches_that_do_not_broadcast_are_refused_with_all_shapes(call):
    values = {**state(call, (3,)), "q": state(call, (4,))["q"]}
    message = refusal(call, values)
    assert "broadcast" in message
    for name, value in values.items():
        assert f"{name} {value.shape}" in message


def test_more_axes_than_numpy_broadcasts_are_refused_or_right():
    for call in CALLS:
        values = state(call)
        deep = {n: v.reshape((1,) * (60 - v.ndim) + v.shape) for n, v in values.items()}
        results, message = answer_or_refusal(call, deep)
        if results is None:
            assert "q" in message
        else:
            assert [r.tobytes() for r in results] == [r.tobytes() for r in run(call, values)]


# ---- things that are not arrays of real numbers


NOT_NUMBERS = {
    "bool": lambda a: np.ones(a.shape, bool),
    "complex": lambda a: a + 0j,
    "object": lambda a: a.astype(object),
    "str": lambda a: a.astype(str),
    "bytes": lambda a: a.astype(bytes),
    "datetime": lambda a: np.zeros(a.shape, "datetime64[s]"),
    "timedelta": lambda a: np.zeros(a.shape, "timedelta64[s]"),
    "records": lambda a: np.zeros(a.shape, [("x", "f8")]),
    "ragged list": lambda a: [[1.0], [1.0, 2.0]],
    "list with a list": lambda a: [*a.ravel().tolist()[:-1], [1.0]],
    "list with None": lambda a: [*a.tolist()[:-1], None],
    "list with a string": lambda a: [*a.ravel().tolist()[:-1], "1.0"],
    "huge integers": lambda a: [10**400] * len(a),
    "word": lambda a: "zero",
    "dict": lambda a: {"x": 1.0},
    "set": lambda a: {1.0},
    "generator": lambda a: (x for x in a),
    "function": lambda a: len,
    "class": lambda a: np.ndarray,
    "model": lambda a: ROBOT,
}


@every_argument
@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_what_is_not_real_numbers_is_refused_by_name(call, name, kind):
    values = state(call)
    values[name] = NOT_NUMBERS[kind](values[name])
    message = refusal(call, values)
    assert message.startswith(f"{name}: expected")
    assert "real numbers" in message


@every_argument
def test_none_is_refused_where_an_array_is_needed(call, name):
    values = {**state(call), name: None}
    if name == "f_ext":
        assert_same_bits(run(call, values), run(call.partition("+")[0], state(call.partition("+")[0])))
    else:
        assert refusal(call, values).startswith(f"{name}: expected real numbers")


def test_masked_entries_are_refused():
    """There is no number behind a mask, and the result has no mask to hand it on."""
    for call, (_, names) in CALLS.items():
        for name in names:
            values = state(call, (5,))
            mask = np.zeros(values[name].shape, bool)
            mask.ravel()[-1] = True
            values[name] = np.ma.masked_array(values[name], mask)
            assert refusal(call, values).startswith(f"{name}:")


# ---- numbers that are not good


@every_argument
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite_is_refused_with_the_first_bad_index(call, name, bad):
    for batch in BATCHES:
        values = state(call, batch)
        index = tuple(n - 1 for n in values[name].shape)
        values[name][index] = bad
        message = refusal(call, values)
        assert f"{name}[{', '.join(map(str, index))}] is {bad}" in message
        values[name].ravel()[0] = bad
        assert f"{name}[{', '.join('0' for _ in index)}] is {bad}" in refusal(call, values)


@every_argument
@pytest.mark.parametrize("layout", ["spread", "rows backwards", "fortran", "unaligned", "list", "other byte order"])
def test_not_finite_is_found_in_any_layout(call, name, layout):
    values = state(call, (5,))
    values[name][(3, *(0 for _ in SHAPES[name]))] = np.nan
    values[name] = LAYOUTS[layout](values[name])
    assert f"{name}[3, 0" in refusal(call, values)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="long double is double here")
def test_a_long_double_too_large_for_a_double_is_refused_without_a_warning():
    for call, (_, names) in CALLS.items():
        for name in names:
            values = state(call)
            values[name] = values[name].astype(np.longdouble)
            values[name].ravel()[-1] = np.longdouble("1e4000")
            assert name in refusal(call, values)


def test_a_signalling_nan_is_refused_without_a_warning():
    for call, (_, names) in CALLS.items():
        for name in names:
            values = state(call)
            for dtype, bits in ((np.float64, np.uint64(0x7FF4000000000000)), (np.float32, np.uint32(0x7FA00000))):
                array = np.zeros(values[name].shape, dtype)
                array.view(type(bits)).ravel()[0] = bits
                assert f"{name}[0" in refusal(call, {**values, name: array})


@every_call
@pytest.mark.parametrize("length", [0.0, 0.5, 1 - 2e-6, 1 + 2e-6, 1e-200, 1e10, 1e200])
def test_a_quaternion_that_is_not_unit_is_refused(call, length):
    for batch in [(), (5,)]:
        values = state(call, batch)
        values["q"][..., 3:7] *= length
        message = refusal(call, values)
        assert "q: joint 'base_joint'" in message
        assert "quaternion" in message
        assert "normalise" in message


def test_the_quaternion_message_says_which_row():
    values = state("mass_matrix", (5,))
    values["q"][3, 3:7] *= 1.1
    assert "at [3] has length 1.1" in refusal("mass_matrix", values)


@every_call
@pytest.mark.parametrize("length", [1.0, 1 - 9e-7, 1 + 9e-7])
def test_a_quaternion_within_tolerance_is_taken(call, length):
    values = state(call)
    values["q"][3:7] *= length
    for result in run(call, values):
        assert np.isfinite(result).all()


def test_a_quaternion_on_the_edge_of_the_tolerance_is_refused_for_what_it_is():
    rng = np.random.default_rng(5)
    messages = []
    for _ in range(2000):
        quaternion = rng.normal(size=4)
        quaternion *= np.sqrt(1 + 2e-6) / np.linalg.norm(quaternion) * (1 + 1.1e-16 * rng.integers(-3, 4))
        q = np.concatenate([np.zeros(3), quaternion, np.zeros(ROBOT.nq - 7)])
        messages.append(answer_or_refusal("mass_matrix", {"q": q})[1])
    refused = [m for m in messages if m]
    assert 0 < len(refused) < len(messages)
    assert not [m for m in refused if "quaternion" not in m]


# ---- very large and very small numbers


def in_many_digits(call, values):
    """The results of one state in 700 decimal digits, with exponents without end."""
    with mpmath.workdps(700):
        tree = ROBOT.over(mpmath.mpf, lambda: None)
        x = {n: [mpmath.mpf(float(e)) for e in np.ravel(v)] for n, v in values.items()}
        f_ext = None
        if "f_ext" in x:
            f = x["f_ext"]
            f_ext = [Force(Vector(*f[k + 3 : k + 6]), Vector(*f[k : k + 3])) for k in range(0, len(f), 6)]
        function = call.partition("+")[0]
        if function == "forward_dynamics":
            flat = [algorithms.forward_dynamics(tree, x["q"], x["v"], x["tau"], f_ext)[0]]
        elif function == "inverse_dynamics":
            flat = [algorithms.inverse_dynamics(tree, x["q"], x["v"], x["a"], f_ext)[0]]
        elif function == "joint_wrenches":
            forces = algorithms.inverse_dynamics(tree, x["q"], x["v"], x["a"], f_ext)[1]
            flat = [[0] * 6 + [e for f in forces[1:] for e in (*f.force, *f.moment)]]
        elif function == "mass_matrix":
            flat = [[e for row in algorithms.mass_matrix(tree, x["q"]) for e in row]]
        else:
            X = algorithms.forward_kinematics(tree, x["q"])
            flat = [[e for t in X for row in t.E.T for e in row], [e for t in X for e in t.r]]
        return [np.array([float(e) for e in numbers]) for numbers in flat]


@every_argument
@pytest.mark.parametrize("size", [1e308, -1e308, 1e200, 1e155, 1e30])
def test_huge_numbers_give_the_right_answer_or_are_refused(call, name, size):
    given = 0
    for place in range(int(np.prod(SHAPES[name]))):
        if name == "q" and 3 <= place < 7:
            continue
        values = state(call)
        values[name].ravel()[place] = size
        results, message = answer_or_refusal(call, values)
        if results is None:
            assert name in message or "too large" in message
            continue
        given += 1
        if place % 5 == 0:  # many digits take their time
            for result, right in zip(results, in_many_digits(call, values), strict=True):
                # v × m v = 0 is computed: rounding is relative to m v²
                scale = max(np.abs(right).max(), size * size if name == "v" else 0.0)
                assert np.isfinite(result).all()
                assert np.abs(result.ravel() - right).max() <= 1e-9 * scale
    assert given or abs(size) > 1e100


def test_an_inertia_too_large_for_a_float_does_not_pass_as_infinite():
    """m x² overflows while τ / (m x²) = 0.01: 1/∞ = 0 would be a finite and wrong answer."""
    arm = (
        fw.Builder("arm")
        .add_body("a", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(1, 0.1))
        .add_body("b", parent="a", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.sphere(1, 0.1))
        .build()
    )
    try:
        a = fw.forward_dynamics(arm, [0.0, 1e155], [0.0, 0.0], [1e308, 0.0])
    except ValueError:
        return
    assert a[0] == pytest.approx(0.01, rel=1e-9)


def test_results_that_overflow_are_refused_in_single_and_batch():
    for batch in [(), (20,)]:
        values = state("forward_dynamics", batch)
        values["v"][...] = 1e308
        assert "too large" in refusal("forward_dynamics", values)


def test_positions_that_overflow_are_refused():
    rails = fw.Builder("rails")
    for k in range(2):
        rails.add_body(
            f"b{k}", parent=f"b{k - 1}" if k else "world", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.point(1)
        )
    with pytest.raises(ValueError, match=r"forward_kinematics.*too large"):
        fw.forward_kinematics(rails.build(), [1.7e308, 1.7e308])


def test_subnormal_numbers_are_kept():
    tiny = 5e-324
    for x in (np.array([tiny]), np.full((9, 1), tiny)):
        zero = np.zeros(1)
        assert (fw.forward_dynamics(PENDULUM, zero, zero, x) == tiny).all()
        assert (fw.inverse_dynamics(PENDULUM, zero, zero, x) == tiny).all()
        assert (fw.joint_wrenches(PENDULUM, zero, zero, x)[..., 1, 4] == tiny).all()
    cart = fw.robots.cartpole()
    assert fw.forward_kinematics(cart, [tiny, 0.0]).position[1, 0] == tiny


@every_argument
def test_subnormal_numbers_are_as_good_as_zero_elsewhere(call, name):
    values = state(call)
    tiny, zero = values[name].copy(), values[name].copy()
    places = slice(7, None) if name == "q" else slice(None)
    tiny.ravel()[places], zero.ravel()[places] = 5e-324, 0.0
    for result, right in zip(run(call, {**values, name: tiny}), run(call, {**values, name: zero}), strict=True):
        assert np.allclose(result, right, rtol=1e-12, atol=1e-300)


# ---- out


OUT_LAYOUTS = {
    "plain": lambda a: np.full_like(a, np.nan),
    "spread": lambda a: spread(np.full_like(a, 7.0)),
    "spread rows": lambda a: spread_rows(np.full_like(a, 7.0)),
    "backwards": lambda a: np.full_like(a, 7.0)[..., ::-1],
    "fortran": lambda a: np.full(a.shape, 7.0, order="F"),
    "unaligned": lambda a: unaligned(np.full_like(a, 7.0)),
    "subclass": lambda a: np.full_like(a, 7.0).view(Subclass),
}


@every_call_with_out
@pytest.mark.parametrize("layout", OUT_LAYOUTS)
def test_out_of_any_layout_takes_the_same_bits(call, layout):
    for batch in BATCHES:
        values = state(call, batch)
        (expected,) = run(call, values)
        out = OUT_LAYOUTS[layout](expected)
        before = snapshot(values)
        (result,) = run(call, values, out=out)
        assert result is out
        assert_same_bits([np.asarray(out)], [expected])
        assert_unchanged(values, before)


@every_call_with_out
def test_writing_into_a_part_leaves_the_rest_alone(call):
    values = state(call, (5,))
    (expected,) = run(call, values)
    for part in (np.s_[3:8], np.s_[9:4:-1], np.s_[1:11:2]):
        large = np.full((12, *expected.shape[1:]), 7.0)
        untouched = np.ones(12, bool)
        untouched[part] = False
        run(call, values, out=large[part])
        assert np.array_equal(large[part], expected)
        assert (large[untouched] == 7.0).all()


@every_call_with_out
def test_an_out_that_cannot_hold_the_result_is_refused(call):
    values = state(call, (5,))
    (expected,) = run(call, values)
    shape = expected.shape
    wrong_shapes = [shape[1:], (1, *shape), (6, *shape[1:]), shape[:-1], (*shape[:-1], shape[-1] + 1), ()]
    for wrong in wrong_shapes:
        message = refusal(call, values, out=np.zeros(wrong))
        assert message.startswith(f"out: expected shape {shape}, got {wrong}")
    for dtype in (np.float32, np.int64, bool, complex, object, ">f8" if np.little_endian else "<f8", "datetime64[s]"):
        message = refusal(call, values, out=np.zeros(shape, dtype))
        assert message.startswith("out: expected dtype float64, got")
        assert str(np.dtype(dtype)) in message
    for wrong in (expected.tolist(), 0.0, "out", memoryview(expected), (expected,), ROBOT):
        message = refusal(call, values, out=wrong)
        assert message.startswith(f"out: expected a NumPy array of shape {shape}, got {type(wrong).__name__}")
    assert refusal(call, values, out=read_only(expected)).startswith("out: expected a writeable array")
    assert refusal(call, values, out=np.broadcast_to(expected[0], shape)).startswith("out: expected a writeable array")


def test_a_call_refused_for_its_shapes_leaves_out_as_it_was():
    """A NaN found on the way may leave anything in `out`, as its description says."""
    for call in WITH_OUT:
        for batch in [(), (5,)]:
            values = state(call, batch)
            out = np.full_like(run(call, values)[0], 7.0)
            for name, value in values.items():
                refusal(call, {**values, name: value[..., :-1]}, out=out)
                assert (out == 7.0).all(), (call, name)


@every_argument_with_out
def test_out_may_be_an_input_or_overlap_it(call, name):
    for batch in BATCHES:
        values = state(call, batch)
        (expected,) = run(call, values)
        for shift in (0, 1, ROBOT.nv):
            memory = np.full(values[name].size + expected.size + shift, 7.0)
            shared = memory[: values[name].size].reshape(values[name].shape)
            shared[...] = values[name]
            out = memory[shift : shift + expected.size].reshape(expected.shape)
            run(call, {**values, name: shared}, out=out)
            assert_same_bits([out], [expected])


@every_argument_like_out
def test_out_may_be_an_input_backwards(call, name):
    values = state(call, (5,))
    (expected,) = run(call, values)
    shared = values[name].copy()
    run(call, {**values, name: shared}, out=shared[::-1])
    assert_same_bits([np.ascontiguousarray(shared[::-1])], [expected])


def test_an_out_whose_rows_are_one_memory_is_refused():
    for call in WITH_OUT:
        values = state(call, (5,))
        (expected,) = run(call, values)
        memory = np.full(expected.size + 8, 7.0)
        for step in (0, 8):
            out = as_strided(memory, expected.shape, (step, *expected.strides[1:]))
            assert refusal(call, values, out=out).startswith("out:")
            assert (memory == 7.0).all()


def test_a_masked_out_is_refused_or_shows_the_result():
    for call in WITH_OUT:
        values = state(call, (5,))
        (expected,) = run(call, values)
        out = np.ma.masked_array(np.zeros_like(expected), np.ones(expected.shape, bool))
        results, message = answer_or_refusal(call, values, out=out)
        if results is None:
            assert "out:" in message
        else:
            assert not np.ma.getmaskarray(out).any()
            assert_same_bits([out.data], [expected])


@every_call_with_out
def test_out_works_for_an_empty_batch(call):
    values = state(call, (0,))
    (expected,) = run(call, values)
    out = np.zeros_like(expected)
    assert run(call, values, out=out)[0] is out


# ---- model and keywords


@every_call
@pytest.mark.parametrize(
    "model", [None, 3, "pendulum", fw.Builder(), fw.Model, object(), np.zeros(3), {}], ids=lambda m: type(m).__name__
)
def test_what_is_not_a_model_is_refused(call, model):
    function, _ = CALLS[call]
    with pytest.raises(TypeError, match=r"^model: expected a featherweight Model, got "):
        function(model, **state(call))


@every_call
def test_unknown_and_missing_arguments_are_refused(call):
    function, names = CALLS[call]
    values = state(call)
    with pytest.raises(TypeError, match="'torque'"):
        function(ROBOT, **values, torque=1.0)
    with pytest.raises(TypeError, match="'q'"):
        function(ROBOT, **{n: v for n, v in values.items() if n != "q"})
    with pytest.raises(TypeError, match="positional"):
        function(ROBOT, *values.values(), *([None] * (5 - len(names))), np.zeros(ROBOT.nv))  # out by place


@every_call
def test_another_robots_state_is_refused(call):
    function, _ = CALLS[call]
    with pytest.raises(ValueError, match=r"^q: expected shape \(…, 1\), that is \(…, nq\), got \(10,\)"):
        function(PENDULUM, **state(call))


@every_call
def test_positional_and_keyword_arguments_are_the_same(call):
    function, _ = CALLS[call]
    values = state(call)
    result = function(ROBOT, *values.values())
    assert_same_bits(result if isinstance(result, tuple) else (result,), run(call, values))


# ---- a robot that cannot move, interpretation, threads


STILL = """
import numpy as np
from numpy.lib.stride_tricks import as_strided
import featherweight as fw

robot = fw.Builder("still").add_body("rock", inertia=fw.Inertia.sphere(1, 1)).build()
memory = np.full(40, np.nan)
for batch in [(), (9,)]:
    none, wrench = np.zeros((*batch, 0)), np.zeros((*batch, 1, 6))
    for _ in range(20):
        assert fw.forward_dynamics(robot, none, none, none).shape == (*batch, 0)
        assert fw.inverse_dynamics(robot, none, none, none, wrench).shape == (*batch, 0)
        assert fw.joint_wrenches(robot, none, none, none).shape == (*batch, 1, 6)
        assert fw.mass_matrix(robot, none).shape == (*batch, 0, 0)
        rotation, position = fw.forward_kinematics(robot, none)
        assert np.array_equal(rotation, np.broadcast_to(np.eye(3), (*batch, 1, 3, 3)))
        assert np.array_equal(position, np.zeros((*batch, 1, 3)))
    # a part of no length: neither the numbers around it are read, nor are they overwritten
    part = as_strided(memory, (*batch, 0), (0,) * len(batch) + (8,))
    fw.inverse_dynamics(robot, part, part, part)
    fw.inverse_dynamics(robot, none, none, none, out=part)
    assert np.isnan(memory).all(), memory[:4]
print("alive")
"""


def test_a_robot_without_joints_has_empty_states_and_touches_no_other_memory():
    """In a process of its own: it used to write beside its workspace."""
    result = subprocess.run([sys.executable, "-c", STILL], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout.strip()) == (0, "alive"), result.stderr[-2000:]


@every_call
def test_interpreted_calls_refuse_the_same_without_a_warning(call):
    with fw.interpret():
        for name in CALLS[call][1]:
            values = state(call, (3,))
            for kind in ("too short", "a number"):
                wrong = {**values, name: WRONG_SHAPES[kind](values[name])}
                assert refusal(call, wrong).startswith(f"{name}: expected shape")
            wrong = {**values, name: values[name].astype(complex)}
            assert refusal(call, wrong).startswith(f"{name}: expected real numbers")
            for bad in (np.nan, np.inf, -np.inf):
                broken = values[name].copy()
                broken.ravel()[-1] = bad
                assert f"{name}[2, " in refusal(call, {**values, name: broken})


@every_call
def test_interpreted_overflow_is_refused_without_a_warning(call):
    values = state(call)
    for name in values:
        huge = values[name].copy()
        huge.ravel()[-1] = 1e308
        with fw.interpret():
            results, message = answer_or_refusal(call, {**values, name: huge})
        assert results is not None or "too large" in message


@pytest.mark.parametrize("joint", [fw.joints.Revolute("y"), fw.joints.Free()], ids=repr)
@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
def test_a_singular_mass_matrix_is_reported(mode, joint):
    """A point mass in the joint's origin: nothing resists the turning."""
    model = fw.Builder("point").add_body("b", joint=joint, inertia=fw.Inertia.point(1)).build()
    q, v = model.neutral(), np.ones(model.nv)
    with fw.interpret() if mode == "interpreted" else contextlib.nullcontext():
        for states in (q, np.stack([q] * 9)):
            with pytest.raises(ValueError, match="singular"):
                fw.forward_dynamics(model, states, v, v)


def test_bad_calls_from_many_threads_harm_nobody():
    values = state("forward_dynamics", (40,))
    (expected,) = run("forward_dynamics", values)
    broken = {**values, "v": np.full_like(values["v"], np.nan)}
    wrong = []

    def work(k):
        for _ in range(50):
            if k % 2:
                try:
                    run("forward_dynamics", broken)
                    wrong.append("not refused")
                except ValueError:
                    pass
            elif not np.array_equal(run("forward_dynamics", values)[0], expected):
                wrong.append("other bits")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_first_calls_from_many_threads_are_all_answered():
    """While one thread meets a new kind of call, others are in the middle of an old kind."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    wrong = []

    def work(model, start, q):
        start.wait()
        try:
            for _ in range(100):
                fw.mass_matrix(model, q)
        except Exception as error:
            wrong.append(repr(error))

    try:
        for _ in range(60):
            model, start = fw.robots.pendulum(), threading.Barrier(4)
            fw.mass_matrix(model, np.zeros(1))
            states = ([0.0], [0.0], [0.0], np.zeros((3, 1)))
            threads = [threading.Thread(target=work, args=(model, start, q)) for q in states]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong, wrong[0]
