"""The tree of the section on branched chains: λ = (0, 1, 2, 1, 4, 4), its sets, and the zeros of its inertia matrix.

Featherstone, Robot Dynamics Algorithms, 1987, section 8.2: what changes in the algorithms when a chain has branches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.dynamics import articulated_inertia, inverse_dynamics, mass_matrix
from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.figures import AMBER, GREY, RED, TEAL, saved
from featherweight.experiments.literal import Bodies, bodies
from featherweight.extras import needed
from featherweight.joints import Revolute
from featherweight.model import Builder, Inertia, Model, Placement
from featherweight.plot import Camera, movie
from featherweight.simulation import simulate

PARENTS = (0, 1, 2, 1, 4, 4)
N = len(PARENTS)
MU: tuple[set[int], ...] = ({1}, {2, 4}, {3}, set(), {5, 6}, set(), set())  # as they are printed, from body 0 on
PLACES = {1: (0.0, 0.0), 2: (-1.2, 1.0), 3: (-1.6, 2.0), 4: (1.0, 1.0), 5: (0.5, 2.0), 6: (1.7, 2.0)}  # in the drawing
CAMERA = Camera(np.array([4.0, -0.8, 0.0]), np.array([0.0, 0.0, -0.6]), 2.3)  # across the hinges
PUSH = 10.0  # [N], on body 5


@dataclass(frozen=True, eq=False)
class Branches:
    """The tree at one state, by the library and by the equations of the source; errors are relative.

    `H` (6, 6) is the library's; `walked` (6, 6) is found by the walk j = i, λ(i), λ(λ(i)) … and `dots` tells how many
    products that takes; `H_22` and `H_22_printed` are with the composite bodies of ν(2) and of links 2 … 6.
    """

    model: Model
    H: np.ndarray
    walked: np.ndarray
    dots: int
    H_22: float
    H_22_printed: float
    articulated_error: float
    torque_error: float
    torque_error_without_push: float

    @property
    def numberings(self) -> int:
        """In how many ways bodies can be numbered so that each has a higher number than its parent: n!/∏ |ν(i)|."""
        sizes = [len(self.model.subtree(i)) for i in range(1, N + 1)]
        return math.factorial(N) // math.prod(sizes)

    @property
    def claims(self) -> list[Claim]:
        """The source, sentence by sentence."""
        model, H, section = self.model, self.H, "8.2"
        mu = [set(model.children(i)) for i in range(N + 1)]
        leaves = [i for i in range(1, N + 1) if not mu[i]]
        between = int((H == 0).sum())
        error = float(np.abs(self.walked - H).max() / np.abs(H).max())
        return [
            Claim(
                "λ gives μ(0) = {1}, μ(1) = {2, 4}, μ(2) = {3}, μ(4) = {5, 6}, the others empty",
                _sets(mu), mu == list(MU), section,
            ),
            Claim("leaves are the bodies with an empty μ", f"leaves {leaves}", leaves == [3, 5, 6], section),
            Claim(
                "a branched chain has no unique numbering",
                f"{self.numberings} numberings with λ(i) < i", self.numberings > 1, section,
            ),
            Claim(
                "(4): f(i) = Σ f(j) over μ(i) + f*(i); no other initial condition is needed",
                f"torques right to {self.torque_error:.0e}; with {PUSH:g} N on body 5 off by "
                f"{self.torque_error_without_push:.0%}",
                self.torque_error_without_push < 1e-9, "8.2.1",
                "forces from outside are lost: less f_ext(i), which (3) had at the end of the chain",
            ),
            Claim(
                "(6): articulated inertias of a tree, summed over μ(i)",
                f"equal to ours to {self.articulated_error:.0e}",
                self.articulated_error < 1e-12, "8.2.1",
            ),
            Claim(
                "(7): f(i) moves the composite body of links i … n",
                f"H₂₂ = {self.H_22_printed:.4f} by links 2 … 6, {self.H_22:.4f} by ν(2) = {_set(model.subtree(2))}",
                bool(np.isclose(self.H_22_printed, H[1, 1])), "8.2.1",
                "in a tree it is that of ν(i); i … n are other bodies",
            ),
            Claim(
                "(9): H₂₅ = H₃₅ = 0, for neither joint 2 nor joint 3 carries joint 5",
                f"{H[1, 4]:g} and {H[2, 4]:g} to the bit; {between} of 36 entries are zero",
                bool(H[1, 4] == 0 == H[2, 4]), "8.2.1",
            ),
            Claim(
                "j = i, λ(i), λ(λ(i)) … finds all that is not zero, without ν",
                f"equal to ours to {error:.0e}, with {self.dots} products; a chain of six takes {N * (N + 1) // 2}",
                error < 1e-14, "8.2.1",
            ),
        ]  # fmt: skip

    @property
    def table(self) -> Table:
        """λ, μ, ν and κ of every body."""
        model = self.model
        rows = [
            (str(i), str(model.parent[i]), *(_set(s) for s in (model.children(i), model.subtree(i), support(i))))
            for i in range(1, N + 1)
        ]
        heads = ("body i", "λ(i), parent", "μ(i), children", "ν(i), subtree", "κ(i), joints up to the base")
        return Table("The sets of the tree", heads, rows)


def support(i: int) -> list[int]:
    """κ(i): the joints between body i and the base, the walk i, λ(i), λ(λ(i)) … of the source."""
    found = []
    while i:
        found.append(i)
        i = PARENTS[i - 1]
    return sorted(found)


def tree() -> Model:
    """Rods of 0.4 m on hinges, about axes that are all different, so that no entry of H is zero by chance."""
    builder = Builder("tree")
    for i, parent in enumerate(PARENTS, start=1):
        side = PLACES[i][0] - PLACES[parent][0] if parent else 0.0
        tilt = Placement((0.0, 0.0, -0.4 if parent else 0.0), rpy=(0.45 * side, 0.0, 0.0))
        rod = Inertia(0.5, (0.01, 0.0, -0.2), (7e-3, 7e-3, 4e-4))
        name = f"body{parent}" if parent else "world"
        builder.add_body(f"body{i}", parent=name, joint=Revolute((1, 0.1 * i, 0.2)), placement=tilt, inertia=rod)
    return builder.build()


def branches(seed: int = 0) -> Branches:
    """The equations of the source at a random state, beside what the library computes."""
    model, rng = tree(), np.random.default_rng(seed)
    q, v, a = model.random(rng), rng.normal(size=N), rng.normal(size=N)
    push = np.zeros((N + 1, 6))
    push[5, 1] = PUSH
    given = bodies(model, q, v)
    H, right = mass_matrix(model, q), inverse_dynamics(model, q, v, a)
    pushed, scale = inverse_dynamics(model, q, v, a, push), float(np.abs(right).max())
    printed = newton_euler(given, a)
    walked, dots = walk(given)
    s, rigid = _in_the_world(given)
    links = sum(rigid[2:]) @ s[2]  # links 2 … 6
    own = sum(rigid[k] for k in model.subtree(2)) @ s[2]
    return Branches(
        model, H, walked, dots, float(s[2] @ own), float(s[2] @ links), articulated_error(given, q),
        float(np.abs(printed - right).max()) / scale, float(np.abs(printed - pushed).max() / np.abs(pushed).max()),
    )  # fmt: skip


def newton_euler(given: Bodies, q_dd: np.ndarray) -> np.ndarray:
    """Equations (2) and (4): accelerations outward, f(i) = Σ f(j) + f*(i) inward, τ(i) = s(i)ᵀ f(i)."""
    model = given.model
    a, f = np.zeros((2, N + 1, 6))
    for i, joint in enumerate(model.joints, start=1):
        a[i] = given.X[i] @ a[model.parent[i]] + given.S[i] @ q_dd[joint.v] + given.c[i]
        f[i] = given.I[i] @ a[i] + given.p[i]
    tau = np.zeros(N)
    for i in range(N, 0, -1):
        tau[i - 1] = given.S[i][:, 0] @ f[i]
        f[model.parent[i]] += given.X[i].T @ f[i]
    return tau


def walk(given: Bodies) -> tuple[np.ndarray, int]:
    """H by composite bodies, for each i along j = i, λ(i), λ(λ(i)) …; and the number of products s(j)ᵀ f."""
    model, composite = given.model, [inertia.copy() for inertia in given.I]
    H, dots = np.zeros((N, N)), 0
    for i in range(N, 0, -1):
        composite[model.parent[i]] += given.X[i].T @ composite[i] @ given.X[i]
        f, j = composite[i] @ given.S[i][:, 0], i
        while j:
            H[j - 1, i - 1] = H[i - 1, j - 1] = given.S[j][:, 0] @ f
            dots += 1
            f, j = given.X[j].T @ f, model.parent[j]
    return H, dots


def articulated_error(given: Bodies, q: np.ndarray) -> float:
    """Equation (6), everything in the axes of the world, against the library's inertias."""
    s, I_A = _in_the_world(given)
    model, to_body = given.model, given.from_world
    for j in range(N, 1, -1):
        f = I_A[j] @ s[j]
        I_A[model.parent[j]] = I_A[model.parent[j]] + I_A[j] - np.outer(f, f) / (s[j] @ f)
    ours = articulated_inertia(model, q).I_A
    errors = [
        np.abs(I_A[i] - to_body[i].T @ ours[i] @ to_body[i]).max() / np.abs(I_A[i]).max() for i in range(1, N + 1)
    ]
    return float(max(errors))


def _in_the_world(given: Bodies) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Axes and rigid inertias of all bodies in the axes of the world."""
    to_body = given.from_world
    s = [np.zeros(6), *(np.linalg.solve(to_body[i], given.S[i][:, 0]) for i in range(1, N + 1))]
    return s, [X.T @ I @ X for X, I in zip(to_body, given.I, strict=True)]


def _set(numbers: Any) -> str:
    return "{" + ", ".join(map(str, sorted(numbers))) + "}" if numbers else "∅"


def _sets(sets: list[set[int]]) -> str:
    return ", ".join(f"μ({i}) = {_set(one)}" for i, one in enumerate(sets) if one)


def figure_of(result: Branches) -> Any:
    """The tree, and the inertia matrix with its zeros."""
    figure = needed("matplotlib.figure", "plot", "figures need").Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
    for i, (x, y) in PLACES.items():
        if PARENTS[i - 1]:
            X, Y = PLACES[PARENTS[i - 1]]
            left.plot([X, x], [Y, y], color=GREY, linewidth=2, zorder=1)
        left.scatter([x], [y], s=420, color="white", edgecolor=RED if i == 5 else TEAL, linewidth=2, zorder=2)
        left.text(x, y, str(i), ha="center", va="center", zorder=3)
    left.plot([0, 0], [-0.8, 0], color=GREY, linewidth=2, zorder=1)
    left.plot([-0.5, 0.5], [-0.8, -0.8], color="black", linewidth=3)
    left.text(0.1, -0.62, "0, the base", fontsize=9)
    left.set(xlim=(-2.2, 2.3), ylim=(-1.0, 2.5), title="λ = (0, 1, 2, 1, 4, 4)")
    left.axis("off")
    size = np.abs(result.H)
    for row, line in enumerate(size):
        for column, x in enumerate(line):
            color = "white" if x == 0 else TEAL if row == column else AMBER
            right.add_patch(_square(column, row, color))
            right.text(
                column, row, "0" if x == 0 else f"{result.H[row, column]:.3f}", ha="center", va="center", fontsize=8
            )
    ticks = [str(i) for i in range(1, N + 1)]
    right.set(xlim=(-0.5, 5.5), ylim=(5.5, -0.5), aspect="equal", title="H [kg m²]: zero between branches")
    right.set_xticks(range(N), ticks)
    right.set_yticks(range(N), ticks)
    return figure


def _square(x: float, y: float, color: str) -> Any:
    shape = needed("matplotlib.patches", "plot", "figures need").Rectangle
    return shape((x - 0.5, y - 0.5), 1.0, 1.0, facecolor=color, alpha=0.35, edgecolor="white")


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("evaluating the equations of the source")
    result = branches()
    tell("swinging")
    q = np.array([0.7, -0.2, 0.3, 0.2, -0.5, 0.5])
    run = simulate(
        result.model, q, np.zeros(N), duration=0.4 if short else 4.0, dt=1e-3, integrator="rk4", record_every=10
    )
    movie(run, out / "branches.gif", rate=20, size=(420, 320), camera=CAMERA)
    return Outcome(
        result.claims,
        [result.table],
        {
            saved(
                figure_of(result), out / "branches.svg"
            ): "The tree of the source, and its joint-space inertia matrix",
            "branches.gif": "The tree, let go: six rods on hinges, integrated by Runge-Kutta 4",
        },
        notes=["Equation (8) is missing in the source. κ is not in it by name: it is the walk j = i, λ(i), λ(λ(i)) …"],
    )


EXPERIMENT = Experiment("branches", "003", "A chain with branches: its sets, the zeros of its matrix", _run)
