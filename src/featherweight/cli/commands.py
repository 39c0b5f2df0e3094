"""The commands. One clear line and status 2 on bad input, never a traceback."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

import featherweight as fw
from featherweight.cli import report
from featherweight.model import Model

app = typer.Typer(
    name="featherweight",
    help="Articulated rigid-body dynamics: look at robots, check their files, measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out, err = Console(), Console(stderr=True)
BUILT_IN: dict[str, Callable[[], Model]] = {
    "pendulum": fw.robots.pendulum,
    "double_pendulum": fw.robots.double_pendulum,
    "cartpole": fw.robots.cartpole,
    "chain": lambda: fw.robots.chain(10),
    "mini_cheetah": fw.robots.mini_cheetah,
    "humanoid": fw.robots.humanoid,
}
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="a URDF file, or a built-in name like mini_cheetah")
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for scripts")]


Roots = Annotated[list[Path] | None, typer.Option("--root", help="folder where meshes may be, beside the file's own")]


def fail(message: object) -> typer.Exit:
    """One line on the error stream; raise what this returns."""
    err.print(f"[bold red]featherweight:[/] {escape(str(message))}", soft_wrap=True, highlight=False)
    return typer.Exit(2)


def model_named(name: str, base: str, policy: str = "warn", roots: list[Path] | None = None) -> Model:
    """A built-in model or one from a file."""
    if name in BUILT_IN and not Path(name).exists():
        return BUILT_IN[name]()
    if not Path(name).exists():
        raise fail(f"there is no file {name!r} and no built-in model of that name ({', '.join(BUILT_IN)})")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `lint` is for those
            return fw.load(name, base=base, policy=policy, roots=roots or ())
    except fw.ModelError as error:
        raise fail(error) from None


@app.command()
def info(
    model: ModelArgument,
    base: Annotated[str, typer.Option(help="fixed or free")] = "fixed",
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
    base: Annotated[str, typer.Option(help="fixed or free")] = "free",
    as_json: AsJson = False,
) -> None:
    """Time the main functions on this machine, for one state and for a batch of 4096."""
    robot = model_named(model, base)
    try:
        with err.status("compiling and measuring …"):
            rows = report.timings(robot)
    except ValueError as error:
        raise fail(error) from None
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
