"""What people wait for: `make demo` on a clean clone, a trajectory on the screen, frames a second.

    python benchmarks/waiting.py [demo] [demo-display] [load] [frames]

Frames are counted in a headless Chromium that draws in software, without a GPU; the server's own rate beside it.
Results go to benchmarks/results/, those that were not asked for stay as they are.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.cli.controllers import hold
from featherweight.cli.starts import start
from featherweight.compiler.target import host

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
SIZES = ((480, 400), (800, 600))  # windows
COUNT = """new Promise(done => { let n = 0; const began = performance.now();
  const tick = () => { n++; const t = performance.now() - began;
    t > 4000 ? done(1000 * n / t) : requestAnimationFrame(tick) };
  requestAnimationFrame(tick) })"""


def demo(display: bool) -> dict[str, Any]:
    """Seconds of `make demo` on a clean clone with an empty cache, installation included."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        kept = {k: v for k, v in os.environ.items() if k.upper().startswith(("PIP_", "SSL_", "LANG"))}
        own = {"HOME": folder, "XDG_CACHE_HOME": f"{folder}/cache", "PATH": os.defpath + ":/usr/local/bin", **kept}
        if display:  # a browser that only writes down what it is asked to open
            browser = Path(folder) / "browser"
            browser.write_text(f'#!/bin/sh\necho "$1" >> {folder}/opened\n')
            browser.chmod(0o755)
            own |= {"DISPLAY": ":99", "BROWSER": f"{browser} %s"}
        began = time.perf_counter()
        command = ["make", "demo", f"PYTHON={sys._base_executable}"]
        done = subprocess.run(command, cwd=clone, env=own, capture_output=True, text=True)
        seconds = time.perf_counter() - began
        opened = Path(folder) / "opened"
        pages = [Path(line).name for line in opened.read_text().split()] if opened.exists() else []
        written = sorted(file.name for file in (clone / "demo").iterdir())
    if done.returncode:
        raise RuntimeError(done.stderr)
    return {"seconds": seconds, "opened": pages, "written": written, "said": done.stdout.splitlines()[-1]}


def standing(name: str, seconds: float) -> fw.Trajectory:
    """A robot that is held and dropped from 10 cm, 1000 states a second."""
    robot, contact = getattr(fw.robots, name)(), fw.contact.SpringDamper()
    q, v = start(robot, (), 0.1, contact.surfaces), np.zeros(robot.nv)
    control = hold(robot, q)
    return fw.simulate(robot, q, v, duration=seconds, dt=2.5e-4, control=control, contact=contact, record_every=4)


def load() -> dict[str, Any]:
    """Seconds from a file of 10 s (10 001 states) to a page that is served, in a new process and in this one."""
    code = (
        "import sys, time; began = time.perf_counter(); import featherweight as fw\n"
        "viewer = fw.Trajectory.load(sys.argv[1]).show(block=False, browser=False)\n"
        "print(time.perf_counter() - began); viewer.close()"
    )
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("mini_cheetah", "humanoid"):
            path = Path(folder) / f"{name}.fw"
            standing(name, 10.0).save(path)
            times = []
            for _ in range(2):  # the first compiles kinematics
                out = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
                times.append(float(out.stdout))
            results[name] = {"megabytes": path.stat().st_size / 1e6, "first_s": times[0], "again_s": times[1]}
    return results


def frames() -> dict[str, Any]:
    """Frames a second that the server makes, and that a browser without a GPU draws, while a robot is replayed."""
    from viewer.chromium import Page

    results = {}
    for name in ("mini_cheetah", "humanoid"):
        with standing(name, 2.0).show(block=False, browser=False) as viewer:
            play, stages = viewer.content.play, viewer.content.play.stages
            drawn = {}
            for size in SIZES:
                with Page(viewer.url, size) as page:
                    page.until("document.querySelector('canvas') != null", 60)
                    time.sleep(6)  # shaders are compiled
                    shape = page.value("[innerWidth, innerHeight]")
                    drawn["×".join(map(str, shape))] = page.value(COUNT)
            viewer.content.close()
            began = time.perf_counter()
            for k in range(300):
                play.show((k % 100) / 60)
            made = 300 / (time.perf_counter() - began)
        results[name] = {"drawn_in_software": drawn, "made_by_the_server": made, "bodies": len(stages[0]._bodies)}
    return results


MEASURES = {
    "demo": lambda: demo(display=False),
    "demo-display": lambda: demo(display=True),
    "load": load,
    "frames": frames,
}


def main() -> None:
    wanted = sys.argv[1:] or list(MEASURES)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    path = ROOT / "benchmarks/results" / f"{date[:10]}-waiting.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    machine = {"cpu": host().cpu, "cores": os.cpu_count(), "system": platform.system(), "gpu": "none"}
    machine |= {"python": platform.python_version(), "packages": os.environ.get("PACKAGES_FROM", "the usual index")}
    for name in wanted:
        results[name] = {"date": date, **MEASURES[name]()}
        print(name, json.dumps(results[name], indent=1))
    path.write_text(json.dumps({**results, "machine": machine}, indent=1) + "\n")


if __name__ == "__main__":
    main()
