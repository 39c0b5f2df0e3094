"""`make aarch64`: the smoke test, core tests and digests under qemu's emulation of a 64-bit ARM, beside this machine.

Everything stands in .aarch64/: a Python of Debian and its libraries, unpacked and not installed; NumPy, llvmlite and
pytest as wheels; qemu-user, the system's or Debian's. Needs Linux with apt-get and dpkg, and no rights: nothing of the
system is changed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".aarch64"
LIBRARIES = (
    "libc6", "libcrypt1", "libexpat1", "zlib1g", "libstdc++6", "libgcc-s1", "libssl3", "libffi8", "libbz2-1.0",
    "liblzma5", "libsqlite3-0", "libuuid1", "libncursesw6", "libtinfo6", "libreadline8", "libgomp1",
)  # fmt: skip
WHEELS = ("numpy>=2.0", "llvmlite>=0.45", "pytest>=8", "hypothesis>=6.100", "sympy>=1.14")
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")
TESTS = ("tests/spatial", "tests/joints", "tests/model/test_builder.py", "tests/laws/test_momentum.py")
SECONDS = 1800  # for one of the programs


def apt(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """apt-get or apt-cache for ARM, with lists of its own."""
    state = PLACE / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    options = ["APT::Architecture=arm64", "APT::Architectures::=arm64", f"Dir::State={state}"]
    options += [f"Dir::State::lists={state / 'lists'}", f"Dir::Cache={state / 'cache'}", "APT::Sandbox::User=root"]
    command = [words[0], *(word for option in options for word in ("-o", option)), *words[1:]]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def unpacked(packages: list[str], into: Path, *, native: bool = False) -> None:
    """Packages of Debian, downloaded and unpacked."""
    archive = PLACE / "archive"
    archive.mkdir(parents=True, exist_ok=True)
    before = set(archive.glob("*.deb"))
    command = ("apt-get", "download", *packages)
    if native:
        done = subprocess.run(command, cwd=archive, capture_output=True, text=True, timeout=600)
    else:
        done = apt(*command, folder=archive)
    if done.returncode:
        raise SystemExit(f"{' '.join(packages)} cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
    into.mkdir(parents=True, exist_ok=True)
    for package in set(archive.glob("*.deb")) - before:
        subprocess.run(["dpkg", "-x", package, into], check=True, timeout=120)


def emulator() -> Path:
    """qemu-user: the system's, or Debian's beside it."""
    for name in ("qemu-aarch64-static", "qemu-aarch64"):
        if shutil.which(name):
            return Path(str(shutil.which(name)))
    own = PLACE / "qemu/usr/bin/qemu-aarch64-static"
    if not own.exists():
        unpacked(["qemu-user-static"], PLACE / "qemu", native=True)
    return own


def python() -> Path:
    """An ARM Python, with its libraries beside it."""
    usr = PLACE / "root/usr"
    if not list(usr.glob("bin/python3.*")):
        updated = apt("apt-get", "update", folder=PLACE)
        if updated.returncode:
            raise SystemExit(f"apt-get update: {updated.stderr.strip()}")
        names = apt("apt-cache", "search", "--names-only", r"^python3\.[0-9]+-minimal$", folder=PLACE).stdout
        version = sorted(re.findall(r"python(3\.\d+)-minimal", names), key=lambda v: int(v[2:]))[-1]
        own = [f"python{version}-minimal", f"libpython{version}-minimal", f"libpython{version}-stdlib"]
        unpacked([*own, *LIBRARIES], PLACE / "root")
    return next(path for path in sorted(usr.glob("bin/python3.*")) if re.fullmatch(r"python3\.\d+", path.name))


def wheels(version: str) -> Path:
    """NumPy, llvmlite and what tests need, for that Python."""
    site = PLACE / "site"
    if not site.exists():
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--target", site]
        command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", version]
        command += [word for name in PLATFORMS for word in ("--platform", name)]
        subprocess.run([*command, *WHEELS], check=True, timeout=600)
    return site


def run(command: list[object], path: list[Path], home: Path | None = None) -> subprocess.CompletedProcess[str]:
    surroundings = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FEATHERWEIGHT"))}
    surroundings |= {"PYTHONPATH": os.pathsep.join(map(str, path)), "FEATHERWEIGHT_CACHE": "off"}
    if home is not None:
        surroundings["PYTHONHOME"] = str(home)
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=SECONDS
    )


def compared(here: str, there: str) -> int:
    """How many digests differ; a line for each."""
    ours, theirs = json.loads(here), json.loads(there)
    different = [name for name, digest in ours["digests"].items() if theirs["digests"].get(name) != digest]
    for name in different:
        print(f"DIFFERENT {name}: {ours['digests'][name]} here, {theirs['digests'].get(name)} there")
    count = len(ours["digests"])
    print(
        f"{count - len(different)} of {count} results have the same bits on {ours['machine']} and {theirs['machine']}"
    )
    return len(different)


def main() -> int:
    """Prepare what is missing, run all, compare."""
    if not (sys.platform == "linux" and shutil.which("apt-get") and shutil.which("dpkg")):
        print("make aarch64 needs Linux with apt-get and dpkg (Debian, Ubuntu): it unpacks an ARM Python from there")
        return 1
    PLACE.mkdir(exist_ok=True)
    qemu, interpreter = emulator(), python()
    home = interpreter.parent.parent
    site, source = wheels(interpreter.name.removeprefix("python")), ROOT / "src"
    emulated = [qemu, "-L", home.parent, interpreter]
    bad = 0
    for name, words in {
        "smoke": ["tests/smoke/smoke.py"],
        "core tests": ["-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS],
    }.items():
        began = time.perf_counter()
        done = run([*emulated, *words], [source, site, ROOT / "tests"], home)
        bad += bool(done.returncode)
        text = (done.stdout.strip() or done.stderr.strip()).splitlines()
        print(
            f"{name}: {'' if not done.returncode else 'FAILED '}{text[-1]} ({time.perf_counter() - began:.0f} s)",
            flush=True,
        )
        if done.returncode:
            print(done.stdout, done.stderr)
    here = run([sys.executable, "tests/aarch64/bits.py"], [source])
    there = run([*emulated, "tests/aarch64/bits.py"], [source, site], home)
    if here.returncode or there.returncode:
        print(here.stderr, there.stderr)
        return 1
    return int(bool(bad + compared(here.stdout, there.stdout)))


if __name__ == "__main__":
    sys.exit(main())
