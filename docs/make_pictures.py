"""The pictures of the README and the pages: `make pictures`. Those of measurements are made with the measurements."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.cli.controllers import hold
from featherweight.cli.starts import start
from featherweight.experiments.trot import FEET, SPEED, trot_on
from featherweight.experiments.trot_pictures import write_movie

PICTURES = Path(__file__).parent / "pictures"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def dropped(contact: fw.contact.ContactModel, dt: float, seconds: float = 0.8) -> fw.Trajectory:
    """The Mini Cheetah, let go 20 cm above the ground."""
    robot = fw.robots.mini_cheetah()
    q = start(robot, (), 0.2, contact.surfaces)
    v = np.zeros(robot.nv)
    every = round(1e-3 / dt)
    return fw.simulate(
        robot, q, v, duration=seconds, dt=dt, control=hold(robot, q), contact=contact, record_every=every
    )


def trot() -> None:
    """The trot of the notes, at their speed: what the README begins with, and what `make experiment-pages` draws."""
    runs = {one.label: one.run for one in (trot_on("spring", 1e-3, 4.0), trot_on("impulse", 1e-3, 4.0))}
    write_movie(runs, FEET, PICTURES / "experiments" / "trot.gif", speed=SPEED)


def swinging(integrator: str) -> fw.Trajectory:
    """A chain of ten links."""
    chain = fw.robots.chain(10)
    q = np.random.default_rng(1).uniform(-np.pi / 2, np.pi / 2, chain.nq)
    return fw.simulate(chain, q, np.zeros(10), duration=10.0, dt=2e-3, integrator=integrator, record_every=5)


def robots() -> None:
    """Built-in robots beside each other."""
    from PIL import Image

    plane = [fw.contact.Plane()]
    shown = []
    for name in ("mini_cheetah", "humanoid", "double_pendulum", "chain"):
        model = fw.robots.chain(10) if name == "chain" else getattr(fw.robots, name)()
        floating = bool(model.contact_points)
        q = start(model, (), 0.0, plane if floating else ())
        shown.append(fw.plot.still(model, q, size=(300, 260), ground=plane if floating else ()))
    sheet = Image.new("RGB", (1200, 260), "white")
    for k, picture in enumerate(shown):
        sheet.paste(picture, (300 * k, 0))
    sheet.quantize(128).save(PICTURES / "robots.png", optimize=True)


def viewer(run: fw.Trajectory, other: fw.Trajectory) -> None:
    """The pages of the viewer as Chromium shows them: two runs with curves, a trot that is pulled, a robot's frames."""
    with fw.viewer.show([run, other], labels=["impulses", "springs"], block=False, browser=False) as shown:
        shown.content._pause(True)
        shown.content._plots.show(True)
        shown.content.step(0.3)
        page_picture(shown, "viewer.png")
    with fw.viewer.show(fw.scenes.trot(), block=False, browser=False) as shown:
        page_picture(shown, "viewer-live.png", pulled)
    with fw.viewer.show(fw.robots.humanoid(), block=False, browser=False) as shown:
        stage = shown.content._play.stages[0]
        stage.tags.show_frames(True)
        stage.tags.show_frame("left_hand")
        page_picture(shown, "viewer-frames.png")


def page_picture(shown: fw.viewer.Viewer, name: str, prepare: Callable[[Any], None] | None = None) -> None:
    """A page of the viewer, after something was done to it."""
    from PIL import Image

    from viewer.chromium import Page

    with Page(shown.url, (1180, 780)) as page:
        page.until("document.querySelector('[role=slider]') != null", 60)
        page.value("[...document.querySelectorAll('.mantine-Notification-closeButton')].map(b => b.click())")
        time.sleep(8)
        if prepare is not None:
            prepare(page)
        page.picture(PICTURES / name)
    with Image.open(PICTURES / name) as picture:
        small = picture.convert("RGB").quantize(200)
    small.save(PICTURES / name, optimize=True)


def pulled(page: Any) -> None:
    """The mouse pulls at the trunk."""
    x, y = 590, 220
    for kind, k in (("mouseMoved", 0), ("mousePressed", 0), *(("mouseMoved", k) for k in range(1, 11))):
        held = int(kind == "mousePressed" or k > 0)
        page.call("Input.dispatchMouseEvent", type=kind, x=x - 4 * k, y=y - 9 * k, button="left", buttons=held)
        time.sleep(0.2)
    time.sleep(1.0)


def real_robots() -> None:
    """What the page on real robots draws, by its own code."""
    from PIL import Image

    text = (PICTURES.parent / "tutorials" / "real-robots.md").read_text("utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(compile(code, "real-robots.md", "exec"), {})
        finally:
            os.chdir(here)
        for path in Path(folder).glob("*.png"):
            with Image.open(path) as picture:
                picture.quantize(96).save(PICTURES / path.name, optimize=True)


def identification() -> None:
    """The picture of a tutorial, by the tutorial's own code."""
    text = (Path(__file__).parent / "tutorials/identification.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
        shutil.copy(Path(folder) / "identification.svg", PICTURES)


def main() -> None:
    hard, soft = dropped(fw.contact.Impulse(friction=0.8), 1e-3), dropped(fw.contact.SpringDamper(friction=0.8), 2.5e-4)
    trot()
    robots()
    real_robots()
    chain = swinging("variational")
    energies = {name: swinging(name).energy() for name in ("semi_implicit", "rk4")} | {"variational": chain.energy()}
    energy_picture(chain.t, energies)
    viewer(hard, soft)
    identification()


def energy_picture(t: np.ndarray, energies: dict[str, np.ndarray]) -> None:
    """How three integrators keep the energy of the chain."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for name, energy in energies.items():
        axes.plot(t, energy - energy[0], label=name, linewidth=1.2)
    axes.set(xlabel="t [s]", ylabel="energy error [J]", yscale="symlog", xlim=(0, t[-1]))
    axes.set_title("Ten links without friction, steps of 2 ms", loc="left", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(PICTURES / "energy.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
