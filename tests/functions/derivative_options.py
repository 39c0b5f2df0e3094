"""Options of calls that have to do with derivatives, good and bad, and how functions are made, well and badly."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.contact import Impulse, SpringDamper


@dataclass(frozen=True)
class Wish:
    """Options of a call, and what a refusal must name; `fine`: they are good ones."""

    given: dict[str, Any]
    blamed: str = ""
    fine: bool = False
    of_numbers: bool = False  # it is wrong for a number in it


Options = dict[str, Wish]
NO_TIMES = (0.0, -1e-3, math.nan, math.inf, "x", None, [1e-3], 1e-3j, np.zeros(2))


def options_of(call: str, model: fw.Model) -> Options:
    """Options of dynamics, of `linearize` or of rollouts."""
    found: list[Wish] = [Wish({"model": x}, "model") for x in (None, "pendulum", 3.0, fw.Builder("x"), object())]
    found += [Wish({"parameters": x}, "parameters") for x in (3, "mass", [1.0], {"legs.mass": 1.0})]
    if "arm.mass" in model.parameters:
        bad = (-1.0, math.nan, math.inf, "x", None, [1.0, "x"], 1j, {})
        found += [Wish({"parameters": {"arm.mass": x}}, "arm.mass") for x in bad]
        found += [Wish({"parameters": {"arm.mass": x}}, fine=True) for x in (0.4, np.float32(0.5), np.array(1))]
    if call != "dynamics":
        found += _of_steps(call)
    if call == "rollout":
        found += _of_rollouts(model)
    return {f"{k} {next(iter(wish.given))}": wish for k, wish in enumerate(found)}


def _of_steps(call: str) -> list[Wish]:
    found = [Wish({"dt": x}, "dt") for x in NO_TIMES]
    found += [Wish({"contact": x}, "contact") for x in ("impulse", 3, Impulse)]
    found += [Wish({"integrator": x}, "integrator") for x in ("euler", 3, None, object())]
    found += [Wish({"control": x}, "control") for x in (3, "pd", lambda t, q, v: 0 * v)]
    found += [Wish({"limits": x}, "limits") for x in ("yes", 1, None)]
    found += [Wish({"actuators": x}, "actuators") for x in (3, "motor")]
    found += [Wish({"forces": x}, "forces") for x in (3, "spring", [1.0])]
    found += [Wish({"constraints": x}, "constraints") for x in (3, "limit", [1.0])]
    found += [Wish({"contact": None}, fine=True), Wish({"integrator": "rk4", "contact": None}, fine=True)]
    if call == "linearize":
        found += [Wish({"state": x}, "state") for x in (3, "x", {"y": 0.0}, [1.0])]
        found += [Wish({"state": {"step": x}}, "step") for x in ("x", None, 1j, [1.0, "a"])]
        found += [Wish({"state": {"step": math.nan}}, "step", of_numbers=True)]
        found += [Wish({"state": {"step": 3.0}}, fine=True), Wish({"state": {}}, fine=True)]
    return found


def _of_rollouts(model: fw.Model) -> list[Wish]:
    found = [Wish({"steps": x}, "steps") for x in (0, -1, 1.5, "x", None, True, 10**12)]
    found += [
        Wish({"wrt": x}, "wrt") for x in (("z",), "z", 3, None, [3], ("tau", "p"), ("tau", "tau"), {"q": 1, "y": 2})
    ]
    found += [Wish({"wrt": x}, fine=True) for x in ("tau", ["v"], ("q", "tau"), ())]
    found += [Wish({"cost": x}, "cost") for x in (3, "x", None, [1.0])]
    found += [Wish({"final": x}, "final") for x in (3, "x", [1.0])]
    found += [
        Wish({"cost": lambda t, q, v, tau, x: q}, "cost"),
        Wish({"cost": lambda t, q, v, tau, x: None}, "cost|return"),
        Wish({"cost": lambda t, q, v, tau, x: "cost"}, "cost|return"),
        Wish({"cost": lambda t, q, v, tau, x: (q[0], q[0])}, "cost"),
        Wish({"cost": lambda q, v: q @ q}, r"<lambda>\(\)|cost"),
        Wish({"cost": lambda t, q, v, tau, x: q[0] if q[0] > 0 else -q[0]}, "where|scalar"),
        Wish({"final": lambda q, v, x: q}, "final"),
        Wish({"cost": lambda t, q, v, tau, x: 1.0}, fine=True),
        Wish({"final": lambda q, v, x: q[0]}, fine=True),
        Wish({"contact": SpringDamper(stiffness=500.0, damping=5.0)}, fine=True),
        Wish({"integrator": "variational"}, fine=True),
    ]
    return found


@dataclass(frozen=True)
class Making:
    """How a function is made, and what must become of it: the value of a result, or a refusal that names something."""

    name: str
    kind: str
    make: Callable[[], Any]
    blamed: str = ""
    value: Any = None

    def judged(self, wrong: type[Exception]) -> str:
        try:
            result = self.make()
        except (ValueError, TypeError, KeyError, IndexError) as error:
            if self.value is not None:
                raise wrong(f"it was refused: {type(error).__name__}: {error}") from None
            if not re.search(self.blamed, str(error)):
                raise wrong(f"the error does not name {self.blamed}: {type(error).__name__}: {error}") from None
            return "refused"
        except Exception as error:
            raise wrong(f"it raised {type(error).__name__}: {error}") from None
        if self.value is None:
            raise wrong(f"it was not refused, and gave {result!r}")
        if not np.allclose(result, self.value):
            raise wrong(f"{result!r} instead of {self.value!r}")
        return "right"


X = np.array([0.3, 0.4])


def _function(f: Any, inputs: Any = None, outputs: Any = None) -> Callable[[], Any]:
    return lambda: fw.function(f, inputs={"x": 2} if inputs is None else inputs, outputs=outputs)(X)


def makers(model: fw.Model) -> list[Making]:
    """Functions and derivatives, made well and badly."""
    bad_inputs: list[Any] = [
        [], {}, 3, "x", {"x": -1}, {"x": 1.5}, {"1a": 2}, {3: 2}, {"x": model}, {"x": "2"}, {"x": (2, -1)}, {"x": True},
        {"x": None}, {"x": [2, "a"]}, {"": 2}, ["x"], {"x": {"y": 2}},
    ]  # fmt: skip
    found = [
        Making("fw.function", "bad inputs", lambda x=x: fw.function(len, inputs=x), "inputs")  # type: ignore[misc]
        for x in bad_inputs
    ]
    found += [
        Making("fw.function", "no function", lambda x=x: fw.function(x, inputs={"x": 2}), "function")  # type: ignore[misc]
        for x in (3, None, "f", X)
    ]
    bad: list[tuple[Any, str]] = [
        (lambda x: None, "return"), (lambda x: "a", "return"), (lambda x: (), "return"), (lambda x: {}, "return"),
        (lambda x: [1.0, "a"], "return"), (lambda: 1.0, r"\(\)"), (lambda x, y: x, "argument"),
        (lambda x: x if x[0] > 0 else -x, "where"), (lambda x: math.sin(x[0]), "sin"),
        (lambda x: float(x[0]), "float|number"), (lambda x: int(x[0]), "int|number"),
        (lambda x: [1.0][x[0]], "ind|number"), (lambda x: 1j * x, "complex|number"),
        (lambda x: np.linalg.eigvals(np.outer(x, x)), "eig|linalg"), (lambda x: x @ np.ones(3), "shape|size|dim"),
        (lambda x: x[5], "index 5"), (lambda x: x.astype(float), "float|number"),
        (lambda x: {"a": x, "b": None}, "return"),
    ]  # fmt: skip
    found += [Making("fw.function", "bad body", _function(f), text) for f, text in bad]
    twice = fw.function(lambda x: 2 * x, inputs={"x": 2})
    bad_outputs: list[Any] = [3, fw.configuration(model), (None, None, None, 3), {"y": fw.configuration(model)}]
    found += [Making("fw.function", "bad outputs", _function(lambda x: 2 * x, None, o), "outputs") for o in bad_outputs]
    for make in (fw.derivative, fw.jvp, fw.vjp):
        name = f"fw.{make.__name__}"
        for f in (len, 3, None, lambda x: x, fw.jvp(twice), fw.mass_matrix):
            found.append(Making(name, "no function", lambda f=f, make=make: make(f, "x"), "f: expected"))  # type: ignore[misc]
        for names in (("y",), (3,), (None,), ("x", "x"), (("x",),), ("X",), (["x"],)):
            found.append(Making(name, "bad names", lambda n=names, make=make: make(twice, *n), "names|input"))  # type: ignore[misc]
    found += [
        Making("fw.function", "fine", _function(lambda x: 2 * x), value=2 * X),
        Making("fw.function", "fine", _function(lambda x: [x[0], 1.0]), value=[0.3, 1.0]),
        Making("fw.function", "fine", _function(lambda x: 3, None), value=3.0),
        Making("fw.derivative", "fine", lambda: fw.derivative(twice)(X), value=2 * np.eye(2)),
        Making("fw.jvp", "fine", lambda: fw.jvp(twice, "x")(X, dx=X), value=2 * X),
        Making("fw.vjp", "fine", lambda: fw.vjp(twice)(X, X)[0], value=2 * X),
    ]
    return found
