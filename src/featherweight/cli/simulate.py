"""`featherweight simulate`: a robot through time, with a summary, a file, a report, a window."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

import featherweight as fw
from featherweight import report
from featherweight.cli import names
from featherweight.cli.app import (
    AsJson,
    Base,
    ModelArgument,
    Policy,
    Roots,
    can_be_written,
    err,
    is_built_in,
    model_named,
    out,
    plain_warnings,
    told_in_one_line,
)
from featherweight.cli.controllers import CONTROLLERS, CROUCHING, USUAL, controller_named
from featherweight.cli.outcome import outcome
from featherweight.cli.starts import start
from featherweight.cli.timing import Timed, expected_compiling, timed
from featherweight.contact import ContactModel
from featherweight.endings import PAGE, RUN, TABLES
from featherweight.model import Model
from featherweight.simulation import Trajectory
from featherweight.simulation.problem import check_steps
from featherweight.simulation.running import steps_in
from featherweight.visuals import good_part

CONTACTS = ("auto", "none", "impulse", "spring")
CONTACT_HELP = "none, impulse, spring; auto: impulse if it has points"
INTEGRATORS = ", ".join(fw.integrators.NAMES)
CONTROLLER_HELP = f"{', '.join(CONTROLLERS)}, or FILE.py:NAME; auto: hold on the ground, humanoid: balance"
DEEP = 1e-3  # [m] in the ground: told before a run begins there
LONG = 1.0  # s: what compiling takes is told from here on
CACHED = 0.15  # s: reading compiled code takes less
DT = 1e-3  # s, of a step, where nothing asks for shorter ones
MARGIN = 0.7  # of the longest stable step: points may be deeper than it is computed for
TOLERANCE = 1e-5  # m/s, of impulses: less is not to be seen, and points of one rigid foot may not allow for it


def simulate(
    model: ModelArgument,
    duration: Annotated[float, typer.Option(help="simulated time in seconds")] = 2.0,
    dt: Annotated[float | None, typer.Option(help="length of a step in seconds; 0.001, or less for springs")] = None,
    integrator: Annotated[
        str, typer.Option(help=INTEGRATORS, autocompletion=names.one_of(fw.integrators.NAMES))
    ] = "semi_implicit",
    contact: Annotated[str, typer.Option(help=CONTACT_HELP, autocompletion=names.one_of(CONTACTS))] = "auto",
    friction: Annotated[float, typer.Option(help="coefficient of Coulomb's law")] = 0.8,
    limits: Annotated[bool, typer.Option(help="joints stay within their limits of position")] = True,
    controller: Annotated[str, typer.Option(help=CONTROLLER_HELP, autocompletion=names.one_of(CONTROLLERS))] = "auto",
    height: Annotated[float, typer.Option(help="of the lowest contact point at the start in metres")] = 0.0,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="JOINT=VALUE", help="a joint at the start")] = None,
    feet: Annotated[str | None, typer.Option(metavar="LINK,…", help="links of a file that touch the ground")] = None,
    base: Base = "auto",
    policy: Policy = "warn",
    root: Roots = None,
    record_every: Annotated[int, typer.Option(help="keep every so many states")] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="write the run there: .fw, .npz, .csv or .parquet")
    ] = None,
    report_to: Annotated[Path | None, typer.Option("--report", help="write a page about it, HTML, there")] = None,
    show: Annotated[bool, typer.Option("--show", help="open the viewer on it")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="play with it in the browser: pull, steer, pause, reset")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a robot through time: a summary, and if wanted a file, a report, a window."""
    robot = model_named(model, base, policy, root, feet)
    with plain_warnings(), told_in_one_line(ValueError, TypeError, OSError, KeyError, ModuleNotFoundError):
        _alone(live, output, report_to, show, as_json)
        can_be_written("--output", output, (*RUN, *TABLES))
        can_be_written("--report", report_to, PAGE)
        touching = _contact(contact, friction, robot)
        usual = "none" if touching is None else USUAL.get(robot.name, "hold")
        chosen = usual if controller == "auto" else controller
        q = _begin(robot, set_ or (), height, touching, chosen)
        step = _step(dt, touching, robot, q)
        if live:
            _play(robot, q, dt=step, control=controller_named(chosen, robot, q), contact=touching,
                  integrator=integrator, limits=limits)  # fmt: skip
            return
        result = _run(
            robot, q, duration=duration, dt=step, control=controller_named(chosen, robot, q), contact=touching,
            integrator=integrator, limits=limits, record_every=record_every, progress=err.is_terminal,
        )  # fmt: skip
        run, seconds, _ = result
        if output is not None:
            run.save(output)
        _tell(result, robot, [_base(model, base, robot), _controller(controller, chosen)], as_json)
        if report_to is not None:
            with err.status("drawing …"):
                report.write_report({robot.name: run}, report_to, title=robot.name, seconds={robot.name: seconds})
            err.print(f"report: {escape(str(report_to))}", soft_wrap=True)
        if show:
            run.show()
    if good_part(run)[1] is not None:
        raise typer.Exit(1)


def _contact(name: str, friction: float, robot: Model) -> ContactModel | None:
    if name not in CONTACTS:
        raise ValueError(f"--contact: expected {', '.join(CONTACTS)}, got {name!r}")
    touching: ContactModel = fw.contact.Impulse(friction=friction, tolerance=TOLERANCE)
    if name == "spring":
        touching = fw.contact.SpringDamper(friction=friction)
    touches = bool(robot.contact_points or robot.ground_shapes)
    if name == "auto" and not touches and robot.joints and robot.joints[0].kind.nv == 6:
        err.print(
            f"[yellow]{escape(robot.name)} has no contact points: nothing holds it. Name the links that touch the "
            "ground: --feet LINK,LINK,…; or fix it: --base fixed[/]",
            soft_wrap=True,
        )
    return None if name == "none" or (name == "auto" and not touches) else touching


def _step(given: float | None, touching: ContactModel | None, robot: Model, q: np.ndarray) -> float:
    """The length of a step: what was given if it is stable, or a half, a quarter … of the usual one that is."""
    if not isinstance(touching, fw.contact.SpringDamper) or not robot.contact_points:
        return DT if given is None else given
    longest = touching.stable_dt(robot, q)
    if given is not None:
        if given > longest:
            raise ValueError(
                f"--dt: {given:g} s is too long for these springs, steps are stable up to {longest:.2g} s; "
                "leave it out, or choose --contact impulse"
            )
        return given
    parts = 2 ** max(0, math.ceil(math.log2(DT / (MARGIN * longest))))
    if parts > 1:
        err.print(f"dt is {DT / parts:g} s: steps with these springs are stable up to {longest:.2g} s", soft_wrap=True)
    return DT / parts


def _begin(
    robot: Model, settings: Sequence[str], height: float, touching: ContactModel | None, controller: str
) -> np.ndarray:
    """Where it begins. A robot that floats is put on the ground; of another one that begins in it, that is told."""
    surfaces = () if touching is None else touching.surfaces
    q = start(robot, settings, height, surfaces, crouching=controller in CROUCHING)
    if touching is None or not robot.joints or robot.joints[0].kind.floating:
        return q
    with fw.interpret():
        depth = -float(fw.scenes.lowest(robot, q))
    if depth > DEEP:
        text = f"begins {depth:.3g} m deep in the ground, and is pushed out; move it by --set JOINT=VALUE"
        err.print(f"[yellow]{escape(robot.name)} {text} (--height moves robots that float)[/]", soft_wrap=True)
    return q


def _announce(robot: Model, contact: ContactModel | None) -> None:
    """How long compiling will take, before it begins: nobody should look at an empty screen and wonder."""
    seconds = expected_compiling(robot, contact)
    if seconds >= LONG:
        points = f" and {len(robot.contact_points)} contact points" if contact is not None else ""
        what = f"{escape(robot.name)} with {robot.nv} degrees of freedom{points}"
        err.print(f"{what}: compiling takes about {seconds:.0f} s of a core the first time", soft_wrap=True)


def _run(robot: Model, q: np.ndarray, **options: Any) -> Timed:
    """The trajectory, up to where it failed if it did, and the seconds it took if it did not."""
    steps, dt = steps_in(options["duration"], options["dt"])  # before anything is compiled
    check_steps(robot, steps, dt, options["record_every"])
    _announce(robot, options["contact"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = timed(robot, q, **options)
        except fw.SimulationError as error:
            if not isinstance(error.trajectory, Trajectory):
                raise ValueError(str(error)) from None
            err.print(f"[bold red]{escape(str(error))}[/]", soft_wrap=True)
            result = Timed(error.trajectory, None)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        err.print(f"[yellow]{escape(text)}[/]", soft_wrap=True)
    return result


def _alone(live: bool, *others: object) -> None:
    if live and any(others):
        raise ValueError('--live: nothing is written; "Save run" on the page keeps it. Leave the other out')


def _play(robot: Model, q: np.ndarray, **options: Any) -> None:
    """A live simulation in the browser, until Ctrl-C."""
    _announce(robot, options["contact"])
    fw.viewer.show(fw.Stepper(robot, q, f_ext=np.zeros((robot.nb + 1, 6)), **options), block=True)


def _base(name: str, base: str, robot: Model) -> report.Line:
    """Whether it floats; what would change that if nobody has said so."""
    floats = bool(robot.joints) and robot.joints[0].kind.floating
    text = "free" if floats else "fixed"
    other = "fixed holds it" if floats else "free lets it float"
    hint = f" (auto); --base {other}" if base == "auto" and not is_built_in(name) else ""
    return report.Line("base", text, "base", f"{text}{hint}")


def _controller(asked: str, chosen: str) -> report.Line:
    """What drives it; what would hold it if nobody has said that nothing shall."""
    hint = "; --controller pd holds it" if chosen == "none" else ""
    return report.Line("controller", chosen, "controller", f"{chosen} (auto){hint}" if asked == "auto" else chosen)


def _tell(result: Timed, robot: Model, choices: list[report.Line], as_json: bool) -> None:
    run, seconds, compiling = result
    status, *others = report.summary(run, seconds=seconds)
    lines = [status, *choices, *others]
    if compiling is not None:
        text = f"{compiling:.2g} s" if compiling > CACHED else f"{compiling:.2g} s, found in the cache"
        lines.insert(2 + len(choices), report.Line("compile_seconds", compiling, "compiled in", text))
    lines += outcome(run, robot)
    if as_json:
        print(json.dumps({"model": robot.name} | {line.name: line.value for line in lines}, indent=1))
        return
    table = Table(title=escape(robot.name), title_justify="left", title_style="bold", show_header=False)
    for line in lines:
        if line.title:
            table.add_row(line.title, escape(line.text))
    out.print(table)
