"""What people wait for: `make demo` on a clean clone, a trajectory on the screen, frames a second.

    python benchmarks/waiting.py [demo] [demo-display] [load] [frames-page] [frames] [frames-live] [frames-empty]

Frames are counted in a headless Chromium at 1280×720 that draws in software, without a GPU, in both ways it can: the
whole page by SwiftShader, or only what WebGL draws. Those count in which WebGL drew: six counts of two seconds in two
browsers for each page, of exported pages, replays and live simulations of four: two robots, two runs side by side, a
robot with meshes. Beside them an empty page of viser, the server's own rate, how fast the simulation ran by the clock,
and how many cores others took meanwhile; what a frame took of the processors tells how fast the machine was just then.
Results go to benchmarks/results/, those that were not asked for stay as they are.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.cli.controllers import hold
from featherweight.cli.starts import start
from featherweight.compiler.native.target import host

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from viewer import chromium  # noqa: E402

ROBOTS = ("mini_cheetah", "humanoid")
SIZE, ENOUGH = (1280, 720), 30.0  # of the page, in pixels; frames a second
WAYS = {  # flags of a browser without a GPU; Debian's and Chrome's own choice is the second
    "SwiftShader draws all": chromium.FLAGS,
    "SwiftShader draws WebGL": (*(flag for flag in chromium.FLAGS if "use-angle" not in flag), "--disable-gpu"),
}
MESHES = "example-robot-data:go2"
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
WARM, COUNTED = 8.0, 2.0  # s until shaders are compiled and the page has chosen its resolution; s of a count
TURNS, COUNTS = 2, 3  # browsers that a page is opened in, and counts in each
DRAWS = """(() => { window.drawn = 0; let last = null;
  for (const name of ["clear", "drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
    const plain = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...given) {
      if (document.timeline.currentTime !== last) { last = document.timeline.currentTime; window.drawn++; }
      return plain.apply(this, given) } } })()"""
COUNT = """new Promise(done => { const before = window.drawn, began = performance.now();
  setTimeout(() => done(1000 * (window.drawn - before) / (performance.now() - began)), %d) })"""
RENDERER = """(() => { const gl = document.createElement("canvas").getContext("webgl2");
  return gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL) })()"""
CANVAS = "[...document.querySelectorAll('canvas')].map(c => [c.width, c.height]).sort((a, b) => b[0] - a[0])[0]"


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
        for name in ROBOTS:
            path = Path(folder) / f"{name}.fw"
            standing(name, 10.0).save(path)
            times = []
            for _ in range(2):  # the first compiles kinematics
                out = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
                times.append(float(out.stdout))
            results[name] = {"megabytes": path.stat().st_size / 1e6, "first_s": times[0], "again_s": times[1]}
    return results


Opened = Callable[[], AbstractContextManager[tuple[str, Callable[[], float] | None]]]  # address, simulated time [s]


def drawn(pages: dict[str, Opened]) -> dict[str, Any]:
    """Frames a second that a browser without a GPU draws of each page, in each of its ways.

    Pages take turns, with a new browser each time, so that what else the machine does meets all of them.
    """
    results: dict[str, Any] = {name: {} for name in pages}
    for way, flags in WAYS.items():
        for _, name in itertools.product(range(TURNS), pages):
            with another_browser(flags), pages[name]() as (url, clock):
                facts = counted(url, clock)
            kept = results[name].setdefault(way, {key: [] for key in facts})
            for key, values in facts.items():
                kept[key] += values
        for name in pages:
            rates = results[name][way]["frames_a_second"]
            results[name][way] |= {"median": statistics.median(rates), "lowest": min(rates)}
            told = f"{name}, {way}: {statistics.median(rates):.0f} frames/s, lowest {min(rates):.0f}"
            print(told, "" if min(rates) >= ENOUGH else f"(fewer than {ENOUGH:.0f})", flush=True)
    return results


@contextmanager
def another_browser(flags: tuple[str, ...]) -> Iterator[None]:
    """A new process of the browser, with flags of its own."""
    chromium.browser.cache_clear()
    chromium.FLAGS = flags
    try:
        yield
    finally:
        chromium.browser().close()
        chromium.browser.cache_clear()


def counted(url: str, clock: Callable[[], float] | None) -> dict[str, list[Any]]:
    """Several counts of one page in one browser."""
    names = ["frames_a_second", "processor_ms_a_frame", "cores_taken_by_others", "pixels_drawn", "drawn_by"]
    facts: dict[str, list[Any]] = {name: [] for name in names + ["simulated_s_a_second"] * (clock is not None)}
    with chromium.Page("about:blank", SIZE) as page:
        page.call("Page.addScriptToEvaluateOnNewDocument", source=DRAWS)
        page.call("Page.navigate", url=url)
        page.until("document.querySelector('canvas') != null", 60)
        time.sleep(WARM)
        for _ in range(COUNTS):
            before, began, simulated = cores_busy(), time.perf_counter(), clock() if clock else 0.0
            facts["frames_a_second"].append(round(page.value(COUNT % (1000 * COUNTED)), 1))
            if clock:
                facts["simulated_s_a_second"].append(round((clock() - simulated) / (time.perf_counter() - began), 2))
            busy, own = ((late - early) / COUNTED for late, early in zip(cores_busy(), before, strict=True))
            facts["cores_taken_by_others"].append(round(max(0.0, busy - own), 2))
            facts["processor_ms_a_frame"].append(round(1000 * own / max(facts["frames_a_second"][-1], 1e-3), 1))
        facts["pixels_drawn"].append("×".join(map(str, page.value(CANVAS))))
        facts["drawn_by"].append(page.value(RENDERER))
    return facts


def cores_busy() -> tuple[float, float]:
    """Seconds of processor time since the start of all things: of all processes, and of the browser's and this one."""
    tick = os.sysconf("SC_CLK_TCK")
    spent = list(map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9]))
    everything = (sum(spent) - spent[3] - spent[4]) / tick  # without idle and waiting for disks
    seconds, parents = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        seconds[process.name], parents[process.name] = (int(fields[11]) + int(fields[12])) / tick, fields[1]
    own, found = 0.0, [str(os.getpid())]  # and what it started
    while found:
        one = found.pop()
        own += seconds.get(one, 0.0)
        found += [process for process, parent in parents.items() if parent == one]
    return everything, own


@functools.cache
def with_meshes() -> fw.Model:
    """A quadruped of a file, with 30 000 triangles of meshes."""
    return fw.load(MESHES, base="free", contact=FEET)


@functools.cache
def runs() -> dict[str, list[fw.Trajectory]]:
    """What is replayed: two robots, two runs beside each other, a robot with meshes."""
    found = {name: [standing(name, 2.0)] for name in ROBOTS}
    scene = fw.scenes.trot(with_meshes())
    walk = fw.simulate(scene.model, scene.q, scene.v, duration=2.0, record_every=2, **scene.means)
    return {**found, "two runs": found[ROBOTS[0]] * 2, "meshes": [walk]}


def frames() -> dict[str, Any]:
    """Frames a second while robots are replayed: that the server makes, and that a browser without a GPU draws."""

    @contextmanager
    def served(name: str) -> Iterator[tuple[str, None]]:
        with fw.viewer.show(runs()[name], block=False, browser=False) as viewer:
            yield viewer.url, None

    seen = drawn({name: partial(served, name) for name in runs()})
    results: dict[str, Any] = {"browser_flags": WAYS}
    for name, several in runs().items():
        with fw.viewer.show(several, block=False, browser=False) as viewer:
            viewer.content.close()
            began = time.perf_counter()
            for k in range(300):
                viewer.content.play.show((k % 100) / 60)
            made = 300 / (time.perf_counter() - began)
        results[name] = {"drawn_in_software": seen[name], "made_by_the_server": made}
    return results


def frames_live() -> dict[str, Any]:
    """Frames a second while robots are simulated live, with both plots: the processor is shared with the browser."""
    scenes = {
        "mini_cheetah": fw.scenes.trot(),
        "humanoid": fw.scenes.balance(),
        "meshes": fw.scenes.trot(with_meshes()),
    }

    @contextmanager
    def served(name: str) -> Iterator[tuple[str, Callable[[], float]]]:
        with fw.viewer.show(scenes[name], block=False, browser=False) as viewer:
            yield viewer.url, lambda: float(viewer.content.sim.t[0])

    return {
        name: {"drawn_in_software": facts} for name, facts in drawn({n: partial(served, n) for n in scenes}).items()
    }


def frames_of_page() -> dict[str, Any]:
    """Frames a second that are drawn of the page that is sent to a colleague; it is written with 60."""
    with tempfile.TemporaryDirectory() as folder:
        pages = {name: Path(folder) / f"{name.replace(' ', '-')}.html" for name in runs()}
        for name, path in pages.items():
            fw.viewer.export(runs()[name], path)
        seen = drawn({name: partial(nullcontext, (path.as_uri(), None)) for name, path in pages.items()})
        return {
            name: {"drawn_in_software": seen[name], "megabytes": path.stat().st_size / 1e6}
            for name, path in pages.items()
        }


def frames_of_nothing() -> dict[str, Any]:
    """Frames a second of viser as it comes, with nothing in it but one thing that moves and cannot be seen."""
    import viser

    server, stop = viser.ViserServer(host="127.0.0.1", port=0, verbose=False), threading.Event()
    threading.Thread(target=_move, args=(server.scene.add_frame("/one", show_axes=False), stop)).start()
    try:
        url = f"http://127.0.0.1:{server.get_port()}"
        return {"drawn_in_software": drawn({"empty": partial(nullcontext, (url, None))})["empty"]}
    finally:
        stop.set()
        server.stop()


def _move(handle: Any, stop: threading.Event) -> None:
    """Something that cannot be seen, 60 times a second: so that the page is drawn again."""
    while not stop.wait(1 / 60):
        handle.position = (time.perf_counter() % 1.0, 0.0, 0.0)


MEASURES = {
    "demo": lambda: demo(display=False),
    "demo-display": lambda: demo(display=True),
    "load": load,
    "frames-page": frames_of_page,
    "frames": frames,
    "frames-live": frames_live,
    "frames-empty": frames_of_nothing,
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
