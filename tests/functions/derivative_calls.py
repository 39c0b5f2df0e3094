"""Calls of all that has to do with derivatives, most of them wrong, and what must become of each.

A call is right if it gives, for each state of its batch, the numbers of a call on that state alone, in a plain array;
or if it is refused with an error that names the argument. `judged` makes one and says which; anything else is `Wrong`.
"""

from __future__ import annotations

import math
import re
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.contact import Impulse, Plane
from functions.derivative_options import Options, Wish, makers, options_of

TOLERANCE = 1e-9
SECONDS, CPU_SECONDS = 600, 60  # for one call, on a machine that may have much else to do, and of its own
Values = dict[str, Any]


class Wrong(Exception):
    """A call that was neither right nor refused in a clear way."""


# ---- what is called


def floating() -> fw.Model:
    build = fw.Builder("floating", parameters=("arm.mass",))
    build.add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.box(2.0, (0.2, 0.3, 0.1)))
    rod = fw.Inertia.box(0.5, (0.1, 0.1, 0.3), at=(0, 0.01, -0.15))
    build.add_body("arm", parent="base", joint=fw.joints.Revolute("x"), inertia=rod)
    return build.add_contact_point("south", parent="base", position=(0, 0, -0.05), radius=0.05).build()


def hopper() -> fw.Model:
    build = fw.Builder("hopper").add_body("slide", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.point(0.5))
    leg = fw.Inertia.box(0.4, (0.03, 0.03, 0.2), at=(0, 0, -0.1))
    build.add_body("leg", parent="slide", joint=fw.joints.Revolute("y"), inertia=leg, damping=0.02)
    return build.add_contact_point("foot", parent="leg", position=(0, 0, -0.3), radius=0.02).build()


MODELS = {"floating": floating(), "hopper": hopper()}
CONTACT = Impulse(ground=Plane(friction=0.3))
STEPS = 4


@dataclass(frozen=True)
class Target:
    """Something that is called: its arguments with their shapes, and how."""

    name: str
    model: fw.Model
    shapes: dict[str, tuple[int, ...]]
    call: Callable[..., Any]
    optional: tuple[str, ...] = ()
    takes_out: bool = False
    by_place: int = 9  # so many arguments may be given by place
    options: Options = field(default_factory=dict)


def cost(t: Any, q: Any, v: Any, tau: Any, x: Any) -> Any:
    return q[0] * q[0] + v @ v + 0.1 * (tau @ tau)


def user_function(model: fw.Model) -> fw.functions.Function:
    n = model.nv

    def f(q: Any, v: Any, p: Any) -> Any:
        return p[0, 0] * fw.forward_dynamics(model, q, v, p[1, 0] * v), fw.kinetic_energy(model, q, v)

    return fw.function(f, inputs={"q": fw.configuration(model), "v": n, "p": (2, 1)})


def targets() -> list[Target]:
    found = []
    for model in MODELS.values():
        nq, n, f = model.nq, model.nv, user_function(model)
        own: dict[str, tuple[int, ...]] = {"q": (nq,), "v": (n,), "p": (2, 1)}
        found += [
            Target("function", model, own, f),
            Target("derivative", model, own, fw.derivative(f, "q", "p")),
            Target("jvp", model, {**own, "dq": (n,)}, fw.jvp(f, "q")),
            Target("vjp", model, {**own, "w0": (n,), "w1": ()}, fw.vjp(f)),
        ]
        state: dict[str, tuple[int, ...]] = {"q": (nq,), "v": (n,)}
        wrenches = (model.nb + 1, 6)
        for name, third, more in (
            ("inverse_dynamics_derivatives", "a", {"f_ext": wrenches}),
            ("forward_dynamics_derivatives", "tau", {"f_ext": wrenches}),
            ("regressor", "a", {}),
        ):
            call = _first(getattr(fw, name), model)
            options = options_of("dynamics", model)
            found.append(Target(name, model, {**state, third: (n,), **more}, call, tuple(more), True, options=options))
        for name, given in (("linearize", {}), ("linearize", {"contact": CONTACT})):
            call = _first(fw.linearize, model, dt=2e-3, **given)
            shapes = {**state, "tau": (n,), "f_ext": wrenches}
            found.append(
                Target(name, model, shapes, call, ("tau", "f_ext"), by_place=3, options=options_of(name, model))
            )
        call = _gradient(model)
        shapes = {**state, "tau": (STEPS, n)}
        found.append(
            Target("rollout_gradient", model, shapes, call, ("tau",), by_place=2, options=options_of("rollout", model))
        )
    return found


def _first(function: Callable[..., Any], model: fw.Model, **given: Any) -> Callable[..., Any]:
    def call(*values: Any, **named: Any) -> Any:
        options = {**given, **named}
        return function(options.pop("model", model), *values, **options)

    return call


def _gradient(model: fw.Model) -> Callable[..., Any]:
    def call(*values: Any, **named: Any) -> Any:
        options: dict[str, Any] = {"steps": STEPS, "dt": 2e-3, "contact": CONTACT, "wrt": ("q", "v", "tau"), **named}
        own, robot = options.pop("cost", cost), options.pop("model", model)
        value, gradient = fw.rollout_gradient(own, robot, *values, **options)
        return value, *gradient.values()

    return call


# ---- arguments: good ones, the same in other forms, and wrong ones


def good(target: Target, name: str, batch: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    shape = target.shapes[name]
    if name != "q":
        return rng.normal(size=(*batch, *shape))
    rows = [target.model.random(rng) for _ in range(math.prod(batch))]
    return np.array(rows, dtype=float).reshape(*batch, *shape)


def spread(a: np.ndarray) -> np.ndarray:
    large = np.full((*a.shape, 2), np.nan)
    large[..., 0] = a
    return large[..., 0]


def unaligned(a: np.ndarray) -> np.ndarray:
    view = np.zeros(a.nbytes + 16, np.uint8)
    view = view[(1 - view.ctypes.data) % 8 :][: a.nbytes].view(np.float64).reshape(a.shape)
    view[...] = a
    return view


def read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


def masked(a: np.ndarray) -> Any:
    return np.ma.masked_array(a, np.arange(a.size).reshape(a.shape) == 0)


def with_number(number: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(a: np.ndarray) -> np.ndarray:
        a = a.copy()
        a.ravel()[(a.size * 7) // 11] = number
        return a

    return change


SAME = {
    "as it is": lambda a: a.copy(),
    "list": lambda a: a.tolist() if a.size else a,
    "spread": spread,
    "backwards": lambda a: a[..., ::-1].copy()[..., ::-1] if a.ndim else a,
    "fortran": lambda a: np.asfortranarray(a) if a.ndim else a,
    "byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "unaligned": unaligned,
    "read-only": read_only,
    "masked array": np.ma.masked_array,
    "longdouble": lambda a: a.astype(np.longdouble),
}
REFUSED = {
    "None": lambda a: None,
    "bool": lambda a: a > 0,
    "object": lambda a: np.array(a, dtype=object),
    "complex": lambda a: a + 0j,
    "str": lambda a: a.astype(str),
    "word": lambda a: "zero",
    "dict": lambda a: {"x": 1},
    "ragged": lambda a: [[1.0], [2.0, 3.0]],
    "date": lambda a: np.zeros(a.shape, "datetime64[s]"),
    "function": lambda a: len,
    "masked entry": masked,
    "nan": with_number(np.nan),
    "inf": with_number(np.inf),
    "-inf": with_number(-np.inf),
}
WRONG_SHAPE = {  # not of arguments that are a number for each state
    "scalar": lambda a: 0.5,
    "too short": lambda a: a[..., :-1],
    "too long": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "one axis more": lambda a: np.stack([a] * 23, axis=-1),
    "no numbers": lambda a: np.zeros(0),
    "transposed": lambda a: np.moveaxis(np.stack([a] * 23), 0, -1).copy(),
}
DOUBTED = {
    "1e308": with_number(1e308),
    "1e200": with_number(-1e200),
    "1e160": with_number(1e160),
    "subnormal": with_number(5e-324),
}
NOT_FINITE = {"nan", "inf", "-inf"}
NEEDS_NUMBERS = {"masked entry", *NOT_FINITE, *DOUBTED}


@dataclass
class Call:
    """A call about to be made, and what must become of it."""

    target: Target
    values: Values
    clean: Values  # the same numbers in plain arrays
    batch: tuple[int, ...]
    kinds: list[str]
    options: Values = field(default_factory=dict)
    blamed: str = ""  # a pattern of what a refusal must name
    refused: bool = False  # it must be
    doubted: bool = False  # it may be, for the numbers in it
    by_name: bool = False


def random_call(rng: np.random.Generator, target: Target) -> Call:
    while True:
        batch = tuple(int(n) for n in rng.integers(0, 10, rng.integers(3)))
        if math.prod(batch) <= 9:
            break
    names = [n for n in target.shapes if n not in target.optional or rng.random() < 0.6]
    clean = {}
    for name in names:
        leading = batch[rng.integers(len(batch) + 1) :] if name != "q" and rng.random() < 0.3 else batch
        clean[name] = good(target, name, leading, rng)
    call = Call(target, {k: x.copy() for k, x in clean.items()}, clean, batch, [])
    call.by_name = bool(rng.random() < 0.2) or [*clean] != [*target.shapes][: len(clean)]
    for name in names:
        if rng.random() < 0.25:
            kind = str(rng.choice(list(SAME)))
            call.values[name] = SAME[kind](clean[name])
            call.kinds.append(kind)
    if rng.random() < 0.7:
        spoil(call, str(rng.choice(names)), rng)
    if target.takes_out and not call.refused and rng.random() < 0.2:
        give_out(call, rng)
    return call


def spoil(call: Call, name: str, rng: np.random.Generator) -> None:
    array, kind = call.clean[name], rng.random()
    if kind < 0.15 and call.target.options:
        wish: Wish = call.target.options[str(rng.choice(list(call.target.options)))]
        call.options, call.blamed, call.refused = dict(wish.given), wish.blamed, not wish.fine
        call.doubted = wish.fine
        if wish.of_numbers and 0 in call.batch:  # of no state, nothing is looked at
            call.refused, call.doubted = False, True
        call.kinds.append(f"{'option' if wish.fine else 'bad option'} {next(iter(wish.given))}")
        return
    if kind < 0.25:
        mistake(call, name, rng)
        return
    if kind < 0.35 and name == "q" and call.target.model.nq > 2 and array.size:
        call.values[name] = array.copy()
        call.values[name].reshape(-1, call.target.model.nq)[0, 3:7] *= rng.choice([0.0, 0.9, 1.1, 1e200])
        call.kinds.append("quaternion")
        call.blamed, call.refused = name, True
        return
    pool = {**REFUSED, **DOUBTED, **(WRONG_SHAPE if call.target.shapes[name] else {})}
    chosen = str(rng.choice([k for k in pool if array.size or k not in NEEDS_NUMBERS]))
    if chosen == "None" and name in call.target.optional:
        return
    call.values[name], call.blamed = pool[chosen](array), name
    call.kinds.append(chosen)
    call.doubted = chosen in DOUBTED or (chosen in NOT_FINITE and 0 in call.batch)
    call.refused = not call.doubted
    if call.doubted:
        call.clean[name] = call.values[name].copy()


def mistake(call: Call, name: str, rng: np.random.Generator) -> None:
    """In how it is called."""
    kind = str(rng.choice(["missing", "unknown keyword", "twice", "too many", "other batch"]))
    call.by_name = True
    if kind == "missing" and name not in call.target.optional:
        del call.values[name]
        call.blamed = name
    elif kind == "unknown keyword":
        call.options["torque"], call.blamed = 1.0, "torque"
    elif kind == "other batch" and any(x.ndim > len(call.target.shapes[k]) for k, x in call.clean.items() if k != name):
        others = [x.shape[: x.ndim - len(call.target.shapes[k])] for k, x in call.clean.items() if k != name]
        if all(leading[-1:] in ((), (1,)) for leading in others):
            return
        call.values[name], call.blamed = good(call.target, name, (29,), rng), name
    elif kind == "too many":
        call.by_name, call.blamed = False, r"arguments?\b"
        call.values = {**call.values, **{f"more{k}": np.zeros(2) for k in range(4)}}
    else:
        return
    call.refused = True
    call.kinds.append(kind)


def give_out(call: Call, rng: np.random.Generator) -> None:
    n, model = call.target.model.nv, call.target.model
    one = call.target.name == "regressor"
    shape = (*call.batch, n, 10 * model.nb if one else n)
    arrays = [np.full(shape, 7.0) for _ in range(1 if one else 3)]
    kind = str(
        rng.choice(["plain", "spread", "fortran", "read-only", "float32", "too large", "list", "too few", "twice"])
    )
    change: dict[str, Callable[[np.ndarray], Any]] = {
        "plain": lambda a: a, "spread": spread, "fortran": np.asfortranarray, "read-only": read_only,
        "float32": lambda a: a.astype(np.float32), "too large": lambda a: np.zeros((*a.shape, 2)),
        "list": lambda a: a.tolist(), "too few": lambda a: a, "twice": lambda a: a,
    }  # fmt: skip
    arrays[-1] = change[kind](arrays[-1])
    if kind == "twice":
        arrays[-1] = arrays[0]
    given: Any = arrays[0] if one else tuple(arrays)
    if kind == "too few":
        given = () if one else tuple(arrays[:2])
    bad = kind not in ("plain", "spread", "fortran") and not (kind == "twice" and (one or not arrays[0].size))
    call.options["out"] = given
    call.kinds.append(f"out {kind}")
    if bad:
        call.blamed = rf"{call.blamed}|out" if call.blamed else "out"
        call.refused = True


# ---- judging


def judged(call: Call) -> str:
    """Make a call: "right" or "refused"; `Wrong` if it is neither."""
    before = {name: _bytes(value) for name, value in call.values.items()}
    try:
        result = _made(call)
    except Exception as error:
        _check_error(call, error)
        outcome = "refused"
    else:
        if call.refused:
            raise Wrong(f"it was not refused, and gave {_short(result)}")
        _check_result(call, result)
        outcome = "right"
    changed = [name for name, value in call.values.items() if _bytes(value) != before[name]]
    if changed:
        raise Wrong(f"it changed {', '.join(changed)}")
    return outcome


def _made(call: Call) -> Any:
    values = call.values
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if call.by_name:
            return call.target.call(**values, **call.options)
        places = call.target.by_place if "too many" not in call.kinds else len(values)
        by_name = {name: values[name] for name in [*values][places:]}
        return call.target.call(*[*values.values()][:places], **by_name, **call.options)


def _check_error(call: Call, error: Exception) -> None:
    said = f"{type(error).__name__}: {error}"
    if not isinstance(error, (ValueError, TypeError, KeyError, fw.SimulationError)):
        raise Wrong(f"it raised {said}")
    if not (call.refused or call.doubted):
        raise Wrong(f"it was refused: {said}")
    if isinstance(error, fw.SimulationError) and call.doubted:
        return
    frames, at = [], error.__traceback__
    while at is not None:
        frames.append(at.tb_frame.f_code.co_filename.replace("\\", "/"))
        at = at.tb_next
    if "/numpy/" in frames[-1]:
        raise Wrong(f"an error inside of NumPy: {said}")
    finite = call.doubted and re.search("not finite|too large|singular|infinite|cannot be made", str(error))
    if not finite and not re.search(rf"(?<!\w)(?:{call.blamed})", str(error)):
        raise Wrong(f"the error does not name {call.blamed}: {said}")
    if len(str(error)) > 600:
        raise Wrong(f"the error has {len(str(error))} letters: {said[:200]}")


def _check_result(call: Call, result: Any) -> None:
    target, options = call.target, {k: x for k, x in call.options.items() if k != "out"}
    arrays = _flat(result)
    shapes, batch = target.shapes, call.batch
    rows = {k: np.broadcast_to(x, (*batch, *shapes[k])) for k, x in call.clean.items()}
    for index in np.ndindex(*batch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = _flat(target.call(**{k: row[index].copy() for k, row in rows.items()}, **options))
        if len(alone) != len(arrays):
            raise Wrong(f"{len(arrays)} results instead of {len(alone)}")
        for own, expected in zip(arrays, alone, strict=True):
            if own.shape != (*batch, *expected.shape):
                raise Wrong(f"a result of shape {own.shape} instead of {(*batch, *expected.shape)}")
            scale = max(1.0, np.abs(expected).max(initial=0.0))
            if not np.abs(own[index] - expected).max(initial=0.0) <= TOLERANCE * scale:
                raise Wrong(f"another result at {index} than of this state alone")
            if not np.isfinite(expected).all():
                raise Wrong(f"a result that is not finite at {index}")


def _flat(result: Any) -> list[np.ndarray]:
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in _flat(part)]
    return [np.asarray(result)]


def _bytes(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.tobytes(), value.shape
    return repr(value)


def _short(result: Any) -> str:
    text = repr(result).replace("\n", " ")
    return text if len(text) < 100 else f"{text[:100]}…"


def run(seed: int, count: int, alarm: bool = False) -> tuple[dict[str, dict[str, int]], list[str]]:
    """So many calls: how many of each target and each kind of misuse were right or refused, and what was wrong."""
    rng, every, builds = np.random.default_rng(seed), targets(), makers(MODELS["floating"])
    counts: dict[str, dict[str, int]] = {}
    wrong: list[str] = []
    if alarm:
        for sign in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(sign, _hung)
    for k in range(count):
        if alarm:
            signal.alarm(SECONDS)
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        name, kinds = "", ["clean"]
        try:
            if rng.random() < 0.05:
                build = builds[rng.integers(len(builds))]
                name, kinds = build.name, [build.kind]
                outcome = build.judged(Wrong)
            else:
                weights = np.array([0.5 if t.name == "rollout_gradient" else 1.0 for t in every])
                target = every[rng.choice(len(every), p=weights / weights.sum())]
                call = random_call(rng, target)
                name, kinds = target.name, call.kinds or ["clean"]
                outcome = judged(call)
        except Wrong as error:
            outcome = "wrong"
            wrong.append(f"{seed}/{k} {name} ({', '.join(kinds)}): {error}")
        for where in (name, *{f"kind: {x}" for x in kinds}):
            own = counts.setdefault(where, {"right": 0, "refused": 0, "wrong": 0})
            own[outcome] += 1
    if alarm:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return counts, wrong


def _hung(*_: Any) -> None:
    raise Wrong(f"it took more than {CPU_SECONDS} s of CPU time, or {SECONDS} s")
