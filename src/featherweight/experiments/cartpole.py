"""The cart-pole of the lecture: three derivations of its equations, its motor and springs, and where it rests.

The source derives the same equations by Newton-Euler, by projected Newton-Euler and by Lagrange, and ends with a quiz
on equilibria. The sign of gravity in its first derivation and the answer to the quiz are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.figures import RED, TEAL, saved
from featherweight.extras import needed
from featherweight.joints import Prismatic, Revolute
from featherweight.model import Builder, Inertia, Model
from featherweight.plot import Camera, movie
from featherweight.robots import cartpole as cartpole_model
from featherweight.simulation import simulate

VALUES = {"m_c": 1.0, "m_p": 0.1, "L": 0.5, "I_p": 0.0, "g": 9.81, "k_x": 3.0}
WEIGHT = 0.1 * 9.81 * 0.5  # m_p g L [N m]
SHOWN = (0.0, 0.1, 0.3)  # of κ = k_θ / (m_p g L), in the table
CAMERA = Camera(np.array([0.5, -4.0, 0.2]), np.array([0.0, 0.0, 0.0]), 1.7)


@dataclass(frozen=True, eq=False)
class Cartpole:
    """What is found of the equations of the source, and where they rest: for each κ, angles and whether each is stable.

    The flags say what is equal, symbol by symbol; `sign` is g of Newton-Euler over m_p g L sin θ, -1 as printed.
    """

    methods_agree: bool
    sign: float
    determinant: bool
    inertia: bool
    springs: bool
    skew: bool
    reactions: int
    equilibria: dict[float, list[tuple[float, str]]]
    swing: float  # [rad], the largest angle after a start at 0.1 rad, with springs of κ = 0.1

    @property
    def claims(self) -> list[Claim]:
        """The source, sentence by sentence."""
        hangs, others = dict(self.equilibria[0.1]), [x for x in self.equilibria[0.1] if abs(x[0]) > 0.1]
        near_pi = [x for x in others if abs(abs(x[0]) - np.pi) < 0.5]
        return [
            Claim(
                "Newton-Euler: n bodies give 6n equations, from which 5n reactions are eliminated",
                f"2 bodies: 12 equations, {self.reactions} reactions in what we derive", self.reactions == 10, "5.2",
            ),
            Claim(
                "Newton-Euler: gravity is g = (0, -m_p g L sin θ)",
                f"g₂ = {self.sign:+.0f} · m_p g L sin θ by all three methods", self.sign == -1.0, "5.4",
                "the bob is at -L cos θ, so θ = 0 hangs and gravity pulls back to it",
            ),
            Claim("det M = m_p L² (m_c + m_p sin² θ) > 0", _same(self.determinant), self.determinant, "5.4, quiz"),
            Claim("with an inertia of the pole, M₂₂ = m_p L² + I_p", _same(self.inertia), self.inertia, "6.5, quiz"),
            Claim(
                "Ṁ - 2C is skew, with Christoffel's C",
                "its symmetric part is zero in symbols" if self.skew else "it is not", self.skew, "7.7",
            ),
            Claim(
                "all three methods give exactly the same equations",
                f"ours: {_same(self.methods_agree)}; as printed the first differs from the third by 2 m_p g L sin θ",
                self.methods_agree and self.sign == -1.0, "7.8, quiz",
                "the methods agree, the printed equations do not",
            ),
            Claim("motor and springs: τ = (F - k_x x, -k_θ θ)", _same(self.springs), self.springs, "8.4"),
            Claim(
                "θ = 0 stands upright and is unstable",
                f"θ = 0 is {hangs.get(0.0, 'none')}; let go at 0.1 rad it swings within {self.swing:.2f} rad",
                hangs.get(0.0) == "unstable", "8.4, quiz", "θ = 0 hangs",
            ),
            Claim(
                "near θ = π there is a stable equilibrium",
                f"κ = 0.1: θ = {_angles(near_pi)}; π itself is none",
                any(stability == "stable" for _, stability in near_pi), "8.4, quiz",
                "sin θ = -κ θ: the one nearest to π is unstable, and for κ > 0.2172 there is none but θ = 0",
            ),
        ]  # fmt: skip

    @property
    def table(self) -> Table:
        """Where it rests, for some stiffnesses."""
        rows = [(f"{kappa:g}", _angles(found)) for kappa, found in self.equilibria.items()]
        title = "All states of rest with -6 ≤ θ ≤ 6, proved complete by interval arithmetic"
        return Table(title, ("κ = k_θ / (m_p g L)", "θ [rad]"), rows)


def cartpole(kappas: Sequence[float] = SHOWN) -> Cartpole:
    """Derive, compare, and search for equilibria."""
    sympy = needed("sympy", "equations", "this experiment needs")
    from featherweight import equations

    m_c, m_p, L, I_p, g = sympy.symbols("m_c m_p L I_p g", positive=True)
    k_x, k_theta, F = sympy.symbols("k_x k_theta F", positive=True)
    model = cartpole_model(cart_mass=m_c, pole_mass=m_p, length=L, pole_inertia=I_p, gravity=g)
    methods = (equations.newton_euler, equations.projected_newton_euler, equations.lagrange)
    by_force, by_work, by_energy = (method(model, coordinates=["x", "theta"]) for method in methods)
    short = by_energy.simplified()
    x, theta = short.q
    sprung = equations.lagrange(
        model, coordinates=["x", "theta"], motors={"rail": F},
        forces=[equations.JointSpring("rail", k_x), equations.JointSpring("hinge", k_theta)],
    )  # fmt: skip
    rate = sum((short.M.diff(q) * q_dot for q, q_dot in zip(short.q, short.v, strict=True)), sympy.zeros(2))
    rest = rate - by_energy.C * 2  # type: ignore[operator]
    box = {"x": (-1, 1), "theta": (-6, 6)}
    found = {}
    for kappa in kappas:
        rests = sprung.equilibria(box, parameters={**VALUES, "k_theta": kappa * WEIGHT})
        found[float(kappa)] = [(round(float(e.q[1]), 3) + 0.0, e.stability) for e in rests]
    return Cartpole(
        methods_agree=all(equations.agreement(by_energy, other).symbolic for other in (by_force, by_work)),
        sign=float(sympy.simplify(by_force.g[1] / (m_p * g * L * sympy.sin(theta)))),
        determinant=sympy.simplify(short.M.det().subs(I_p, 0) - m_p * L**2 * (m_c + m_p * sympy.sin(theta) ** 2)) == 0,
        inertia=sympy.simplify(short.M[1, 1] - m_p * L**2 - I_p) == 0,
        springs=sprung.tau == sympy.Matrix([F - k_x * x, -k_theta * theta]),
        skew=sympy.simplify(rest + rest.T) == sympy.zeros(2),
        reactions=sum(len(forces) for forces in by_force.constraint_forces.values()) - len(short.q),
        equilibria=found,
        swing=float(np.abs(swinging(0.1, 0.1, 5.0).q[:, 1]).max()),
    )  # fmt: skip


def sprung_model(kappa: float, damping: float) -> Model:
    """The cart-pole with numbers, a spring at its cart, and one of κ m_p g L at its hinge, with a damper [N m s]."""
    return (
        Builder("sprung cart-pole")
        .add_body(
            "cart", joint=Prismatic("x"), joint_name="rail", inertia=Inertia.point(VALUES["m_c"]),
            stiffness=VALUES["k_x"],
        )
        .add_body(
            "pole", parent="cart", joint=Revolute((0, -1, 0)), joint_name="hinge",
            inertia=Inertia.point(VALUES["m_p"], (0, 0, -VALUES["L"])), stiffness=kappa * WEIGHT, damping=damping,
        )
        .build()
    )  # fmt: skip


def swinging(kappa: float, angle: float, seconds: float, damping: float = 0.0) -> Any:
    """Let go at rest, by Runge-Kutta 4."""
    return simulate(
        sprung_model(kappa, damping), np.array([0.0, angle]), np.zeros(2), duration=seconds, dt=1e-3, integrator="rk4",
        record_every=10,
    )  # fmt: skip


def figure_of() -> Any:
    """Where the sprung cart-pole rests, over the stiffness of its hinge: κ = -sin θ / θ, stable where cos θ + κ > 0."""
    figure = needed("matplotlib.figure", "plot", "figures need").Figure(figsize=(5.6, 3.6), layout="constrained")
    axes = figure.subplots()
    theta = np.linspace(np.pi, 2 * np.pi, 400)
    kappa = -np.sin(theta) / theta
    stable = np.cos(theta) + kappa > 0
    for sign in (1, -1):
        axes.plot(kappa[stable], sign * theta[stable], color=TEAL)
        axes.plot(kappa[~stable], sign * theta[~stable], color=RED, linestyle="--")
    axes.plot([0, 0.3], [0, 0], color=TEAL, label="stable")
    axes.plot([], [], color=RED, linestyle="--", label="unstable")
    for sign in (1, -1):
        axes.axhline(sign * np.pi, color="black", linewidth=0.6)
    axes.annotate(
        "θ = π, where the source expects a stable one", (0.298, np.pi - 0.15), ha="right", va="top", fontsize=8
    )
    axes.annotate("θ = 0 hangs; the source takes it for upright", (0.298, -0.15), ha="right", va="top", fontsize=8)
    axes.set(xlabel="κ = k_θ / (m_p g L)", ylabel="θ at rest [rad]", xlim=(0, 0.3))
    axes.grid(alpha=0.25)
    figure.legend(loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    return figure


def _same(yes: bool) -> str:
    return "equal, symbol by symbol" if yes else "not equal"


def _angles(found: Sequence[tuple[float, str]]) -> str:
    return ", ".join(f"{angle:g} {stability}" for angle, stability in found) or "none"


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("deriving the equations three ways, and searching for all equilibria")
    result = cartpole((0.0, 0.1) if short else SHOWN)
    tell("swinging")
    runs = [swinging(kappa, 3.6, 0.5 if short else 8.0, damping=0.02) for kappa in (0.1, 0.3)]
    movie(
        runs, out / "cartpole.gif", labels=["soft spring at the hinge", "stiff spring"],
        rate=20, size=(400, 280), camera=CAMERA,
    )  # fmt: skip
    return Outcome(
        result.claims,
        [result.table],
        {
            "cartpole.gif": "Let go beyond upright, at 3.6 rad, with a damper. On the soft spring (κ = 0.1) it comes "
            "to rest once around, at 5.68 rad; on the stiff one (κ = 0.3) where it hangs, at 0. Never at π",
            saved(figure_of(), out / "cartpole.svg"): "Where it rests, over the stiffness of the spring at its hinge",
        },
        notes=["The derivations themselves, step by step: `featherweight derive cartpole -o report.html`."],
    )


EXPERIMENT = Experiment("cartpole", "002", "The cart-pole: three derivations, springs, and where it rests", _run)
