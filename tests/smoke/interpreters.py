"""`make smoke`: the smoke test with every Python from 3.10 on that is to be found.

They are looked for on PATH, among pyenv's versions, and in the folders of FEATHERWEIGHT_PYTHONS. Each gets an
environment of its own in .smoke/, with the package, NumPy and llvmlite. What cannot be tried is named, with the reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".smoke"
NAMES = [f"python3.{minor}{kind}" for minor in range(10, 16) for kind in ("", "t")]
SECONDS = 120  # for one interpreter


def folders() -> Iterator[Path]:
    yield from map(Path, filter(None, os.environ.get("FEATHERWEIGHT_PYTHONS", "").split(os.pathsep)))
    yield from map(Path, filter(None, os.environ.get("PATH", "").split(os.pathsep)))
    yield from sorted(Path.home().glob(".pyenv/versions/*/bin"))


def interpreters() -> dict[str, Path]:
    """The first of each name that runs; virtual environments have the same ones once more."""
    found: dict[str, Path] = {}
    for folder in folders():
        for name in NAMES:
            path = folder / name
            if name not in found and os.access(path, os.X_OK) and _runs(path, name):
                found[name] = path
    return found


def _runs(path: Path, name: str) -> bool:
    """Is it what it is called? A shim may lead to another version, or to none."""
    code = "import sys; print('python%d.%d%s' % (*sys.version_info[:2], getattr(sys, 'abiflags', '')))"
    done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=60)
    return done.returncode == 0 and done.stdout.strip() == name


def environment(name: str, path: Path) -> tuple[Path, str]:
    """Its Python, and why there is none."""
    place = PLACE / name
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        shutil.rmtree(place, ignore_errors=True)
        made = subprocess.run([path, "-m", "venv", "--without-pip", place], capture_output=True, text=True)
        if made.returncode:
            return python, f"no environment: {_last_line(made)}"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "--quiet"]
    packages = subprocess.run(
        [*pip, "--only-binary", "numpy,llvmlite", "--force-reinstall", "--no-deps", ROOT],
        capture_output=True,
        text=True,
    )
    if packages.returncode == 0:
        packages = subprocess.run(
            [*pip, "--only-binary", "numpy,llvmlite", "numpy>=2.0", "llvmlite>=0.45"], capture_output=True, text=True
        )
    return python, f"not to be installed: {_last_line(packages)}" if packages.returncode else ""


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]


def tried(python: Path) -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as cache:
        surroundings = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FEATHERWEIGHT"))}
        surroundings["FEATHERWEIGHT_CACHE"] = cache
        try:
            done = subprocess.run(
                [python, ROOT / "tests/smoke/smoke.py"],
                cwd=cache, env=surroundings, capture_output=True, text=True, timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False, f"not done after {SECONDS} s"
    return done.returncode == 0, done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


def main() -> int:
    good = bad = 0
    found = interpreters()
    for name, path in sorted(found.items(), key=lambda item: NAMES.index(item[0])):
        start = time.perf_counter()
        python, reason = environment(name, path)
        if reason:
            print(f"{name:12} SKIPPED {reason} ({path})", flush=True)
            continue
        right, text = tried(python)
        good, bad = good + right, bad + (not right)
        print(f"{name:12} {'' if right else 'FAILED '}{text} ({time.perf_counter() - start:.0f} s, {path})", flush=True)
    missing = [name for name in NAMES if name[-1] != "t" and name not in found]
    if missing:
        print(f"not found: {', '.join(missing)}; FEATHERWEIGHT_PYTHONS may name more folders to look in")
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main())
