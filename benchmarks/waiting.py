"""What people wait for: `make demo` on a clean clone, a trajectory on the screen, frames a second.

    python benchmarks/waiting.py [demo] [demo-display] [load] [frames] [frames-page] [frames-empty]

Frames are counted in a headless Chromium that draws in software, without a GPU: those in which WebGL drew, six counts
of two seconds in two browsers for each page. Beside them those of an empty page of viser, the server's own rate, and
how many cores others took meanwhile; what a frame took of the processors tells how fast the machine was just then.
Results go to benchmarks/results/, those that were not asked for stay as they are.
"""

from __future__ import annotations

import datetime
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
SIZES = ((1024, 640), (1280, 720))  # of the page, in pixels
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


def drawn(pages: dict[str, Callable[[], AbstractContextManager[str]]]) -> dict[str, Any]:
    """Frames a second that a browser without a GPU draws of each page, for windows of several sizes.

    Pages take turns, with a new browser each time, so that what else the machine does meets all of them.
    """
    results: dict[str, Any] = {name: {} for name in pages}
    for size in SIZES:
        told = "×".join(map(str, size))
        for _, name in itertools.product(range(TURNS), pages):
            with pages[name]() as url:
                facts = counted(url, size)
            kept = results[name].setdefault(told, {key: [] for key in facts})
            for key, values in facts.items():
                kept[key] += values
        for name in pages:
            rates = results[name][told]["frames_a_second"]
            results[name][told] |= {"median": statistics.median(rates), "lowest": min(rates)}
    return results


def counted(url: str, size: tuple[int, int]) -> dict[str, list[Any]]:
    """Several counts of one page in one browser."""
    names = ("frames_a_second", "processor_ms_a_frame", "cores_taken_by_others", "pixels_drawn")
    facts: dict[str, list[Any]] = {name: [] for name in names}
    with chromium.Page("about:blank", size) as page:
        shape = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        page.call("Emulation.setDeviceMetricsOverride", **shape)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=DRAWS)
        page.call("Page.navigate", url=url)
        page.until("document.querySelector('canvas') != null", 60)
        time.sleep(WARM)
        for _ in range(COUNTS):
            before = cores_busy()
            facts["frames_a_second"].append(round(page.value(COUNT % (1000 * COUNTED)), 1))
            busy, own = ((late - early) / COUNTED for late, early in zip(cores_busy(), before, strict=True))
            facts["cores_taken_by_others"].append(round(max(0.0, busy - own), 2))
            facts["processor_ms_a_frame"].append(round(1000 * own / facts["frames_a_second"][-1], 1))
        facts["pixels_drawn"].append("×".join(map(str, page.value(CANVAS))))
    return facts


def cores_busy() -> tuple[float, float]:
    """Seconds of processor time since the start of all things: of all processes, and of the browser's and this one."""
    tick = os.sysconf("SC_CLK_TCK")
    spent = list(map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9]))
    everything = (sum(spent) - spent[3] - spent[4]) / tick  # without idle and waiting for disks
    own = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if b"chrom" in command or process.name == str(os.getpid()):
            own += (int(fields[11]) + int(fields[12])) / tick
    return everything, own


def frames() -> dict[str, Any]:
    """Frames a second while a robot is replayed: that the server makes, and that a browser without a GPU draws."""
    runs = {name: standing(name, 2.0) for name in ROBOTS}

    @contextmanager
    def served(name: str) -> Iterator[str]:
        with runs[name].show(block=False, browser=False) as viewer:
            yield viewer.url

    seen = drawn({name: partial(served, name) for name in ROBOTS})
    results: dict[str, Any] = {"browser_flags": chromium.FLAGS}
    for name in ROBOTS:
        with runs[name].show(block=False, browser=False) as viewer:
            viewer.content.close()
            began = time.perf_counter()
            for k in range(300):
                viewer.content.play.show((k % 100) / 60)
            made = 300 / (time.perf_counter() - began)
        results[name] = {"drawn_in_software": seen[name], "made_by_the_server": made}
    return results


def frames_of_page() -> dict[str, Any]:
    """Frames a second that are drawn of the page that is sent to a colleague; it is written with 60."""
    with tempfile.TemporaryDirectory() as folder:
        pages = {name: Path(folder) / f"{name}.html" for name in ROBOTS}
        for name, path in pages.items():
            fw.viewer.export(standing(name, 2.0), path)
        seen = drawn({name: partial(nullcontext, path.as_uri()) for name, path in pages.items()})
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
        return {"drawn_in_software": drawn({"empty": partial(nullcontext, url)})["empty"]}
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
    "frames": frames,
    "frames-page": frames_of_page,
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
