"""`featherweight demo`: what this is good for, in a minute: robots, compared, as numbers and as moving pictures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

import featherweight as fw
from featherweight import report
from featherweight.cli.app import err, fail, out, told_in_one_line
from featherweight.cli.controllers import hold
from featherweight.cli.starts import start
from featherweight.cli.timing import Timed, timed
from featherweight.contact import ContactModel
from featherweight.experiments import catalogue, writing
from featherweight.experiments.experiment import Outcome

DROP = 0.2  # how high the feet are let go [m]
CHAIN_SECONDS, CHAIN_STEP = 10.0, 2e-3
DROPPED = (
    "The same robot and controller on two kinds of ground. With impulses the ground is hard: feet slide as "
    "they land, and then stand still. With springs it is soft: forces are smaller, feet sink in and creep."
)
TROTTED = (
    "The experiment of the lecture notes this began with. On their springs, in steps of 1 ms, feet slide and forces "
    "turn; on impulses both are firm. In steps that are short enough, springs hold too."
)
SWUNG = (
    "Nothing brakes the chain, so its energy should stay as it is. What it changes by is the error of the method that "
    "takes it from step to step."
)


HELD = "Bodies touch each other: nothing but friction holds the box. Each line is a law, beside what was measured."


def demo(
    folder: Annotated[Path, typer.Option(help="where to write pages and trajectories")] = Path("demo"),
    browser: Annotated[bool, typer.Option(help="open the result if there is a display")] = True,
) -> None:
    """A robot trotting, and dropped, under two contact models, a gripper that shakes a box, a chain under two
    integrators: compared and shown."""
    if folder.exists() and not folder.is_dir():
        raise fail(f"--folder: {str(folder)!r} is a file, expected a folder or a new name")
    with told_in_one_line(OSError, ModuleNotFoundError):
        folder.mkdir(parents=True, exist_ok=True)
        began = time.perf_counter()
        with err.status("simulating …"):
            trot = catalogue.named("trot")
            trotted = trot.run(folder, lambda text: None, False)
            gripper = catalogue.named("gripper")
            held = gripper.run(folder, lambda text: None, False)
            robots = {"impulses, 1 ms": _dropped(fw.contact.Impulse(friction=0.8), 1e-3, 1)}
            robots["springs, 0.25 ms"] = _dropped(fw.contact.SpringDamper(friction=0.8), 2.5e-4, 4)
            chains = {"variational": _chain("variational"), "semi-implicit Euler": _chain("semi_implicit")}
        _tell_trot(trotted)
        _tell_robots(robots)
        _tell_gripper(held)
        _tell_chains(chains)
        with err.status("drawing …"):
            pages = [writing.write_page(trot, trotted, folder / "trot.html")]
            pages.append(_write(folder, "mini_cheetah", "The Mini Cheetah, dropped and standing", robots, DROPPED, 0.5))
            pages.append(writing.write_page(gripper, held, folder / "gripper.html"))
            pages.append(_write(folder, "chain", "A chain of ten links, swinging without friction", chains, SWUNG, 1.0))
        out.print(f"All of this took {time.perf_counter() - began:.0f} s. Written:")
        for file in sorted(folder.iterdir()):
            out.print(f"  {escape(str(file))}", soft_wrap=True, highlight=False)
        if browser and all([fw.viewer.open_page(page) for page in reversed(pages)]):  # the last one is in front
            out.print("Opened in your browser.")
        else:
            out.print(f"Open {escape(', '.join(map(str, pages)))} in a browser.", soft_wrap=True)


def _dropped(contact: ContactModel, dt: float, every: int) -> Timed:
    robot = fw.robots.mini_cheetah()
    q = start(robot, (), DROP, contact.surfaces)
    return timed(robot, q, duration=2.0, dt=dt, control=hold(robot, q), contact=contact, record_every=every)


def _chain(integrator: str) -> Timed:
    chain = fw.robots.chain(10)
    q = np.random.default_rng(1).uniform(-np.pi / 2, np.pi / 2, chain.nq)
    return timed(chain, q, duration=CHAIN_SECONDS, dt=CHAIN_STEP, integrator=integrator, record_every=5)


def _tell_robots(runs: dict[str, Timed]) -> None:
    table = Table("ground", "worst foot slides", "deepest", "largest force", "× real time")
    for name, (run, seconds, _) in runs.items():
        lines = {line.name: line for line in report.summary(run, seconds=seconds)}
        texts = (lines[n].text.partition(" (")[0] for n in ("slip", "deepest", "largest_contact_force"))
        table.add_row(name, *texts, f"{lines['real_time_factor'].value:,.0f}")
    _tell(f"[bold]Mini Cheetah[/], 9 kg, 12 motors: dropped from {100 * DROP:.0f} cm, held by PD, 2 s", DROPPED, table)


def _tell_trot(outcome: Outcome) -> None:
    found = outcome.tables[0]
    table = Table(*found.heads)
    for row in found.rows:
        table.add_row(*row)
    _tell(
        "[bold]Mini Cheetah[/], trotting in place by a whole-body QP, 10 s; shown at 0.3 of its speed", TROTTED, table
    )


def _tell_gripper(outcome: Outcome) -> None:
    table = Table("law", "measured")
    for claim in outcome.claims:
        table.add_row(claim.text, claim.measured)
    _tell("[bold]Gripper[/] that lifts a box of 0.5 kg and shakes it, 3 s", HELD, table)


def _tell_chains(runs: dict[str, Timed]) -> None:
    table = Table("integrator", "energy at the start", "largest error", "× real time")
    for name, (run, seconds, _) in runs.items():
        energy = run.energy()
        error = np.abs(energy - energy[0]).max()
        table.add_row(name, f"{energy[0]:.1f} J", f"{error:.3g} J", f"{CHAIN_SECONDS / (seconds or np.inf):,.0f}")
    title = f"[bold]Chain of ten links[/], frictionless, {CHAIN_SECONDS:g} s in steps of {1e3 * CHAIN_STEP:g} ms"
    _tell(title, SWUNG, table)


def _tell(title: str, what: str, table: Table) -> None:
    out.print(f"\n{title}\n{what}")
    out.print(table)


def _write(folder: Path, name: str, title: str, runs: dict[str, Timed], what: str, speed: float) -> Path:
    """A report, the trajectories, and a page with the moving robots."""
    trajectories = {label: one.run for label, one in runs.items()}
    for label, run in trajectories.items():
        run.save(folder / f"{name}-{label.split(',')[0].replace(' ', '-')}.fw")
    fw.viewer.export(list(trajectories.values()), folder / f"{name}-3d.html", labels=list(trajectories))
    page = folder / f"{name}.html"
    report.write_report(
        trajectories, page, title=title, seconds={label: one.seconds for label, one in runs.items()},
        notes=[what + (f" Shown at {speed:g} of its speed." if speed < 1 else "")],
        links={"In three dimensions: turn it, move through time, slower and faster": f"{name}-3d.html"},
        speed=speed, rate=10.0 if speed < 1 else 8.0,
    )  # fmt: skip
    return page
