"""`featherweight experiment NAME`: what a source claims, beside what we measure, with pictures and a page."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

import featherweight as fw
from featherweight.cli.app import AsJson, err, fail, out, told_in_one_line


def experiment(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="which; without it, all are listed")] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="where to write pictures and pages; a folder named after it")
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="a shorter variant, with coarser figures")] = False,
    browser: Annotated[bool, typer.Option(help="open the page if there is a display")] = True,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of a source, notes or laws of contact: what it claims, what we measure, and a page."""
    from featherweight.experiments import catalogue, writing

    if name is None:
        return _listed(as_json)
    with told_in_one_line(ValueError):
        chosen = catalogue.named(name)
    target = Path(name) if folder is None else folder
    if target.exists() and not target.is_dir():
        raise fail(f"--out: {str(target)!r} is a file, expected a folder or a new name")
    with told_in_one_line(OSError, ModuleNotFoundError):
        target.mkdir(parents=True, exist_ok=True)
        began = time.perf_counter()
        with err.status(f"{name} …") as status:
            outcome = chosen.run(target, lambda text: status.update(f"{name}: {text} …"), short)
        page = writing.write_page(chosen, outcome, target / "index.html")
    files = [page.name, *outcome.pictures, *outcome.pages]
    if as_json:
        print(json.dumps({"name": name, "source": chosen.source, "files": files, **_facts(outcome)}, indent=1))
        return
    out.print(f"[bold]{escape(chosen.title)}[/] (source {chosen.source})")
    _tell(outcome)
    out.print(f"{time.perf_counter() - began:.0f} s. Written to {escape(str(target))}: {escape(', '.join(files))}")
    if browser and fw.viewer.open_page(page):
        out.print("Opened in your browser.")
    else:
        out.print(f"Open {escape(str(page))} in a browser.", soft_wrap=True, highlight=False)


def _listed(as_json: bool) -> None:
    from featherweight.experiments import catalogue

    found = [catalogue.named(name) for name in catalogue.EXPERIMENTS]
    if as_json:
        print(json.dumps([{"name": e.name, "source": e.source, "title": e.title} for e in found], indent=1))
        return
    for one in found:
        out.print(f"[bold]{one.name:<12}[/] {one.source}  {escape(one.title)}", highlight=False)
    out.print("\nfeatherweight experiment NAME runs one and writes its page; --json is for scripts.", highlight=False)


def _facts(outcome: Any) -> dict[str, Any]:
    return {
        "claims": [asdict(claim) for claim in outcome.claims],
        "tables": [
            {"title": t.title, "heads": list(t.heads), "rows": [list(r) for r in t.rows]} for t in outcome.tables
        ],
    }


def _tell(outcome: Any) -> None:
    from featherweight.experiments import writing

    claims = Table(*writing.HEADS, show_lines=True)
    for claim, row in zip(outcome.claims, writing.claim_rows(outcome.claims), strict=True):
        color = "green" if claim.holds else "red"
        claims.add_row(*map(escape, row[:2]), f"[{color}]{escape(row[2])}[/]")
    out.print(claims)
    for note in outcome.notes:
        out.print(escape(note), highlight=False)
    for table in outcome.tables:
        told = Table(*map(escape, table.heads), title=escape(table.title), title_justify="left")
        for row in table.rows:
            told.add_row(*map(escape, row))
        out.print(told)
