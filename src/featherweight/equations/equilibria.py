"""Equilibria: all states of rest in a box, found by branch and prune, each proved by Krawczyk's test.

A box whose forces cannot vanish is dropped. A box where K = m - Y F(m) + (1 - Y J)(box - m) lies inside the box has
exactly one equilibrium. Any other is halved. So none is missed (Neumaier, Enclosure Methods for Systems of Equations).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr, S, Symbol

from featherweight.equations import interval
from featherweight.equations.equations import Equations
from featherweight.equations.expressions import Evaluation, Rate, Substitution
from featherweight.equations.interval import Enclosure

MOST_BOXES = 100_000
SMALLEST = 1e-7  # of a box's first width: undecided below
HALF = 0.4873  # boxes are bisected off centre: equilibria are often at round coordinates
STILL = 1e-9  # relative to the fastest eigenvalue: below, a real part counts as zero


@dataclass(frozen=True)
class Equilibrium:
    """A state of rest.

    `stability` is "asymptotically stable", "stable" (a minimum of the potential, nothing damps), "unstable", or
    "undecided" by the linear part; "held by dry friction" where joints have some: then states nearby are at rest too,
    and this is the one at which nothing is to be held. `proven` is False for a place where two equilibria may be about
    to meet. Coordinates in `free` may have any value.
    """

    q: np.ndarray
    stability: str
    eigenvalues: np.ndarray
    proven: bool
    free: tuple[str, ...]


def equilibria(
    equations: Equations,
    box: Mapping[Any, tuple[float, float]],
    parameters: Mapping[Any, float],
    inputs: Mapping[Any, float],
) -> list[Equilibrium]:
    """All q in the box with g(q) = τ(q, v = 0), ordered by their coordinates."""
    if not equations.mechanism.holonomic:
        raise ValueError("equilibria: for joints whose velocity is the rate of their coordinates, not for quaternions")
    numbers = _numbers(equations, parameters, inputs)
    short = equations.mechanism.ring.short
    still = Substitution({**{v: S.Zero for v in equations.v}, **numbers})
    forces = [short(still(e)) for e in equations.g - equations.tau]
    forces = [e for e in forces if e != 0]
    coordinates = [q for q in equations.q if any(q in e.free_symbols for e in forces)]
    free = tuple(q.name for q in equations.q if q not in coordinates)
    if len(forces) != len(coordinates):
        raise ValueError(
            f"equilibria: {len(forces)} forces for {len(coordinates)} coordinates that they depend on: the equilibria "
            "are not single points, or there are none"
        )
    limits = _limits(equations, coordinates, box)
    roots = _search(forces, coordinates, limits)
    return [_described(equations, numbers, coordinates, x, proven, free) for x, proven in roots]


def _numbers(equations: Equations, parameters: Mapping[Any, float], inputs: Mapping[Any, float]) -> dict[Symbol, Any]:
    """Values of all symbols that are not the state."""
    given = {str(name): value for name, value in {**parameters, **inputs}.items()}
    values = {s.name: x for s, x in equations.mechanism.values.items()} | dict.fromkeys(map(str, equations.inputs), 0.0)
    symbols = (*equations.parameters, *equations.inputs)
    known = {s.name for s in symbols} | {*values, *equations.model.symbols}
    for name in given:
        if name not in known:
            raise ValueError(f"equilibria: there is no symbol {name}; there are {', '.join(sorted(known)) or 'none'}")
    missing = [s.name for s in symbols if s.name not in given and s.name not in values]
    if missing:
        raise ValueError(f"equilibria: no value for {', '.join(missing)}; give parameters={{name: number}}")
    return {s: S(float((values | given)[s.name])) for s in symbols}


def _limits(equations: Equations, coordinates: Sequence[Symbol], box: Mapping[Any, Any]) -> list[Enclosure]:
    given = {str(name): bounds for name, bounds in box.items()}
    unknown = [name for name in given if name not in {q.name for q in equations.q}]
    missing = [q.name for q in coordinates if q.name not in given]
    if unknown or missing:
        what = f"there is no coordinate {unknown[0]}" if unknown else f"no bounds for {', '.join(missing)}"
        raise ValueError(f"box: {what}; expected bounds (from, to) for {', '.join(q.name for q in coordinates)}")
    found = [Enclosure(float(low), float(high)) for low, high in (given[q.name] for q in coordinates)]
    for q, bounds in zip(coordinates, found, strict=True):
        if not bounds.low < bounds.high < np.inf or bounds.low == -np.inf:
            raise ValueError(f"box: {q.name}: expected finite bounds in order, got {bounds.low:g} and {bounds.high:g}")
    return found


def _search(forces: list[Expr], coordinates: list[Symbol], limits: list[Enclosure]) -> list[tuple[np.ndarray, bool]]:
    """Branch and prune: the roots in the box, and whether each is proved."""
    jacobian = [[Rate({q: S.One})(e) for q in coordinates] for e in forces]

    def values(entries: Sequence[Expr], point: Sequence[Any], functions: Any) -> list[Any]:
        value = Evaluation(dict(zip(coordinates, point, strict=True)), functions)
        return [value(e) for e in entries]

    def at(point: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        value = Evaluation(dict(zip(coordinates, map(float, point), strict=True)))
        F = np.array([float(value(e)) for e in forces])
        return F, np.array([[float(value(e)) for e in row] for row in jacobian])

    boxes, roots, undecided = [limits], [], []
    for _ in range(MOST_BOXES):
        if not boxes:
            break
        box = boxes.pop()
        if any(0.0 not in Enclosure.of(f) for f in values(forces, box, interval.FUNCTIONS)):
            continue
        wide = [Enclosure(x.low - 0.1 * x.width, x.high + 0.1 * x.width) for x in box]
        J = [[Enclosure.of(e) for e in values(row, wide, interval.FUNCTIONS)] for row in jacobian]
        middle = [x.middle for x in wide]
        F = [Enclosure.of(f) for f in values(forces, [Enclosure.of(x) for x in middle], interval.FUNCTIONS)]
        K = _krawczyk(wide, middle, F, J, at(middle)[1])
        if K is not None:
            if any(k.meet(x) is None for k, x in zip(K, box, strict=True)):
                continue
            if all(k.inside(x) for k, x in zip(K, wide, strict=True)):
                roots.append(_newton([k.middle for k in K], at))
                continue
        sizes = [x.width / all_.width for x, all_ in zip(box, limits, strict=True)]
        k = int(np.argmax(sizes))
        if sizes[k] < SMALLEST:
            undecided.append(np.array([x.middle for x in box]))
            continue
        cut = box[k].low + HALF * box[k].width
        for part in (Enclosure(box[k].low, cut), Enclosure(cut, box[k].high)):
            boxes.append([part if j == k else x for j, x in enumerate(box)])
    else:
        raise ValueError(
            f"equilibria: not done after {MOST_BOXES} boxes: they are not single points, or the box is too large"
        )
    inside = [x for x in roots if all(y.low - 1e-12 <= e <= y.high + 1e-12 for e, y in zip(x, limits, strict=True))]
    scale = np.array([x.width for x in limits])
    single = [(x, True) for x in _distinct(inside, 1e-9 * scale)] + [
        (x, False) for x in _distinct(undecided, 1e-3 * scale)
    ]
    return sorted(single, key=lambda root: tuple(root[0]))


def _krawczyk(
    box: list[Enclosure], middle: list[float], F: list[Enclosure], J: list[list[Enclosure]], J_m: np.ndarray
) -> list[Enclosure] | None:
    """K(box) = m - Y F(m) + (1 - Y J)(box - m), enclosed, with Y = J(m)⁻¹; None where that cannot be inverted.

    Y is only a number that makes K small: any would do, so it may be rounded; F(m) and J(box) may not.
    """
    n = len(box)
    if not np.isfinite(J_m).all() or abs(np.linalg.det(J_m)) < 1e-300:
        return None
    Y = np.linalg.inv(J_m)
    result = []
    for i in range(n):
        total = Enclosure.of(middle[i])
        for k in range(n):
            total = total - F[k] * float(Y[i, k])
        for j in range(n):
            slope: Any = Enclosure.of(float(i == j))
            for k in range(n):
                slope = slope - J[k][j] * float(Y[i, k])
            total = total + slope * (box[j] - middle[j])
        result.append(total)
    return result


def _newton(point: Sequence[float], at: Callable) -> np.ndarray:
    """Newton's method from a point whose neighbourhood is known to have a root."""
    x = np.array(point, dtype=float)
    for _ in range(20):
        F, J = at(x)
        step = np.linalg.solve(J, F)
        x = x - step
        if np.abs(step).max() <= 1e-15 * max(1.0, np.abs(x).max()):
            break
    return x


def _distinct(points: list[np.ndarray], apart: np.ndarray) -> list[np.ndarray]:
    kept: list[np.ndarray] = []
    for x in points:
        if not any((np.abs(x - y) <= apart).all() for y in kept):
            kept.append(x)
    return kept


def _described(
    equations: Equations,
    numbers: dict[Symbol, Any],
    coordinates: list[Symbol],
    x: np.ndarray,
    proven: bool,
    free: tuple[str, ...],
) -> Equilibrium:
    """The equilibrium with its eigenvalues and its stability."""
    values = {q: 0.0 for q in equations.q} | dict(zip(coordinates, map(float, x), strict=True))
    values |= {v: 0.0 for v in equations.v} | {s: float(n) for s, n in numbers.items()}
    value = Evaluation(values)

    def matrix(entries: Any, symbols: Sequence[Symbol]) -> np.ndarray:
        return np.array([[float(value(Rate({s: S.One})(e))) for s in symbols] for e in entries])

    right = equations.tau - equations.b - equations.g
    M = np.array([[float(value(e)) for e in row] for row in equations.M.tolist()])
    K, D = -matrix(right, coordinates), -matrix(right, list(equations.v))
    places = [list(equations.q).index(q) for q in coordinates]
    n, m = len(coordinates), len(equations.v)
    A = np.zeros((n + m, n + m))
    A[:n, n:] = np.eye(m)[places]
    A[n:, :n], A[n:, n:] = -np.linalg.solve(M, K), -np.linalg.solve(M, D)
    eigenvalues = np.linalg.eigvals(A)
    q = np.array([values[s] for s in equations.q])
    dry = bool(equations.loads.frictions)
    return Equilibrium(q, _stability(eigenvalues, K[places], proven, dry), eigenvalues, proven, free)


def _stability(eigenvalues: np.ndarray, K: np.ndarray, proven: bool, dry: bool) -> str:
    if not proven:
        return "undecided"
    if dry:
        return "held by dry friction"
    fastest = max(1e-300, float(np.abs(eigenvalues).max()))
    if eigenvalues.real.max() > 1e-7 * fastest:
        return "unstable"
    if eigenvalues.real.max() < -STILL * fastest:
        return "asymptotically stable"
    symmetric = np.abs(K - K.T).max() <= 1e-9 * np.abs(K).max()
    if symmetric and np.linalg.eigvalsh(K).min() > 1e-9 * np.abs(K).max():
        return "stable"
    return "undecided"
