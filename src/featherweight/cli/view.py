"""`featherweight view`: robots and trajectories in the browser, or as a page to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import featherweight as fw
from featherweight.cli import names
from featherweight.cli.app import (
    Base,
    Roots,
    can_be_written,
    err,
    fail,
    is_built_in,
    model_named,
    plain_warnings,
    told_in_one_line,
)
from featherweight.endings import MOVIES, PAGE, SCENES
from featherweight.io.catalogue import is_name
from featherweight.model import Model

WHAT = typer.Argument(
    metavar="MODEL or TRAJECTORY …", help="several: side by side", autocompletion=names.robots_and_runs
)


def view(
    what: Annotated[list[str], WHAT],
    model: Annotated[str | None, typer.Option(help="the robot, if a trajectory's file lacks it or its meshes")] = None,
    base: Base = "auto",
    root: Roots = None,
    host: Annotated[str, typer.Option(help="address to listen at; 0.0.0.0 lets in all who reach it")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="a free one from 8080 on if not given")] = None,
    browser: Annotated[bool, typer.Option(help="open a browser if there is a display")] = True,
    export: Annotated[Path | None, typer.Option(help="write a file instead: .html, .glb, .gif, .mp4 or .webm")] = None,
) -> None:
    """Look at a robot, or replay trajectories: time slider, slow motion, contact forces."""
    with plain_warnings(), told_in_one_line(ValueError, TypeError, OSError, ModuleNotFoundError):
        if len(what) == 1 and _is_model(what[0]):
            if export is not None:
                raise fail("--export: expected a trajectory, got a model")
            fw.viewer.show(model_named(what[0], base, roots=root), host=host, port=port, browser=browser, block=True)
            return
        can_be_written("--export", export, (*PAGE, *SCENES, *MOVIES))
        robot: Model | None = None if model is None else model_named(model, base, roots=root)
        runs = [_trajectory(name, robot, root or ()) for name in what]
        labels = [Path(name).stem for name in what] if len(what) > 1 else []
        if export is not None:
            write = fw.plot.movie if export.suffix and export.suffix.lower() in MOVIES else fw.viewer.export
            write(runs, export, labels=labels)
            err.print(f"written: {escape(str(export))}", soft_wrap=True)
        else:
            fw.viewer.show(runs, labels=labels, host=host, port=port, browser=browser, block=True)


def _is_model(name: str) -> bool:
    return Path(name).suffix.lower() in names.MODELS or is_name(name) or is_built_in(name)


def _trajectory(name: str, robot: Model | None, roots: Sequence[Path]) -> fw.Trajectory:
    if _is_model(name):
        raise fail(f"{name!r} is a model: models are shown one at a time, without trajectories")
    if Path(name).is_dir():
        raise fail(f"{name!r} is a folder, expected a trajectory's file")
    if not Path(name).is_file():
        raise fail(names.unknown_robot(name))
    run = fw.Trajectory.load(name, model=robot, roots=roots)
    if robot is not None and run.q.shape[-1] != robot.nq:
        raise fail(
            f"{name}: its states have {run.q.shape[-1]} coordinates, {robot.name!r} has {robot.nq}: another robot"
        )
    return run
