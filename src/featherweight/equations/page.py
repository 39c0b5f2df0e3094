"""Derivations as one HTML page: MathML and SVG, nothing to load from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from sympy import Symbol

from featherweight.equations.agreement import agreement
from featherweight.equations.document import WHAT, all_steps, formulas
from featherweight.equations.drawing import drawing
from featherweight.equations.equations import Equations
from featherweight.equations.printing import MATH, Writer

STYLE = """
:root { color-scheme: light dark; --line: #d4d4d8; --soft: #71717a; --panel: #fafafa; --ink: #18181b; --accent: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --line: #3f3f46; --soft: #a1a1aa; --panel: #1f1f23; --ink: #f4f4f5; --accent: #60a5fa; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); margin: 0 auto; padding: 2rem 1.5rem 4rem; }
body { max-width: 62rem; } body.several { max-width: 96rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .2rem; }
.head { display: flex; flex-wrap: wrap; gap: 2rem; align-items: center; } .head > div { flex: 1 1 20rem; }
.methods { display: grid; margin-top: 1.5rem; gap: 1.5rem; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); align-items: start; }
.method { border: 1px solid var(--line); border-radius: .6rem; padding: .4rem 1.2rem 1.2rem; background: var(--panel); min-width: 0; }
p { margin: .3rem 0; } .text, .soft { color: var(--soft); font-size: .92rem; }
.formula { overflow-x: auto; padding: .25rem 0; } math { font-size: 1.05rem; font-family: 'Latin Modern Math', 'STIX Two Math', 'STIX Math', 'Cambria Math', 'DejaVu Math TeX Gyre', math; } mtd { padding: .2em .5em; }
table.facts { border-collapse: collapse; } table.facts td, table.facts th { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); }
svg { width: 100%; max-width: 30rem; height: auto; font: italic 16px Georgia, serif; }
svg text { fill: var(--ink); } svg .coordinate { fill: var(--accent); } svg .tick, svg .title { font: 11px system-ui, sans-serif; fill: var(--soft); }
.rod { stroke: #64748b; stroke-width: 5; stroke-linecap: round; } .mass { fill: #334155; stroke: var(--panel); }
.pin { fill: #fff; stroke: #334155; stroke-width: 2; } .rail { stroke: var(--soft); stroke-width: 1.5; }
.slide { fill: #cbd5e1; stroke: #334155; stroke-width: 1.5; rx: 4px; } .zero { stroke: var(--soft); stroke-dasharray: 4 4; }
.angle, .measure { fill: none; stroke: var(--accent); stroke-width: 1.5; } .ground { fill: none; stroke: var(--soft); stroke-width: 1.5; }
.stand { fill: var(--panel); stroke: #334155; stroke-width: 1.5; } .spring { fill: none; stroke: #b45309; stroke-width: 1.6; }
.damper { stroke: #b45309; stroke-width: 9; } .gravity { stroke: #dc2626; stroke-width: 2; } .tip { fill: #dc2626; }
.frame { fill: none; stroke: var(--line); } .good { color: #059669; } .bad { color: #dc2626; }
"""


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
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f'<body class="{kind}">{chr(10).join(parts)}</body></html>\n'
    )


def _facts(equations: Equations) -> str:
    """Coordinates with their joints, inputs and parameters."""
    writer, rows = Writer(equations), []
    for joint in equations.model.independent_joints:
        symbols = ", ".join(_math(writer, q) for q in list(equations.q)[joint.q])
        body = equations.model.names[joint.body]
        rows.append(f"<tr><td>{symbols}</td><td>joint <b>{escape(joint.name)}</b> of {escape(body)}</td></tr>")
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
