"""An outcome as a page: HTML beside the files of the experiment, Markdown for the documentation."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import SOURCES, Experiment, Outcome, Table
from featherweight.report.page import STYLE

HEADS = ("the source says", "we measure", "verdict")
NARROW = """
:root { --yes: #116329; --no: #a40e26; --dim: #5d646c }
@media (prefers-color-scheme: dark) { :root { --yes: #57c77a; --no: #ff8a94; --dim: #a3abb4 } }
img { max-width: 100%; height: auto }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { padding: .3rem .9rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
.wide { overflow-x: auto } .yes { color: var(--yes) } .no { color: var(--no) } small { color: var(--dim) }
.claims td { width: 33% }
@media (max-width: 40rem) { .claims tr, .claims td { display: block; width: auto; border: 0; padding: .1rem 0 }
.claims th { display: none } .claims tr { border-bottom: 1px solid var(--line); padding: .6rem 0 }
.claims td:nth-child(2)::before { content: "measured: "; color: var(--dim) } }
"""


def claim_rows(claims: Sequence[Claim]) -> list[tuple[str, str, str]]:
    """One row for each: the sentence with its section, the measurement, the verdict."""
    return [
        (f"{claim.text} ({claim.section})" if claim.section else claim.text, claim.measured, claim.verdict)
        for claim in claims
    ]


def write_page(experiment: Experiment, outcome: Outcome, path: Path) -> Path:
    """An HTML file in the folder of the experiment, beside its pictures; the file."""
    source = f"Source {experiment.source}: {SOURCES[experiment.source]}."
    parts = [f"<h1>{html.escape(experiment.title)}</h1><p><small>{html.escape(source)}</small></p>"]
    for file, text in outcome.pictures.items():
        parts.append(
            f'<p><img src="{html.escape(file)}" alt="{html.escape(text)}"><br><small>{_text(text)}</small></p>'
        )
    parts += [f'<p><a href="{html.escape(file)}">{_text(text)}</a></p>' for file, text in outcome.pages.items()]
    parts += [_claims(outcome.claims)]
    parts += [f"<p>{_text(note)}</p>" for note in outcome.notes]
    parts += [_table(table) for table in outcome.tables]
    head = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(experiment.title)}</title><style>{STYLE}{NARROW}</style>"
    )
    footer = f"<footer>Written by <code>featherweight experiment {html.escape(experiment.name)}</code>.</footer>"
    path.write_text(f"{head}{''.join(parts)}{footer}</html>\n", encoding="utf-8")
    return path


def _text(text: str) -> str:
    """As HTML; what stands between backquotes is code, as in Markdown."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def markdown(experiment: Experiment, outcome: Outcome, pictures: str) -> str:
    """A page of the documentation; `pictures` stands before the names of the pictures."""
    lines = [f"# {experiment.title}", "", f"Source {experiment.source}: {SOURCES[experiment.source]}.", ""]
    lines += ["```sh", f"featherweight experiment {experiment.name}", "```", ""]
    for file, text in outcome.pictures.items():
        lines += [f"![{text}]({pictures}{file})", "", f"*{text}*", ""]
    lines += [*_markdown_table(HEADS, claim_rows(outcome.claims)), ""]
    for note in outcome.notes:
        lines += [note, ""]
    for table in outcome.tables:
        lines += [f"## {table.title}", "", *_markdown_table(table.heads, table.rows), ""]
    return "\n".join(lines)


def _claims(claims: Sequence[Claim]) -> str:
    rows = "".join(
        f"<tr><td>{_text(text)}</td><td>{_text(measured)}</td>"
        f'<td class="{"yes" if claim.holds else "no"}">{_text(verdict)}</td></tr>'
        for claim, (text, measured, verdict) in zip(claims, claim_rows(claims), strict=True)
    )
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    return f'<table class="claims"><tr>{heads}</tr>{rows}</table>'


def _table(table: Table) -> str:
    def row(cells: Sequence[str], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in cells)}</tr>"

    rows = "".join(row(cells, "td") for cells in table.rows)
    return f'<h2>{html.escape(table.title)}</h2><div class="wide"><table>{row(table.heads, "th")}{rows}</table></div>'


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [row(heads), row(["---"] * len(heads)), *(row(cells) for cells in rows)]
