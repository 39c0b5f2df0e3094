"""`make wheel`: from `pip install` of the built wheel, in a fresh environment, to a first simulation and a picture.

What a newcomer waits for, measured; fails if the wheel lacks a file, needs more than NumPy and llvmlite, or does not
run. Seconds are those of a clock, and in brackets those of the processor, which other programs do not change. With
`--record` the figures go to benchmarks/results/.
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
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FIRST_RUN = """
import sys, featherweight as fw
run = fw.simulate(fw.robots.double_pendulum(), [1.0, 0.5], [0.0, 0.0], duration=1.0, dt=1e-3)
run.save("run.fw"), run.save("run.csv"), fw.viewer.export(run, "run.html"), fw.viewer.export(run, "run.glb")
print(run)
"""
FIRST_PICTURE = """
import featherweight as fw
fw.plot.still(fw.robots.mini_cheetah(), path="robot.png")
fw.Trajectory.load("run.fw").plot(path="run.png")
"""


class Seconds(NamedTuple):
    """By the clock, and of the processor."""

    clock: float
    processor: float


class Environment:
    """A fresh virtual environment in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True, timeout=120)
        self.python = folder / ("env/Scripts/python.exe" if os.name == "nt" else "env/bin/python")
        self._variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FEATHERWEIGHT"))}
        self._variables["FEATHERWEIGHT_CACHE"] = str(folder / "cache")
        self.empty = self.megabytes()

    def run(self, *words: object) -> tuple[str, Seconds]:
        """What a command of its Python prints, and how long it took."""
        began, before = time.perf_counter(), os.times()
        done = subprocess.run(
            [self.python, *map(str, words)], cwd=self.folder, env=self._variables, capture_output=True, text=True,
            timeout=600,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, words))[:80]}: {done.stderr.strip() or done.stdout.strip()}")
        after = os.times()
        processor = sum(after[2:4]) - sum(before[2:4])  # of processes that have ended
        return done.stdout, Seconds(time.perf_counter() - began, processor)

    def install(self, what: str) -> Seconds:
        """How long pip took."""
        return self.run("-m", "pip", "--disable-pip-version-check", "install", "--quiet", what)[1]

    def megabytes(self) -> float:
        """On the disk, of all that is installed."""
        files = (path for path in (self.folder / "env").rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_size for path in files) / 1e6


def built(folder: Path) -> Path:
    """The wheel of this checkout; ValueError if a file that is not Python is missing in it."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        "--quiet",
        "--no-deps",
        "-w",
        folder,
    ]
    subprocess.run([*command, "-w", folder, ROOT], check=True, timeout=300)
    (wheel,) = folder.glob("featherweight-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    data = [path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*") if path.is_file()]
    missing = [name for name in data if "__pycache__" not in name and name not in names]
    if missing or not wheel.name.endswith("-py3-none-any.whl"):
        raise SystemExit(f"{wheel.name}: these are not in it: {missing}")
    return wheel


def main() -> int:
    """Build, install, run; tell and, if asked, record what it took."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = built(folder)
        environment = Environment(folder)
        core = environment.install(str(wheel))
        packages = json.loads(environment.run("-m", "pip", "list", "--format", "json")[0])
        others = {package["name"] for package in packages} - {"featherweight", "numpy", "llvmlite", "pip", "setuptools"}
        if others:
            raise SystemExit(f"it needs more than NumPy and llvmlite: {sorted(others)}")
        small = environment.megabytes() - environment.empty
        text, simulated = environment.run("-c", FIRST_RUN)
        said = subprocess.run([environment.python, "-m", "featherweight"], capture_output=True, text=True, timeout=60)
        if "pip install featherweight[cli]" not in said.stderr:
            raise SystemExit(f"the command line does not say what it needs: {said.stderr}")
        extra = environment.install(f"{wheel}[plot]")
        whole = environment.megabytes() - environment.empty
        _, drawn = environment.run("-c", FIRST_PICTURE)
        times = {"install": core, "first simulation": simulated, "install [plot]": extra, "first picture": drawn}
        times["to a first picture"] = Seconds(*map(sum, zip(*times.values(), strict=True)))
        sizes = {"wheel": wheel.stat().st_size / 1e6, "installed": small, "installed with [plot]": whole}
    print(text.strip())
    for name, (clock, processor) in times.items():
        print(f"{name:24} {clock:6.1f} s ({processor:.1f} s)")
    for name, size in sizes.items():
        print(f"{name:24} {size:6.1f} MB")
    if "--record" in sys.argv:
        record(times, sizes)
    return 0


def record(times: dict[str, Seconds], sizes: dict[str, float]) -> None:
    """With the date, the machine, and how many programs were waiting for it."""
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    about = {"date": today, "python": platform.python_version(), "system": platform.system(), "load": load}
    figures = {
        "seconds": {name: [round(x, 1) for x in one] for name, one in times.items()},
        "megabytes": {name: round(size, 1) for name, size in sizes.items()},
    }
    path = ROOT / f"benchmarks/results/{today}-install.json"
    path.write_text(json.dumps(about | figures, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
