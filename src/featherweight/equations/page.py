"""Derivations as one HTML page: MathML and SVG, nothing to load from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from sympy import Symbol

from featherweight.equations.agreement import agreement
from featherweight.equations.document import WHAT, all_steps, formulas
from featherweight.equations.drawing import drawing
from featherweight.equations.equations import Equations
from featherweight.equations.printing import MATH, Writer

STYLE = Path(__file__).with_name("page.css")


def page(derivations: Sequence[Equations], *, sections: Sequence[tuple[str, str]] = ()) -> str:
    """One page of some derivations of one model, side by side, with their agreement; `sections` are titles and HTML."""
    if not derivations:
        raise ValueError("page: expected at least one derivation")
    first = derivations[0]
    title = f"{first.model.name}: equations of motion"
    picture = drawing(first) or ""
    parts = [f'<div class="head"><div><h1>{escape(title)}</h1>{_facts(first)}</div><div>{picture}</div></div>']
    if len(derivations) > 1:
        parts.append(f"<h2>Do they agree?</h2>{_agreements(derivations)}")
    parts.append(f'<div class="methods">{"".join(map(_method, derivations))}</div>')
    parts += [f"<h2>{escape(heading)}</h2>{body}" for heading, body in sections]
    kind = "several" if len(derivations) > 1 else "one"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE.read_text(encoding='utf-8')}</style></head>\n"
        f'<body class="{kind}">{chr(10).join(parts)}</body></html>\n'
    )


def _facts(equations: Equations) -> str:
    """Coordinates with their joints, inputs and parameters."""
    writer, rows = Writer(equations), []
    for joint in equations.model.independent_joints:
        own = ", ".join(_math(writer, q) for q in list(equations.q)[joint.q])
        body = equations.model.names[joint.body]
        rows.append(f"<tr><td>{own}</td><td>joint <b>{escape(joint.name)}</b> of {escape(body)}</td></tr>")
    for what, symbols in (("inputs", equations.inputs), ("parameters", equations.parameters)):
        if symbols:
            listed = ", ".join(_math(writer, s) for s in symbols)
            rows.append(f"<tr><td colspan=2>{what}: {listed}</td></tr>")
    return f'<table class="facts">{"".join(rows)}</table>'


def _math(writer: Writer, e: Any) -> str:
    return f'<math xmlns="{MATH}">{writer.mathml(e)}</math>'


def _agreements(derivations: Sequence[Equations]) -> str:
    rows = []
    for k, first in enumerate(derivations):
        for second in derivations[k + 1 :]:
            found = agreement(first, second)
            if found.symbolic:
                verdict = '<span class="good">equal, symbol by symbol</span>'
            elif found:
                verdict = '<span class="good">equal in numbers</span> (too long to compare in symbols)'
            else:
                verdict = '<span class="bad">different</span>'
            methods = " and ".join(map(escape, found.methods))
            rows.append(f"<tr><td>{methods}</td><td>{verdict}</td><td>{found.largest:.1e}</td></tr>")
    head = "<tr><th>methods</th><th>M, b, g and τ are</th><th>largest difference at random states</th></tr>"
    return f'<table class="facts">{head}{"".join(rows)}</table>'


def _method(equations: Equations) -> str:
    writer = Writer(equations)
    lines = [f"<h2>{escape(equations.method)}</h2><p>{escape(WHAT.get(equations.method, ''))}</p>"]
    for number, step in enumerate(all_steps(equations), start=1):
        lines.append(f'<h3>{number}. {escape(step.title)}</h3><p class="text">{escape(step.text)}</p>')
        for (left, _), (short_left, right) in zip(step.formulas, formulas(equations, step), strict=True):
            lines.append(_formula(writer, left, short_left, right))
    return f'<section class="method">{"".join(lines)}</section>'


def _formula(writer: Writer, left: Any, short_left: Any, right: Any) -> str:
    if right is None or short_left is None:
        name = f"{_math(writer, left)} is" if isinstance(left, Symbol) else "This is"
        return f'<p class="soft">{name} too long to print; <code>lambdify</code> computes it.</p>'
    sides = f"{writer.mathml(short_left)}<mo>=</mo>{writer.mathml(right)}"
    return f'<div class="formula"><math xmlns="{MATH}" display="block"><mrow>{sides}</mrow></math></div>'
