"""`featherweight sweep`: a study's file through all its lanes, on this machine or a cluster; how far a sweep is."""

from __future__ import annotations

import inspect
import json
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

import featherweight as fw
from featherweight.campaigns.progress import duration
from featherweight.campaigns.studies import STUDIES, text_of
from featherweight.campaigns.study import loaded
from featherweight.cli.app import AsJson, fail, out, told_in_one_line
from featherweight.errors import nearest

OF_THE_COMMAND = ("out", "scheduler", "part", "progress")
MOST_ASIDE = 10  # lines about chunks that were set aside


def sweep(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help=f"a file with the arguments of fw.sweep, or {', '.join(STUDIES)}"),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="folder of the results; zarr and xarray open it")
    ] = Path("sweep.zarr"),
    scheduler: Annotated[
        str | None, typer.Option(help="address of a Dask scheduler, tcp://…; threads if not given")
    ] = None,
    part: Annotated[str | None, typer.Option(metavar="K/N", help="part K of N, from 0 on, for N processes")] = None,
    lanes: Annotated[int | None, typer.Option(help="number of robots, in place of the study's")] = None,
    status: Annotated[bool, typer.Option("--status", help="say how far the sweep in the folder is")] = False,
    lane: Annotated[int | None, typer.Option(help="compute this robot again and open the viewer")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="no estimate and no bar")] = False,
    as_json: AsJson = False,
) -> None:
    """Run random robots by the million. The same command goes on where it ended, to the same bits."""
    with told_in_one_line(ValueError, TypeError, OSError, KeyError, ModuleNotFoundError, RuntimeError):
        if lane is not None:
            fw.Sweep(output).show(lane)
            return
        if status:
            found = fw.Sweep(output)
        elif study is None:
            raise ValueError(f"STUDY: expected a file, or one of {', '.join(STUDIES)}; --status says how far one is")
        else:
            found = fw.sweep(
                **{**_arguments(study), **({} if lanes is None else {"lanes": lanes})}, out=output, scheduler=scheduler,
                part=_part(part), progress=not quiet,
            )  # fmt: skip
        complete = _tell(found, as_json)
    if not complete and not status:
        raise typer.Exit(1)


def _arguments(study: str) -> dict[str, Any]:
    """The arguments of `fw.sweep` that a study's file has as its names."""
    path = Path(study)
    if not path.is_file() and study not in STUDIES:
        near = nearest(study, STUDIES)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(STUDIES)}"
        raise ValueError(f"STUDY: there is no file {study!r} and no study of that name; {hint}")
    text, file = (path.read_text(encoding="utf-8"), str(path.absolute())) if path.is_file() else text_of(study)
    try:
        names = vars(loaded(text, file))
    except Exception as error:
        at = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        where = f"line {at[-1]}: " if at else ""
        raise ValueError(f"STUDY: {study} cannot be run: {where}{type(error).__name__}: {error}") from None
    known = {k: p for k, p in inspect.signature(fw.sweep).parameters.items() if k not in OF_THE_COMMAND}
    missing = [name for name, p in known.items() if p.default is p.empty and name not in names]
    if missing:
        own = [name for name in names if not name.startswith("_") and name not in known]
        near = [f"{name} (did you mean {near[0]}?)" if (near := nearest(name, own)) else name for name in missing]
        raise ValueError(
            f"STUDY: {study}: expected it to say {', '.join(near)}: the arguments of fw.sweep, as its names"
        )
    return {name: names[name] for name in known if name in names}


def _part(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    number, _, count = text.partition("/")
    if not number.isdecimal() or not count.isdecimal():
        raise fail(f"--part: expected K/N, for example 0/16, got {text!r}")
    return int(number), int(count)


def _tell(found: fw.Sweep, as_json: bool) -> bool:
    """How far a sweep is; is it complete?"""
    facts = found.summary()
    if as_json:
        print(json.dumps(facts, indent=1))
        return facts["chunks_done"] == facts["chunks"]
    table = Table(title=escape(str(found.path)), title_justify="left", title_style="bold", show_header=False)
    table.add_row("lanes", f"{facts['lanes_done']} of {facts['lanes']}, {facts['lanes_failed']} failed")
    table.add_row("chunks", f"{facts['chunks_done']} of {facts['chunks']}, {len(facts['aside'])} set aside")
    table.add_row("computed in", f"{duration(facts['core_seconds'])} of one core's time")
    for processor, chunks in facts["processors"].items():
        table.add_row("processor", f"{escape(processor)}: {chunks} chunks")
    table.add_row("arrays", escape(", ".join(found.names)))
    for number, reason in list(facts["aside"].items())[:MOST_ASIDE]:
        table.add_row(f"chunk {number}", f"[red]{escape(reason)}[/]")
    out.print(table)
    return facts["chunks_done"] == facts["chunks"]
