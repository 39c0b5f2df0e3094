"""Pictures as SVG text: a planar mechanism, and curves over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from sympy import Expr

from featherweight.equations.elements import Point
from featherweight.equations.equations import Equations
from featherweight.equations.expressions import Evaluation, exact
from featherweight.equations.printing import Name, Writer
from featherweight.spatial import Vector

PLANES = ((1, 0, 2), (2, 0, 1), (0, 1, 2))  # the axis across, to the right, up
BEND = (0.55, 0.5, -0.7, 0.4, -0.5)  # radians, and metres for joints that slide
WIDTH, HEIGHT = 460, 340
COLORS = ("#2563eb", "#d97706", "#059669", "#c026d3", "#dc2626", "#0891b2")


def drawing(equations: Equations) -> str | None:
    """The mechanism in a bent configuration, if all its motion is in one plane of the world's axes; else None."""
    plane = _plane(equations)
    if plane is None:
        return None
    return _Sketch(equations, plane).svg()


def _sample(equations: Equations, q: Sequence[float]) -> Evaluation:
    """Symbols as they are drawn: 1 for lengths, and the values of declared parameters."""
    values: dict[Any, float] = {s: 1.0 for s in equations.parameters}
    values |= equations.mechanism.values
    values |= dict(zip(equations.q, q, strict=True))
    return Evaluation(values)


def _plane(equations: Equations) -> tuple[int, int, int] | None:
    """The plane of a planar mechanism, found from samples of its configuration."""
    mechanism, rng = equations.mechanism, np.random.default_rng(0)
    if not mechanism.holonomic:
        return None
    for across, right, up in PLANES:
        still = True
        for _ in range(4):
            value = _sample(equations, rng.uniform(-1.5, 1.5, len(equations.q)).tolist())
            for i in range(1, len(mechanism.position)):
                spins = abs(float(value(mechanism.rotation[i][across][across])) - 1) < 1e-9
                level = abs(float(value(mechanism.position[i][across])) - _offset(equations, i, across)) < 1e-9
                still = still and spins and level
        if still:
            return across, right, up
    return None


def _offset(equations: Equations, i: int, across: int) -> float:
    value = _sample(equations, [0.0] * len(equations.q))
    return float(value(equations.mechanism.position[i][across]))


class _Sketch:
    """An SVG canvas: shapes in metres, scaled to the page when all are known."""

    def __init__(self, equations: Equations, plane: tuple[int, int, int]) -> None:
        self.equations, self.mechanism = equations, equations.mechanism
        self.across, self.right, self.up = plane
        self.bend = [BEND[k % len(BEND)] for k in range(len(equations.q))]
        self.value = _sample(equations, self.bend)
        self.writer = Writer(equations)
        self.origin = [self._flat(p) for p in self.mechanism.position]
        self.links = [(link, self._flat(self.mechanism.at(link.body, link.com))) for link in self.mechanism.links]
        points = [*self.origin, *(p for _, p in self.links), (0.0, 0.0)]
        points += [self._end(end) for line in (*equations.loads.springs, *equations.loads.dampers) for end in line[:2]]
        self.points = points
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        size = max(1e-3, float((high - low).max()))
        self.scale = min((WIDTH - 150) / size, (HEIGHT - 120) / max(1e-3, float(high[1] - low[1])), 190 / size * 1.3)
        middle = (low + high) / 2
        self.shift = (WIDTH / 2 - self.scale * middle[0], HEIGHT / 2 + self.scale * middle[1])
        self.shapes: list[str] = []

    def _flat(self, p: Vector) -> tuple[float, float]:
        return float(self.value(p[self.right])), float(self.value(p[self.up]))

    def _end(self, point: Point) -> tuple[float, float]:
        return self._flat(self.mechanism.at(*point))

    def _page(self, p: Sequence[float]) -> tuple[float, float]:
        return self.shift[0] + self.scale * p[0], self.shift[1] - self.scale * p[1]

    def svg(self) -> str:
        for line in self.equations.loads.springs:
            self._zigzag(self._page(self._end(line.a)), self._page(self._end(line.b)), line.constant)
        for line in self.equations.loads.dampers:
            self._piston(self._page(self._end(line.a)), self._page(self._end(line.b)), line.constant)
        for i, parent, _ in self.mechanism.tree.outward():
            self._link(i, parent)
        for i, parent, joint in self.mechanism.tree.outward():
            self._joint(i, parent, joint)
        for link, place in self.links:
            x, y = self._page(place)
            self.shapes.append(f'<circle class="mass" cx="{x:.1f}" cy="{y:.1f}" r="7"/>')
            dx, dy = self._aside(link.body, (x, y))
            self._label(x + dx, y + dy, self._symbol(link.mass))
        heights = [self._page(p)[1] for p in self.points]
        top, bottom = min(heights) - 64, max(heights) + 44
        self._gravity(top)
        return (
            f'<svg class="mechanism" viewBox="0 {top:.0f} {WIDTH} {bottom - top:.0f}" role="img" '
            f'aria-label="drawing of {escape(self.equations.model.name)}">{"".join(self.shapes)}</svg>'
        )

    def _aside(self, body: int, place: tuple[float, float]) -> tuple[float, float]:
        """Position of a label: beside the link, on the side away from its angle; above a prismatic joint."""
        x, y = self._page(self.origin[body])
        dx, dy = place[0] - x, place[1] - y
        length = math.hypot(dx, dy)
        if length < 8:
            return 10.0, -22.0
        side = 1 if self.bend[self.mechanism.tree.joints[body].q.start] * self._sense(body) > 0 else -1
        return side * 20 * -dy / length - 6, side * 20 * dx / length + 6

    def _sense(self, body: int) -> float:
        """Positive if a revolute joint turns counter-clockwise on the page; 0 for a prismatic joint."""
        sign = -1 if self.across == 1 else 1  # x to the right and z up: y points into the page
        return sign * sum(float(self.value(s.angular[self.across])) for s in self.mechanism.subspace[body])

    def _symbol(self, e: Expr) -> str:
        text = str(e) if not e.is_number else f"{float(e):.3g}"
        return self.writer.text(e) if e.is_Symbol else text if len(text) < 14 else ""

    def _label(self, x: float, y: float, text: str, kind: str = "") -> None:
        base, _, below = text.partition("_")
        sub = f'<tspan dy="4" font-size="11">{escape(below)}</tspan>' if below else ""
        self.shapes.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(base)}{sub}</text>')

    def _link(self, i: int, parent: int) -> None:
        """From a body's joint to what it carries: centres of mass and further joints."""
        start = self._page(self.origin[i])
        ends = [place for link, place in self.links if link.body == i]
        ends += [self.origin[c] for c in self.equations.model.children(i)]
        for end in map(self._page, ends):
            if math.dist(start, end) > 1:
                self.shapes.append(_segment("rod", start, end))

    def _joint(self, i: int, parent: int, joint: Any) -> None:
        x, y = self._page(self.origin[i])
        s = self.mechanism.subspace[i][0] if self.mechanism.subspace[i] else None
        if s is None:
            return
        name = self._symbol(self.equations.q[joint.q.start])
        if any(e != 0 for e in s.angular):
            if parent == 0:
                self._ground(x, y)
            self.shapes.append(f'<circle class="pin" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
            self._arc(i, x, y, name)
            return
        # a slide: a box on a rail from the parent's origin on
        dx, dy = float(self.value(s.linear[self.right])), -float(self.value(s.linear[self.up]))
        sx, sy = self._page(self.origin[parent])
        angle = math.degrees(math.atan2(dy, dx))
        self.shapes.append(_segment("rail", (x - 130 * dx, y - 130 * dy), (x + 130 * dx, y + 130 * dy)))
        self.shapes.append(
            '<rect class="slide" x="-30" y="-16" width="60" height="32" '
            f'transform="translate({x:.1f},{y:.1f}) rotate({angle:.1f})"/>'
        )
        offset = 34
        a, b = (sx + offset * dy, sy - offset * dx), (x + offset * dy, y - offset * dx)
        self.shapes.append(_segment("measure", a, b))
        self._label((a[0] + b[0]) / 2 - 4, (a[1] + b[1]) / 2 - 6, name, "coordinate")

    def _arc(self, i: int, x: float, y: float, name: str) -> None:
        """The angle of a hinge, between where its link is and where it would be at q = 0."""
        k = self.mechanism.tree.joints[i].q.start
        target = next((p for link, p in self.links if link.body == i), None)
        children = self.equations.model.children(i)
        if children:
            target = self.origin[children[0]]
        if target is None or math.dist(target, self.origin[i]) * self.scale < 8:
            self._label(x + 10, y - 10, name, "coordinate")
            return
        body = next((self.mechanism.position[c] for c in children), None)
        link = next((link for link, _ in self.links if link.body == i), None)
        point = body if body is not None else self.mechanism.at(i, link.com) if link else None
        at_zero = _sample(self.equations, [0.0 if j == k else b for j, b in enumerate(self.bend)])
        start = [float(at_zero(point[c])) for c in (self.right, self.up)] if point is not None else target
        home = [float(at_zero(self.mechanism.position[i][c])) for c in (self.right, self.up)]
        a0 = math.atan2(start[1] - home[1], start[0] - home[0])
        a1 = math.atan2(target[1] - self.origin[i][1], target[0] - self.origin[i][0])
        r = 26.0
        p0, p1 = ((x + r * math.cos(a), y - r * math.sin(a)) for a in (a0, a1))
        turn = (a1 - a0 + math.pi) % (2 * math.pi) - math.pi
        dashed = (x + 1.6 * r * math.cos(a0), y - 1.6 * r * math.sin(a0))
        self.shapes.append(_segment("zero", (x, y), dashed))
        self.shapes.append(
            f'<path class="angle" d="M{p0[0]:.1f},{p0[1]:.1f} A{r},{r} 0 0 {int(turn < 0)} {p1[0]:.1f},{p1[1]:.1f}"/>'
        )
        middle = a0 + turn / 2
        self._label(x + 1.6 * r * math.cos(middle) - 5, y - 1.6 * r * math.sin(middle) + 5, name, "coordinate")

    def _ground(self, x: float, y: float) -> None:
        strokes = "".join(f"M{x + k:.1f},{y - 14:.1f} l8,-9 " for k in range(-24, 22, 8))
        self.shapes.append(f'<path class="ground" d="M{x - 24:.1f},{y - 14:.1f} h48 {strokes}"/>')
        self.shapes.append(f'<path class="stand" d="M{x:.1f},{y:.1f} l-10,-14 h20 z"/>')

    def _zigzag(self, a: tuple[float, float], b: tuple[float, float], constant: Expr) -> None:
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = math.hypot(dx, dy) or 1.0
        nx, ny = -dy / length * 7, dx / length * 7
        steps = [0.0, 0.2, *(0.2 + 0.06 * k + 0.03 for k in range(10)), 0.8, 1.0]
        sides = [0, 0, *((-1) ** k for k in range(10)), 0, 0]
        path = " ".join(
            f"{a[0] + t * dx + s * nx:.1f},{a[1] + t * dy + s * ny:.1f}" for t, s in zip(steps, sides, strict=True)
        )
        self.shapes.append(f'<polyline class="spring" points="{path}"/>')
        self._label((a[0] + b[0]) / 2 + 2 * nx, (a[1] + b[1]) / 2 + 2 * ny - 6, self._symbol(constant))

    def _piston(self, a: tuple[float, float], b: tuple[float, float], constant: Expr) -> None:
        (x0, y0), (x1, y1) = a, b
        p, r = ((x0 + t * (x1 - x0), y0 + t * (y1 - y0)) for t in (0.4, 0.6))
        self.shapes += [_segment("spring", a, p), _segment("damper", p, r), _segment("spring", r, b)]
        self._label((x0 + x1) / 2 + 10, (y0 + y1) / 2 - 12, self._symbol(constant))

    def _gravity(self, top: float) -> None:
        g = [float(self.value(exact(x))) for x in self.mechanism.tree.gravity]
        dx, dy = g[self.right], -g[self.up]
        size = math.hypot(dx, dy)
        if size == 0:
            return
        x, y = WIDTH - 34, top + 14
        end = (x + 34 * dx / size, y + 34 * dy / size)
        self.shapes.append(_segment("gravity", (x, y), end))
        self.shapes.append(f'<circle class="tip" cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="3.5"/>')
        self._label(x + 8, y + 20, "g")


def _segment(kind: str, a: Sequence[float], b: Sequence[float]) -> str:
    return f'<line class="{kind}" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>'


def curves(t: np.ndarray, series: dict[str, np.ndarray], title: str) -> str:
    """Curves over time in one frame, with their names and a few numbers at the axes."""
    width, height, left, bottom = 460, 220, 52, 34
    values = np.concatenate([np.ravel(y) for y in series.values()])
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    x = left + (t - t[0]) / (t[-1] - t[0]) * (width - left - 12)
    shapes = [f'<rect class="frame" x="{left}" y="26" width="{width - left - 12}" height="{height - bottom - 26}"/>']
    for k, (name, y) in enumerate(series.items()):
        v = height - bottom - (y - low) / (high - low) * (height - bottom - 26)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, v, strict=True))
        color = COLORS[k % len(COLORS)]
        shapes.append(f'<polyline fill="none" stroke="{color}" stroke-width="1.8" points="{points}"/>')
        base, _, below = Name.of(name).text.partition("_")
        sub = f'<tspan dy="3" font-size="9">{escape(below)}</tspan>' if below else ""
        shapes.append(f'<text x="{left + 90 + 48 * k}" y="18" style="fill:{color}">{escape(base)}{sub}</text>')
    shapes.append(f'<text class="title" x="{left}" y="18">{escape(title)}</text>')
    for value, level in ((low, height - bottom), (high, 36)):
        shapes.append(f'<text class="tick" x="{left - 5}" y="{level}" text-anchor="end">{value:.3g}</text>')
    for value, place in ((t[0], left), (t[-1], width - 14)):
        shapes.append(f'<text class="tick" x="{place}" y="{height - 16}" text-anchor="middle">{value:.3g} s</text>')
    opening = f'<svg class="curves" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
    return f"{opening}{''.join(shapes)}</svg>"
