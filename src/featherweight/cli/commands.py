"""The commands, in files of their own where they are long. One clear line and status 2 on bad input, no traceback."""

from __future__ import annotations

import json
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from featherweight.cli import demo, experiment, lint, report, simulate, sweep, view
from featherweight.cli.app import (
    AsJson,
    Base,
    ModelArgument,
    Policy,
    Roots,
    app,
    err,
    model_named,
    out,
    told_in_one_line,
)
from featherweight.model import Model

MOST_NOTES = 12  # lines of `info` about what was merged, or not used

app.command()(lint.lint)
app.command()(simulate.simulate)
app.command()(view.view)
app.command()(demo.demo)
app.command()(experiment.experiment)
app.command()(sweep.sweep)


@app.command()
def info(
    model: ModelArgument,
    base: Base = "auto",
    policy: Policy = "warn",
    root: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Tree, masses, joints with limits, sizes; what was merged or not used."""
    robot = model_named(model, base, policy, root)
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
            for line in lines[:MOST_NOTES]:
                out.print(f"  {escape(line)}", soft_wrap=True, highlight=False)
            if len(lines) > MOST_NOTES:
                rest = "`featherweight lint` groups them" if title == "notes" else "--json has all"
                out.print(f"  … {len(lines) - MOST_NOTES} more: {rest}", highlight=False)


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
def bench(
    model: ModelArgument = "mini_cheetah",
    base: Base = "auto",
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
