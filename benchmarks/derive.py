"""Equations of motion against sympy.physics.mechanics, in one run: `make equations`.

Chains of links, planar and spatial, with symbols for all masses, lengths and moments: the time from nothing to the
unsimplified equations, and the characters it takes to print them. Theirs are the mass matrix and the forcing vector, by
Lagrange's and by Kane's method; ours are M and b + g, derived, and then collected. SymPy's cache is emptied before each
derivation. Both are evaluated at a random state and must agree. Then an arm with six axes, from numbers to native code.
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from sympy.core.cache import clear_cache
from sympy.physics import mechanics

import featherweight as fw
from featherweight import equations
from featherweight.equations.expressions import Evaluation

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests"))

from bench import machine  # noqa: E402

from equations.mechanisms import six_axes  # noqa: E402

METHODS = (equations.newton_euler, equations.projected_newton_euler, equations.lagrange)
CHAINS = ["yy", "yyy", "yyyy", "yyyyy", "yyyyyy", "zyxz", "zyyzyz"]
SLOW_THEIRS = {"zyyzyz"}  # their Lagrange takes a minute there, and is left out


def symbols(n: int) -> tuple[Any, Any, Any, Any]:
    return *(sympy.symbols(f"{letter}1:{n + 1}", positive=True) for letter in "mlI"), sympy.Symbol("g", positive=True)


def ours(axes: str) -> fw.Model:
    """Links hanging from each other's ends, turning about these axes."""
    masses, lengths, moments, g = symbols(len(axes))
    builder = fw.Builder(axes, gravity=(0, 0, -g))
    for k, axis in enumerate(axes):
        builder.add_body(
            f"link{k + 1}",
            parent=f"link{k}" if k else "world",
            joint=fw.joints.Revolute(axis),
            placement=fw.Placement((0, 0, -lengths[k - 1] if k else 0)),
            inertia=fw.Inertia(masses[k], (0, 0, -lengths[k] / 2), moments[k]),
        )
    return builder.build()


def theirs(axes: str, kane: bool) -> tuple[Any, Any, dict[Any, Any]]:
    """Mass matrix, forcing, and our symbols for theirs."""
    n = len(axes)
    masses, lengths, moments, g = symbols(n)
    q = mechanics.dynamicsymbols(f"q1:{n + 1}")
    u = mechanics.dynamicsymbols(f"u1:{n + 1}") if kane else [x.diff() for x in q]
    world, root = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    root.set_vel(world, 0)
    frame, point, bodies, loads = world, root, [], []
    for k, axis in enumerate(axes):
        about = getattr(frame, axis)
        body = frame.orientnew(f"A{k}", "Axis", [q[k], about])
        body.set_ang_vel(frame, u[k] * about)
        com = point.locatenew(f"C{k}", -lengths[k] / 2 * body.z)
        com.v2pt_theory(point, world, body)
        end = point.locatenew(f"P{k}", -lengths[k] * body.z)
        end.v2pt_theory(point, world, body)
        inertia = mechanics.inertia(body, moments[k], moments[k], moments[k])
        bodies.append(mechanics.RigidBody(f"B{k}", com, body, masses[k], (inertia, com)))
        loads.append((com, -masses[k] * g * world.z))
        frame, point = body, end
    if kane:
        method = mechanics.KanesMethod(world, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)])
        method.kanes_equations(bodies, loads)
    else:
        method = mechanics.LagrangesMethod(mechanics.Lagrangian(world, *bodies), q, forcelist=loads, frame=world)
        method.form_lagranges_equations()
    return method.mass_matrix, method.forcing, dict(zip([*q, *u], symbols_of_state(n), strict=True))


def symbols_of_state(n: int) -> list[Any]:
    return [sympy.Symbol(f"{letter}{k}", real=True) for letter in "qv" for k in range(1, n + 1)]


def timed(f: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The best time of a few, and the result; once if it takes long."""
    best, result = float("inf"), None
    for _ in range(repeats):
        clear_cache()
        start = time.perf_counter()
        result = f()
        best = min(best, time.perf_counter() - start)
        if best > 0.5:
            break
    return best, result


def printed(found: equations.Equations) -> int:
    """Characters of M and b + g. What was derived in space, and not collected, takes longer to print than to derive."""
    return len(str(found.M)) + len(str(found.b + found.g))


def valued(values: dict[Any, float], matrix: Any) -> np.ndarray:
    """Numbers for a matrix of expressions; values for symbols, and for functions of time and their rates."""
    value = Evaluation(values)
    return np.array([float(value(e)) for e in matrix])


def compare(axes: str) -> dict[str, Any]:
    """Times and sizes of all methods for one chain."""
    model = ours(axes)
    row: dict[str, Any] = {"axes": axes, "links": len(axes)}
    numbers = np.random.default_rng(0).uniform(0.3, 1.3, 100)
    found = {}
    for method in METHODS:
        seconds, derived = timed(lambda method=method: method(model))
        clear_cache()
        start = time.perf_counter()
        short = derived.simplified()
        row[method.__name__] = {
            "seconds": seconds,
            "simplify_seconds": time.perf_counter() - start,
            "characters": printed(derived) if axes == axes[0] * len(axes) else None,
            "simplified_characters": printed(short),
        }
        found[method.__name__] = short
    short = found["lagrange"]
    values = {s: float(x) for s, x in zip((*short.q, *short.v, *short.parameters), numbers, strict=False)}
    mine = [valued(values, short.M), valued(values, -short.b - short.g)]
    for name, kane in (("kane", True), ("lagrange_theirs", False)):
        if not kane and axes in SLOW_THEIRS:
            continue
        seconds, (their_M, their_forcing, names) = timed(lambda kane=kane: theirs(axes, kane))
        row[name] = {"seconds": seconds, "characters": len(str(their_M)) + len(str(their_forcing))}
        known = values | {s: values[x] for s, x in names.items()}
        for x, y in zip(mine, (valued(known, their_M), valued(known, their_forcing)), strict=True):
            error = np.abs(x - y).max() / np.abs(x).max()
            if error > 1e-9:
                raise SystemExit(f"{axes}: {name} and featherweight differ by {error:.1e}")
    return row


def six_axis_arm() -> dict[str, Any]:
    """From a numeric model to equations, collected, and as native code."""
    model, found = six_axes(), {}
    q, v = np.random.default_rng(1).normal(size=(2, 1000, 6))
    for method in METHODS:
        derive, derived = timed(lambda method=method: method(model), 1)
        simplify, _ = timed(derived.simplified, 1)
        f = derived.lambdify()
        compiled, (M, b, g, _) = timed(lambda f=f: f(q, v), 1)
        start = time.perf_counter()
        f(q, v)
        call = time.perf_counter() - start
        scale = np.abs(fw.bias_force(model, q, v)).max()
        found[method.__name__] = {
            "derive_seconds": derive,
            "simplify_seconds": simplify,
            "compile_seconds": compiled,
            "seconds_a_state": call / len(q),
            "error_M": float(np.abs(M - fw.mass_matrix(model, q)).max() / np.abs(M).max()),
            "error_b": float(np.abs(b + g - fw.bias_force(model, q, v)).max() / scale),
        }
    return found


def main() -> None:
    chains = []
    print(f"{'chain':8} {'ours: NE':>9} {'PNE':>8} {'Lagr.':>8} | {'Kane':>8} {'Lagrange':>8} | ratios | characters")
    for axes in CHAINS:
        row = compare(axes)
        chains.append(row)
        mine = [row[m.__name__]["seconds"] for m in METHODS]
        kane, lagrange = row["kane"], row.get("lagrange_theirs")
        ratio = f"{kane['seconds'] / max(mine):5.1f}"
        ratio += f" {lagrange['seconds'] / max(mine):5.1f}" if lagrange else "     –"
        size = [row[m.__name__]["simplified_characters"] for m in METHODS]
        print(
            f"{axes:8} {mine[0]:8.3f}s {mine[1]:7.3f}s {mine[2]:7.3f}s | {kane['seconds']:7.2f}s "
            f"{lagrange['seconds'] if lagrange else float('nan'):7.2f}s | {ratio} | {max(size)} simplified, "
            f"theirs {kane['characters']}",
            flush=True,
        )
    write(chains, {})
    arm = six_axis_arm()
    print(json.dumps(arm, indent=1))
    write(chains, arm)


def write(chains: list[dict[str, Any]], arm: dict[str, Any]) -> None:
    date = datetime.date.today().isoformat()
    result = {
        "date": date,
        "machine": machine(),
        "sympy": sympy.__version__,
        "chains": chains,
        "six_axes": arm,
    }
    path = HERE / "results" / f"{date}-equations.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
