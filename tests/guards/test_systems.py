"""macOS and Windows, as far as they can be tried elsewhere: what only POSIX has is guarded, and the package works in a
process without it, on LLVM's own loader."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from featherweight.compiler.native.target import Target

SOURCE = Path(__file__).parents[2] / "src" / "featherweight"
NAMES = {
    "modules": "crypt curses fcntl grp nis posix pty pwd readline resource spwd syslog termios tty winreg "
    "msvcrt _winapi",
    "os": "chown fork forkpty getgid getloadavg getpgid geteuid getuid killpg mkfifo nice openpty posix_fadvise "
    "posix_fallocate pread preadv pwrite pwritev register_at_fork sched_getaffinity sched_setaffinity sched_yield "
    "sendfile setsid sysconf uname wait waitpid wait4 O_DIRECTORY O_NOFOLLOW O_CLOEXEC",
    "signal": "SIGALRM SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2 alarm pthread_sigmask setitimer sigwait",
    "mmap": "MAP_ANONYMOUS MAP_PRIVATE MAP_SHARED PROT_EXEC PROT_READ PROT_WRITE",
}
OF = {module: frozenset(names.split()) for module, names in NAMES.items()}
MODULES = OF.pop("modules")
GUARDS = ("sys.platform", "os.name", "hasattr(", "ImportError", "AttributeError")


def unguarded(text: str) -> Iterator[str]:
    """Names that some systems lack, used in a top-level statement (a function, a class's method, an `if`) that does
    not ask for the system first."""
    tree, lines = ast.parse(text), text.splitlines()
    pieces = [part for node in tree.body for part in (node.body if isinstance(node, ast.ClassDef) else [node])]
    for piece in pieces:
        source = "\n".join(lines[piece.lineno - 1 : piece.end_lineno])
        if any(guard in source for guard in GUARDS):
            continue
        for node in ast.walk(piece):
            if isinstance(node, ast.Import):
                yield from (a.name for a in node.names if a.name.partition(".")[0] in MODULES)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
                yield str(node.module)
            elif isinstance(node, ast.Attribute) and node.attr in OF.get(getattr(node.value, "id", ""), ()):
                yield ast.unparse(node)


def test_nothing_that_only_some_systems_have_is_used_without_a_guard() -> None:
    found = {str(path.relative_to(SOURCE)): list(unguarded(path.read_text("utf-8"))) for path in SOURCE.rglob("*.py")}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import fcntl", ["fcntl"]),
        ("if sys.platform != 'win32':\n    import fcntl", []),
        ("def f():\n    from pwd import getpwnam", ["pwd"]),
        ("class A:\n    def f(self):\n        return os.getuid()", ["os.getuid"]),
        (
            "def f():\n    try:\n        return os.sched_getaffinity(0)\n    except AttributeError:\n        return 1",
            [],
        ),
        ("signal.signal(signal.SIGALRM, f)", ["signal.SIGALRM"]),
        ("if hasattr(os, 'register_at_fork'):\n    os.register_at_fork(before=f)", []),
    ],
)
def test_the_check_sees_what_is_missing(text: str, names: list[str]) -> None:
    assert list(unguarded(text)) == names


@pytest.mark.parametrize(
    ("triple", "own_linker", "links_modules", "arch"),
    [
        ("x86_64-unknown-linux-gnu", True, True, "x86"),
        ("aarch64-unknown-linux-gnu", False, True, "arm"),
        ("x86_64-apple-darwin23.6.0", False, True, "x86"),
        ("arm64-apple-darwin23.6.0", False, True, "arm"),
        ("x86_64-pc-windows-msvc", False, False, "x86"),
    ],
)
def test_who_links_on_which_system(triple: str, own_linker: bool, links_modules: bool, arch: str) -> None:
    target = Target(triple, "generic", "", 4)
    assert (target.has_own_linker, target.links_modules, target.arch) == (own_linker, links_modules, arch)


ELSEWHERE = """
import ctypes, importlib, importlib.abc, os, pkgutil, sys, types
import llvmlite.binding, numpy as np
import asyncio, getpass, multiprocessing, pathlib, platform, shutil, socket, subprocess, sysconfig, tempfile, webbrowser
import rich.console, rich.progress, typer.main, sympy, zipfile, uuid, ssl  # these know where they are
sysconfig.get_config_vars(), platform.uname(), platform.python_version()
libc = ctypes.CDLL(None)
system = {system!r}
for name in {gone!r}:
    if hasattr(os, name):
        delattr(os, name)
sys.platform = system
if system == "win32":
    ctypes.windll = types.SimpleNamespace(kernel32=types.SimpleNamespace(SwitchToThread=libc.sched_yield))
    locked = []
    sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *given: locked.append(given))
    class No(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            if name in ("fcntl", "pwd", "grp", "resource", "termios", "readline", "posix"):
                raise ModuleNotFoundError(name)
    sys.meta_path.insert(0, No())
    for name in ("fcntl", "pwd", "grp", "resource", "termios", "readline"):
        sys.modules.pop(name, None)

from featherweight.compiler.native import library, target
target.Target.has_own_linker = property(lambda self: False)
target.Target.links_modules = property(lambda self: system != "win32")
def _link(*given): raise AssertionError("our own linker is for Linux")
library.Library._link = _link
import featherweight as fw

for found in pkgutil.walk_packages(fw.__path__, "featherweight."):
    last = found.name.rpartition(".")[2]
    if last != "__main__" and not last.startswith(("jax", "torch")):  # these need JAX and PyTorch
        importlib.import_module(found.name)
model = fw.robots.mini_cheetah()
rng = np.random.default_rng(0)
q, v = np.array([model.random(rng) for _ in range(64)]), rng.normal(size=(64, model.nv))
a = fw.forward_dynamics(model, q, v, np.zeros((64, model.nv)))
np.testing.assert_allclose(fw.inverse_dynamics(model, q, v, a), 0, atol=1e-8)
run = fw.rollout(model, q, v, steps=20, dt=1e-3, contact=fw.contact.Impulse())
path = os.path.join(tempfile.mkdtemp(), "run.fw")
run.save(path)
np.testing.assert_array_equal(fw.Trajectory.load(path).q, run.q)
chain = fw.robots.chain(3)
fw.simulate(chain, chain.neutral() + 0.1, np.zeros(3), duration=0.1, dt=1e-3)
print("works", library._orc.cache_info().currsize)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it is Windows itself")
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_the_package_works_in_a_process_without_what_posix_or_linux_has(system: str) -> None:
    """All modules are imported; code is loaded by LLVM's loader, as there; batches run on threads; runs are saved."""
    gone = sorted(OF["os"]) if system == "win32" else ["sched_getaffinity", "sched_setaffinity", "posix_fadvise"]
    code = ELSEWHERE.format(system=system, gone=gone)
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": "off", "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=400, env=environment)
    assert result.stdout.strip() == "works 1", result.stderr[-3000:]
