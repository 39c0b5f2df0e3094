"""Derivations in LaTeX and Markdown."""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Symbol

from featherweight.equations.equations import Equations
from featherweight.equations.printing import Writer, short_enough
from featherweight.equations.steps import DerivationStep, labelled
from featherweight.texts import markdown as plain

LONG = 1500  # operations of a formula that is not printed
LARGEST = 20_000  # operations of a formula that is not simplified either

WHAT = {
    "Newton-Euler": "Every body is cut free; the forces of the joints are unknowns, found and eliminated.",
    "projected Newton-Euler": "The equations of every body, projected on the motions that the joints allow.",
    "Lagrange": "The equations of motion from kinetic and potential energy.",
}


def formulas(equations: Equations, step: DerivationStep) -> list[tuple[Any, Any]]:
    """The formulas of a step, shortened; None in place of what is too long to read."""
    short = equations.mechanism.ring.short
    found = []
    for left, right in step.formulas:
        sides: list[Any] = []
        for side in (left, right):
            if not short_enough(side, LARGEST):
                sides.append(None)
                continue
            if step.collected:
                shortened = side
            else:
                shortened = side.applyfunc(short) if isinstance(side, sympy.MatrixBase) else short(side)
            sides.append(shortened if short_enough(shortened, LONG) else None)
        found.append((sides[0], sides[1]))
    return found


def all_steps(equations: Equations) -> list[DerivationStep]:
    """The steps of the derivation, then the result, then the constraint forces of small systems."""
    result = DerivationStep(
        "Equations of motion", f"M {_acceleration(equations)} + b + g = τ with", _result(equations), collected=True
    )
    steps = [*equations.steps, result]
    if equations.joint_forces is not None and not equations.mechanism.tree.coupled and len(equations.v) <= 2:
        reactions = [(labelled("R", name), force) for name, force in equations.constraint_forces.items()]
        steps.append(
            DerivationStep(
                "Constraint forces",
                "Force and moment of each joint on the body it carries, along the world's axes, as functions of "
                "configuration, velocity and motors.",
                reactions,
                collected=True,
            )
        )
    return steps


def _acceleration(equations: Equations) -> str:
    return "q̈" if equations.mechanism.holonomic else "v̇"


def _result(equations: Equations) -> list[tuple[Symbol, Any]]:
    """M, b, g and τ. For large systems as derived, after their common subexpressions, which is shorter."""
    whole = equations.simplified()
    if not whole.large:
        return [(Symbol(name), getattr(whole, name)) for name in ("M", "b", "g", "tau")]
    definitions, matrices = equations.shared()
    return [*definitions, *((Symbol(name), matrix) for name, matrix in matrices.items())]


def latex(equations: Equations) -> str:
    """The equations of motion as one aligned display."""
    writer, lines = Writer(equations), []
    for left, right in _result(equations):
        lines.append(rf"{writer.latex(left)} &= {writer.latex(right)}")
    holonomic = equations.mechanism.holonomic
    a, v = (r"\ddot{q}", r"\dot{q}") if holonomic else (r"\dot{v}", "v")
    head = rf"M(q) \, {a} + b(q, {v}) + g(q) &= \tau"
    return "\\begin{aligned}\n" + " \\\\\n".join([head, *lines]) + "\n\\end{aligned}"


def markdown(equations: Equations) -> str:
    """The derivation, step by step."""
    writer = Writer(equations)
    lines = [f"# {plain(equations.model.name)}: {plain(equations.method)}", "", WHAT.get(equations.method, ""), ""]
    for number, step in enumerate(all_steps(equations), start=1):
        lines += [f"## {number}. {plain(step.title)}", "", plain(step.text), ""]
        for (left, _), (short_left, right) in zip(step.formulas, formulas(equations, step), strict=True):
            if right is None or short_left is None:
                name = f"{plain(writer.text(left))}: " if isinstance(left, Symbol) else ""
                lines += [f"*{name}too long to print; `lambdify` computes it.*", ""]
            else:
                lines += ["$$", f"{writer.latex(short_left)} = {writer.latex(right)}", "$$", ""]
    return "\n".join(lines)
