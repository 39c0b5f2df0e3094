"""Twenty thousand generated calls, most of them wrong: each gives the right answer or names what is wrong.

Every answer is compared bit for bit with a call on clean arrays; every 20th of those, and every
answer to huge numbers, with the interpreter (which takes milliseconds), within 1e-9. Where the
interpreter overflows there is no oracle here: test_arguments.py compares huge numbers in many digits.
"""

import math
import re
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

import featherweight as fw

CALLS = 20_000
TOLERANCE = 1e-9


def floating_robot():
    builder = fw.Builder("floating").add_body(
        "trunk", joint=fw.joints.Free(), inertia=fw.Inertia.box(8, (0.5, 0.3, 0.1), (0, 0, 0.02))
    )
    for side, y in (("left", 0.15), ("right", -0.15)):
        builder.add_body(
            f"{side}_thigh",
            parent="trunk",
            joint=fw.joints.Revolute("y"),
            placement=fw.Placement((0.1, y, 0), rpy=(0.1, 0, 0.2)),
            inertia=fw.Inertia.cylinder(1.5, 0.05, 0.4, (0, 0, -0.2)),
        )
        builder.add_body(
            f"{side}_shank",
            parent=f"{side}_thigh",
            joint=fw.joints.Revolute((0.1, 1, 0)),
            placement=fw.Placement((0, 0, -0.4)),
            inertia=fw.Inertia.cylinder(0.8, 0.03, 0.4, (0, 0, -0.2)),
        )
    slide = fw.joints.Prismatic("x")
    return builder.add_body("head", parent="trunk", joint=slide, inertia=fw.Inertia.sphere(1, 0.1, (0.1, 0, 0))).build()


ROBOTS = (fw.robots.pendulum(), fw.robots.chain(5), floating_robot())
FUNCTIONS = {
    fw.forward_dynamics: (("q", "v", "tau"), True),  # arguments, and whether it takes f_ext
    fw.inverse_dynamics: (("q", "v", "a"), True),
    fw.joint_wrenches: (("q", "v", "a"), True),
    fw.mass_matrix: (("q",), False),
    fw.forward_kinematics: (("q",), False),
}


def one_shape(model, name):
    """The shape of an argument or result for one state."""
    return {
        "q": (model.nq,),
        "f_ext": (model.nb + 1, 6),
        "mass_matrix": (model.nv, model.nv),
        "joint_wrenches": (model.nb + 1, 6),
    }.get(name, (model.nv,))


def as_tuple(result):
    return tuple(result) if isinstance(result, tuple) else (result,)


@dataclass
class Call:
    """A call about to be made, and what must become of it."""

    model: Any
    function: Any
    values: dict[str, Any]
    clean: dict[str, np.ndarray]  # the same numbers in plain arrays
    batch: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    blamed: set[str] = field(default_factory=set)  # one of them must be named by a refusal
    refused: bool = False  # it must be
    allowed: bool = False  # it may be refused, for the numbers in it
    rewritten: str = ""  # the argument that out overlaps

    def refuse(self, name):
        self.refused = True
        self.blamed.add(name)

    def doubt(self, name):
        self.allowed = True
        self.blamed.add(name)

    @property
    def rows(self):
        return math.prod(self.batch)

    @property
    def result_shape(self):
        return self.batch + one_shape(self.model, self.function.__name__)


# ---- layouts: the same numbers in other arrays


def spread(a):
    large = np.full((*a.shape[:-1], 2 * a.shape[-1]), np.nan)
    large[..., ::2] = a
    return large[..., ::2]


def unaligned(a):
    view = np.zeros(a.nbytes + 16, np.uint8)
    view = view[(1 - view.ctypes.data) % 8 :][: a.nbytes].view(np.float64).reshape(a.shape)
    view[...] = a
    return view


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


LAYOUTS = {
    "list": lambda a: a.tolist(),
    "spread": spread,
    "backwards": lambda a: a[..., ::-1].copy()[..., ::-1],
    "rows backwards": lambda a: a[::-1].copy()[::-1],
    "fortran": np.asfortranarray,
    "byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "unaligned": unaligned,
    "read-only": read_only,
    "matrix": lambda a: a.view(np.matrix) if a.ndim == 2 else a,
    "masked array": np.ma.masked_array,
    "longdouble": lambda a: a.astype(np.longdouble),
}


def lay_out(call, name, rng):
    kind = str(rng.choice(list(LAYOUTS)))
    if call.values[name].size == 0 and kind == "list":
        return  # nested empty lists do not keep a shape
    call.values[name] = LAYOUTS[kind](call.values[name])
    call.kinds.append(kind)


# ---- what can be wrong with an argument


def other_type(dtype):
    def change(call, name, rng):
        coarse = np.round(call.clean[name] * 3).astype(dtype)
        if name == "q" and call.model.nq > 7:
            coarse[..., 3:7] = (0, 0, 0, 1)
        call.values[name], call.clean[name] = coarse, coarse.astype(np.float64)

    return change


def not_numbers(make):
    def change(call, name, rng):
        call.values[name] = make(call.clean[name])
        call.refuse(name)

    return change


def wrong_shape(make):
    def change(call, name, rng):
        call.values[name] = make(call.clean[name])
        call.refuse(name)

    return change


def transposed(a):
    lanes = np.broadcast_to(a, (23, *a.shape))  # 23: no size of any robot
    return np.array(np.moveaxis(lanes, 0, -1))


def bad_number(number):
    def change(call, name, rng):
        array = call.clean[name].copy()
        if array.size == 0:
            return False
        array.ravel()[rng.integers(array.size)] = number
        call.values[name] = array
        if call.rows:
            call.refuse(name)
        else:
            call.doubt(name)
        return True

    return change


def huge(call, name, rng):
    array = call.clean[name].copy()
    if array.size == 0:
        return False
    array.ravel()[rng.integers(array.size)] = rng.choice([1e308, -1e308, 1e200, 1e160])
    call.values[name], call.clean[name] = array, array.copy()
    call.doubt(name)
    return True


def subnormal(call, name, rng):
    array = call.clean[name].copy()
    numbers = array[..., 7:] if name == "q" and call.model.nq > 7 else array
    numbers[...] = rng.choice([5e-324, -5e-324, 1e-310])
    call.values[name], call.clean[name] = array, array.copy()


def not_unit(call, name, rng):
    if name != "q" or call.model.nq < 8 or not call.rows:
        return False
    array = call.clean["q"].copy()
    array.reshape(-1, call.model.nq)[rng.integers(array.size // call.model.nq), 3:7] *= rng.choice(
        [0.0, 0.9, 1.1, 1e200]
    )
    call.values["q"] = array
    call.refuse("q")
    return True


def masked_entries(call, name, rng):
    if call.clean[name].size == 0:
        return False
    mask = np.zeros(call.clean[name].shape, bool)
    mask.ravel()[rng.integers(mask.size)] = True
    call.values[name] = np.ma.masked_array(call.clean[name], mask)
    call.refuse(name)
    return True


def other_batch(call, name, rng):
    others = [v.shape[: v.ndim - len(one_shape(call.model, n))] for n, v in call.clean.items() if n != name]
    if all(leading[-1:] in ((), (1,)) for leading in others):
        return False
    call.values[name] = np.zeros((29, *one_shape(call.model, name)))
    call.refuse(name)
    return True


def not_a_model(call, name, rng):
    call.model = [None, "pendulum", 3.0, fw.Builder(), object()][rng.integers(5)]
    call.refuse("model")


def unknown_keyword(call, name, rng):
    call.options["torque"] = 1.0
    call.refuse("'torque'")


def missing(call, name, rng):
    if name == "f_ext":
        return False
    del call.values[name]
    call.refuse(f"'{name}'")
    return True


def none(call, name, rng):
    call.values[name] = None
    if name == "f_ext":
        del call.clean[name]
    else:
        call.refuse(name)


WRONGS = {
    "none": none,
    "float32": other_type(np.float32),
    "int": other_type(np.int64),
    "int8": other_type(np.int8),
    "bool": not_numbers(lambda a: a > 0),
    "object": not_numbers(lambda a: a.astype(object)),
    "complex": not_numbers(lambda a: a + 0j),
    "str": not_numbers(lambda a: a.astype(str)),
    "word": not_numbers(lambda a: "zero"),
    "dict": not_numbers(lambda a: {"x": 1}),
    "ragged": not_numbers(lambda a: [[1.0], [2.0, 3.0]]),
    "scalar": wrong_shape(lambda a: 0.5),
    "too short": wrong_shape(lambda a: a[..., :-1]),
    "too long": wrong_shape(lambda a: np.concatenate([a, a[..., :1]], axis=-1)),
    "transposed": wrong_shape(transposed),
    "one axis more": wrong_shape(lambda a: np.stack([a, a], axis=-1)),
    "no numbers": wrong_shape(lambda a: np.zeros(0)),
    "nan": bad_number(np.nan),
    "inf": bad_number(np.inf),
    "-inf": bad_number(-np.inf),
    "huge": huge,
    "subnormal": subnormal,
    "quaternion": not_unit,
    "masked entries": masked_entries,
    "other batch": other_batch,
    "not a model": not_a_model,
    "unknown keyword": unknown_keyword,
    "missing": missing,
}


# ---- out


def out_of(make):
    def change(call, rng):
        call.options["out"] = make(np.full(call.result_shape, 7.0))

    return change


def bad_out(make):
    def change(call, rng):
        call.options["out"] = make(call.result_shape)
        call.refuse("out")

    return change


def overlaps_input(call, rng):
    """out begins where an input begins, or a little later."""
    name = str(rng.choice(list(call.clean)))
    given = call.values.get(name)
    if type(given) is not np.ndarray or given.dtype != np.float64:
        return False
    size, shift = math.prod(call.result_shape), int(rng.integers(3))
    memory = np.full(given.size + size + shift, 7.0)
    shared = memory[: given.size].reshape(given.shape)
    shared[...] = given
    call.values[name], call.rewritten = shared, name
    call.options["out"] = memory[shift : shift + size].reshape(call.result_shape)
    return True


def overlaps_itself(call, rng):
    if not call.batch or call.batch[0] < 2 or not call.rows:
        return False
    plain = np.full(call.result_shape, 7.0)
    call.options["out"] = as_strided(plain, plain.shape, (0, *plain.strides[1:]))
    call.refuse("out")
    return True


OUTS = {
    "out plain": out_of(np.array),
    "out spread": out_of(spread),
    "out fortran": out_of(np.asfortranarray),
    "out backwards": out_of(lambda a: a[..., ::-1]),
    "out unaligned": out_of(unaligned),
    "out overlaps input": overlaps_input,
    "out overlaps itself": overlaps_itself,
    "out read-only": bad_out(lambda shape: read_only(np.zeros(shape))),
    "out float32": bad_out(lambda shape: np.zeros(shape, np.float32)),
    "out other byte order": bad_out(lambda shape: np.zeros(shape, np.dtype(np.float64).newbyteorder())),
    "out too large": bad_out(lambda shape: np.zeros((*shape[:-1], shape[-1] + 1))),
    "out one axis more": bad_out(lambda shape: np.zeros((1, *shape))),
    "out list": bad_out(lambda shape: np.zeros(shape).tolist()),
}
KINDS = {"clean", *LAYOUTS, *WRONGS, *OUTS}


# ---- making calls


def random_batch(rng):
    """0 … 3 leading axes, 0 … 20 rows."""
    while True:
        batch = tuple(int(n) for n in rng.integers(0, 21, rng.integers(4)))
        if math.prod(batch) <= 20:
            return batch


def random_call(rng):
    model = ROBOTS[rng.integers(len(ROBOTS))]
    function = list(FUNCTIONS)[rng.integers(len(FUNCTIONS))]
    names, takes_wrenches = FUNCTIONS[function]
    if takes_wrenches and rng.random() < 0.3:
        names = (*names, "f_ext")
    batch = random_batch(rng)
    clean = {}
    for name in names:
        leading = batch[rng.integers(len(batch) + 1) :] if name != "q" and rng.random() < 0.3 else batch
        leading = tuple(1 if name != "q" and rng.random() < 0.1 else n for n in leading)
        clean[name] = rng.normal(size=leading + one_shape(model, name))
        if name == "q" and model.nq > 7:
            clean["q"][..., 3:7] /= np.linalg.norm(clean["q"][..., 3:7], axis=-1, keepdims=True)
    call = Call(model, function, {n: v.copy() for n, v in clean.items()}, clean, batch)
    for name in names:
        if rng.random() < 0.3:
            lay_out(call, name, rng)
    if function is not fw.forward_kinematics and rng.random() < 0.3:
        kind = str(rng.choice(list(OUTS)))
        if OUTS[kind](call, rng) is not False:
            call.kinds.append(kind)
    if rng.random() < 0.7:
        spoil(call, rng)
    if not call.kinds:
        call.kinds.append("clean")
    return call


def spoil(call, rng):
    names = [n for n in call.values if n != call.rewritten]
    if not names:
        return
    name, kind = str(rng.choice(names)), str(rng.choice(list(WRONGS)))
    if WRONGS[kind](call, name, rng) is False:
        return
    call.kinds.append(kind)
    value = call.values.get(name)
    if type(value) is np.ndarray and value.dtype == np.float64 and rng.random() < 0.3:
        lay_out(call, name, rng)


# ---- judging them


def picture(values):
    return {n: v.tobytes() if isinstance(v, np.ndarray) and v.dtype != object else repr(v) for n, v in values.items()}


def named(message, blamed):
    """Whether the message names one of the arguments, as an argument and not as a word."""
    return any(
        name in message if name.startswith("'") else re.search(rf"(?:^|[:,] ){name}(?::|\[| \()", message)
        for name in blamed
    )


def interpreted(call):
    with fw.interpret(), np.errstate(all="ignore"):
        return as_tuple(call.function(call.model, **call.clean))


def far(results, right, scale):
    return any(
        np.abs(a - b).max(initial=0) > TOLERANCE * max(1.0, np.abs(b).max(initial=0), scale)
        for a, b in zip(results, right, strict=True)
    )


def judge(call, sampled):
    """What is wrong with the way a call went; an empty text if nothing is."""
    before = picture(call.values)
    out = call.options.get("out")
    out_before = picture({"out": out})
    try:
        results = as_tuple(call.function(call.model, **call.values, **call.options))
    except (ValueError, TypeError) as error:
        if not (call.refused or call.allowed):
            return f"refused: {error}"
        if not named(str(error), call.blamed) and "too large" not in str(error):
            return f"the message names none of {call.blamed}: {error}"
        if picture(call.values) != before:
            return "an input was changed by a refused call"
        on_the_way = (
            any(f"{n}[" in str(error) for n in call.values) or "quaternion" in str(error) or "too large" in str(error)
        )
        if picture({"out": out}) != out_before and not on_the_way:  # bad numbers are found while computing
            return "out was changed by a call refused for its arguments"
        return ""
    except Exception as error:  # whatever it is, it is a finding
        return f"{type(error).__name__}: {error}"
    if call.refused:
        return "not refused"
    if out is not None and results[0] is not out:
        return "out is not what was returned"
    after = picture(call.values)
    if any(after[n] != before[n] for n in after if n != call.rewritten):
        return "an input was changed"
    return wrong_answer(call, results, sampled)


def wrong_answer(call, results, sampled):
    if not call.rows:
        return "" if results[0].shape[: len(call.batch)] == call.batch else f"shape {results[0].shape}"
    if call.function is not fw.forward_kinematics and results[0].shape != call.result_shape:
        return f"shape {results[0].shape}, expected {call.result_shape}"
    if not all(np.isfinite(r).all() for r in results):
        return "not finite"
    right = as_tuple(call.function(call.model, **call.clean))
    if any(np.asarray(a).tobytes() != b.tobytes() for a, b in zip(results, right, strict=True)):
        return "other bits than on clean arrays"
    if sampled or "huge" in call.kinds:
        speed = np.abs(call.clean["v"]).max() if "huge" in call.kinds and "v" in call.clean else 0.0
        try:
            right = interpreted(call)
        except ValueError as error:  # it multiplies infinities by zeros that compiled code leaves out
            return "" if "huge" in call.kinds else f"the interpreter refuses it: {error}"
        if far(results, right, speed * speed if speed < 1e154 else np.inf):
            return "other numbers than the interpreter's"
    return ""


def good_calls():
    """Results of a known good call for every robot and function, single and batch, with and without wrenches."""
    rng = np.random.default_rng(99)
    results = []
    for model in ROBOTS:
        for batch in [(), (5,)]:
            q = np.broadcast_to(model.random(rng), (*batch, model.nq))
            for function, (names, takes_wrenches) in FUNCTIONS.items():
                values = [q, *(rng.normal(size=(*batch, model.nv)) for _ in names[1:])]
                results += as_tuple(function(model, *values))
                if takes_wrenches:
                    results.append(function(model, *values, rng.normal(size=(*batch, model.nb + 1, 6))))
    return [r.tobytes() for r in results]


def test_no_misuse_gives_a_wrong_answer_or_an_unnamed_error():
    rng = np.random.default_rng(2024)
    known = good_calls()
    count, findings = Counter(), defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(CALLS):
            call = random_call(rng)
            finding = judge(call, sampled=k % 20 == 0)
            count.update(call.kinds)
            if finding:
                what = f"{call.function.__name__}, batch {call.batch}, {', '.join(call.kinds)}: {finding}"
                findings[finding[:40]].append(what)
            if k % 2000 == 1999:
                assert good_calls() == known
    assert set(count) == KINDS, f"kinds that never occurred: {KINDS - set(count)}"
    assert min(count.values()) >= 20
    report = "\n".join(f"{len(texts):5} times, e.g.\n    " + "\n    ".join(texts[:4]) for texts in findings.values())
    assert not findings, f"{sum(map(len, findings.values()))} of {CALLS} calls went wrong\n{report}"
