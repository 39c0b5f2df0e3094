"""`featherweight derive MODEL`: equations of motion, derived three ways, as a report."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape as escape_markup

import featherweight as fw
from featherweight.cli.app import Base, fail
from featherweight.cli.bases import usual_base
from featherweight.cli.commands import AsJson, ModelArgument, app, err, model_named, out, told_in_one_line
from featherweight.endings import check_ending
from featherweight.io.catalogue import is_name
from featherweight.model import Model

if TYPE_CHECKING:
    from featherweight.equations import Equations

METHODS = ("newton_euler", "projected_newton_euler", "lagrange")
ENDINGS = (".html", ".md", ".tex", ".pdf")
MOST_COORDINATES = 3  # for which equilibria are searched
DURATION, DT = 5.0, 1e-3  # of the simulation in the report [s]


@app.command()
def derive(
    model: ModelArgument,
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}, or all")] = "all",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="an .html, .md, .tex or .pdf file")] = None,
    base: Base = "auto",
    symbol: Annotated[
        list[str] | None, typer.Option(help="a constant of a file to keep as a symbol: link.mass, joint.damping …")
    ] = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="numbers in place of symbols for a built-in model")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Equations of motion by Newton-Euler, projected Newton-Euler and Lagrange, step by step, shown to be equal."""
    if method not in (*METHODS, "all"):
        raise fail(f"--method: expected {', '.join(METHODS)} or all, got {method!r}")
    ending = ".md"
    if output is not None:
        with told_in_one_line(ValueError):
            ending = check_ending("--output", output, ENDINGS)
    try:
        from featherweight import equations
    except ModuleNotFoundError as error:
        raise fail(error) from None
    chosen, values, coordinates = _model(model, base, symbol or [], numbers)
    derivations = []
    try:
        with err.status("deriving …") as status:
            for name in METHODS if method == "all" else (method,):
                status.update(f"deriving by {name} …")
                derivations.append(getattr(equations, name)(chosen, coordinates=coordinates))
            status.update("writing …")
            if as_json:
                print(json.dumps(_facts(derivations), indent=1))
                return
            if ending == ".pdf" and output is not None:
                equations.write_pdf(derivations, output)
            else:
                text = _text(derivations, values, ending)
    except (fw.ModelError, ValueError, OSError) as error:
        raise fail(error) from None
    if output is None:
        print(text)
        return
    try:
        if ending != ".pdf":
            output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise fail(f"cannot write {str(output)!r}: {error.strerror}") from None
    out.print(
        escape_markup(f"{output}: {len(derivations)} derivations of {chosen.name}"), soft_wrap=True, highlight=False
    )


def _model(
    name: str, base: str, symbols: list[str], numbers: bool
) -> tuple[Model, dict[str, float], tuple[str, ...] | None]:
    """A model, with symbols where there is no reason for numbers; values of those symbols, names of coordinates."""
    textbook = _textbook()
    if name in textbook and not Path(name).exists() and not numbers:
        build, values, coordinates = textbook[name]
        return build(), values, coordinates
    robot = model_named(name, base)
    if not symbols:
        return robot, {}, None
    if not Path(name).is_file() and not is_name(name):
        raise fail("--symbol: only for models from files; built-in ones have symbols without it")
    try:
        chosen = usual_base(fw.load(name)) if base == "auto" else base
        return fw.load(name, base=chosen, policy="warn", parameters=symbols), {}, None
    except fw.ModelError as error:
        raise fail(error) from None


def _textbook() -> dict[str, tuple[Callable[[], Model], dict[str, float], tuple[str, ...]]]:
    """Built-in models with symbols, the values that they have otherwise, and names for their coordinates."""
    import sympy

    def positive(names: str) -> Any:
        return sympy.symbols(names, positive=True)

    m, l, g = positive("m l g")
    m_c, m_p, I_p = positive("m_c m_p I_p")
    m1, m2, l1, l2 = positive("m1 m2 l1 l2")
    robots = fw.robots
    return {
        "pendulum": (
            lambda: robots.pendulum(mass=m, length=l, gravity=g),
            {"m": 1.0, "l": 1.0, "g": 9.81},
            ("theta",),
        ),
        "double_pendulum": (
            lambda: robots.double_pendulum(mass1=m1, length1=l1, mass2=m2, length2=l2, gravity=g),
            {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0, "g": 9.81},
            ("theta1", "theta2"),
        ),
        "cartpole": (
            lambda: robots.cartpole(cart_mass=m_c, pole_mass=m_p, length=l, pole_inertia=I_p, gravity=g),
            {"m_c": 1.0, "m_p": 0.1, "l": 0.5, "I_p": 0.002, "g": 9.81},
            ("x", "theta"),
        ),
    }


def _facts(derivations: list[Equations]) -> dict[str, Any]:
    from featherweight.equations import agreement

    first = derivations[0]
    found = [agreement(first, other) for other in derivations[1:]]
    return {
        "model": first.model.name,
        "coordinates": [str(q) for q in first.q],
        "parameters": [str(p) for p in first.parameters],
        "inputs": [str(u) for u in first.inputs],
        "equations": {name: str(getattr(first.simplified(), name).tolist()) for name in ("M", "b", "g", "tau")},
        "agreement": [{"methods": a.methods, "symbolic": a.symbolic, "largest_difference": a.largest} for a in found],
    }


def _text(derivations: list[Equations], values: dict[str, float], ending: str) -> str:
    if ending == ".tex":
        from featherweight.equations import tex

        return tex(derivations)
    if ending == ".md":
        return "\n".join(e.markdown() for e in derivations)
    from featherweight.equations import page

    sections = [
        ("Equilibria", _equilibria(derivations[0], values)),
        ("A short simulation", _simulation(derivations[0], values)),
    ]
    return page(derivations, sections=sections)


def _equilibria(equations: Equations, values: dict[str, float]) -> str:
    """A table of all states of rest with the motors off, or why there is none."""
    if len(equations.q) > MOST_COORDINATES or not equations.mechanism.holonomic:
        return '<p class="text">Searched for up to three coordinates that are not quaternions.</p>'
    box = {}
    for joint in equations.model.independent_joints:
        for k, motion in zip(range(joint.q.start, joint.q.stop), equations.mechanism.subspace[joint.body], strict=True):
            reach = 1.1 * math.pi if any(motion.angular) else 2.0
            box[equations.q[k]] = (-reach, reach)
    try:
        found = equations.equilibria(box, parameters=values)
    except ValueError as error:
        return f'<p class="text">{escape(str(error))}</p>'
    heads = "".join(f"<th>{escape(str(q))}</th>" for q in equations.q)
    rows = []
    for e in found:
        cells = "".join(
            f"<td>{'any' if str(q) in e.free else f'{x + 0.0:.5g}'}</td>" for q, x in zip(equations.q, e.q, strict=True)
        )
        rows.append(f"<tr>{cells}<td>{e.stability}</td></tr>")
    ranges = ", ".join(f"{escape(str(q))} from {low:.3g} to {high:.3g}" for q, (low, high) in box.items())
    return (
        f'<p class="text">All of them with motors off, for {ranges}{_with(values)}; completeness is proved by interval '
        f'arithmetic.</p><table class="facts"><tr>{heads}<th></th></tr>{"".join(rows)}</table>'
    )


def _simulation(equations: Equations, values: dict[str, float]) -> str:
    """Curves of coordinates, velocities and energy, from a configuration that is not at rest."""
    from featherweight.equations.drawing import curves

    model = equations.model.with_values(values) if values else equations.model
    q = model.neutral()
    if equations.mechanism.holonomic:
        q = q + 0.8
    try:
        run = fw.simulate(
            model, q, np.zeros(model.nv), duration=DURATION, dt=DT, integrator="rk4", record_every=20, limits=False
        )
    except fw.SimulationError as error:
        return f'<p class="text">{escape(f"By Runge-Kutta 4 with steps of {DT:g} s it {error}.")}</p>'
    pictures = [
        curves(run.t, {str(s): run.q[:, k] for k, s in enumerate(list(equations.q)[:6])}, "coordinates"),
        curves(run.t, {str(s): run.v[:, k] for k, s in enumerate(list(equations.v)[:6])}, "velocities"),
        curves(run.t, {"E": run.energy()}, "energy [J]"),
    ]
    how = f"by Runge-Kutta 4 with steps of {DT:g} s{_with(values)}"
    text = f"Released at rest, motors and limits off, {DURATION:g} s {how}."
    return f'<p class="text">{escape(text)}</p><div class="methods">{"".join(pictures)}</div>'


def _with(values: dict[str, float]) -> str:
    return f" and {', '.join(f'{name} = {x:g}' for name, x in values.items())}" if values else ""
