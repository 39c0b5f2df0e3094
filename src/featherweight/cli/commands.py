"""The commands, in files of their own where they are long. One clear line and status 2 on bad input, no traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

import featherweight as fw
from featherweight.cli import demo, report, simulate, view
from featherweight.cli.app import AsJson, Base, ModelArgument, Roots, app, err, fail, model_named, out, told_in_one_line
from featherweight.model import Model

app.command()(simulate.simulate)
app.command()(view.view)
app.command()(demo.demo)


@app.command()
def info(
    model: ModelArgument,
    base: Base = "fixed",
    root: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Tree, masses, joints with limits, sizes; what was merged or not used."""
    robot = model_named(model, base, roots=root)
    if as_json:
        print(json.dumps(report.as_dict(robot), indent=1))
        return
    facts = report.as_dict(robot)
    out.print(f"[bold]{escape(robot.name)}[/]: {facts['summary']}")
    branches = {0: Tree("world")}
    for i in range(1, robot.nb + 1):
        branches[i] = branches[robot.parent[i]].add(escape(report.body_line(robot, i)))
    out.print(branches[0])
    out.print(_joint_table(robot))
    for title, lines in (("merged with their parents", facts["merged"]), ("notes", facts["notes"])):
        if lines:
            out.print(f"[bold]{title}[/] ({len(lines)})")
            for line in lines:
                out.print(f"  {escape(line)}", soft_wrap=True, highlight=False)


def _joint_table(robot: Model) -> Table:
    """Columns that say nothing are left out."""
    heads = ("joint", "kind", "q", "v", "lower", "upper", "velocity", "effort", "damping", "friction")
    rows = report.joint_rows(robot)
    said = [k for k in range(len(heads)) if any(row[k] not in ("0", "–") for row in rows)]
    table = Table(*(heads[k] for k in said))
    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        table.add_row(*(escape(row[k]) for k in said))
    return table


@app.command()
def lint(model: ModelArgument, root: Roots = None, as_json: AsJson = False) -> None:
    """All findings in a URDF file at once. Status 0 if it is in order, 1 if not."""
    if not Path(model).is_file():
        raise fail(f"there is no file {model!r}")
    findings = fw.lint(model, roots=root or ())
    bad = [f for f in findings if f.level != "note"]
    if as_json:
        print(json.dumps([f.as_dict() for f in findings], indent=1))
    else:
        table = Table("line", "", "where", "what")
        colors = {"error": "red", "wrong": "red", "warning": "yellow", "note": "dim"}
        for f in findings:
            text = f"{f.message}; {f.fix}" if f.fix else f.message
            table.add_row(str(f.line), f"[{colors[f.level]}]{f.level}[/]", escape(f.element), escape(text))
        if findings:
            out.print(table)
        out.print(f"{escape(model)}: {len(bad)} to mend, {len(findings) - len(bad)} to know")
    raise typer.Exit(1 if bad else 0)


@app.command()
def bench(
    model: ModelArgument = "mini_cheetah",
    base: Base = "free",
    as_json: AsJson = False,
) -> None:
    """Time the main functions on this machine, for one state and for a batch of 4096."""
    robot = model_named(model, base)
    with told_in_one_line(ValueError), err.status("compiling and measuring …"):
        rows = report.timings(robot)
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    table = Table("function", "one state", "a state in a batch, one core", "… all cores")
    for row in rows:
        table.add_row(row["function"], *(report.seconds(row[k]) for k in ("single_s", "batch_s", "threads_s")))
    out.print(table)


def run(arguments: list[str] | None = None) -> Any:
    """For tests: the same without leaving the process."""
    return app(arguments, standalone_mode=False)
