"""Robots that differ in numbers alone share machine code: it is compiled once, and each gets the bits of its own."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.native import cache
from featherweight.compiler.native.target import Target
from featherweight.compiler.runtime import code

COUNT = 300
Q, V, TAU = np.array([0.3, -0.7, 0.2]), np.array([1.0, 2.0, -0.5]), np.array([0.5, -0.5, 0.1])
posix = pytest.mark.skipif(os.name == "nt", reason="fork is POSIX")


def arm(k: int, *, reach: float = 0.1, links: int = 3, declared: tuple[str, ...] = ()) -> fw.Model:
    """An arm with masses of its own."""
    build = fw.Builder("arm", parameters=declared)
    for n, (name, parent) in enumerate((("a", "world"), ("b", "a"), ("c", "b"))[:links]):
        build.add_body(
            name, parent=parent, joint=fw.joints.Revolute("xyz"[n]), placement=fw.Placement((0.2, 0.0, 0.4)),
            inertia=fw.Inertia.box(mass(k, n), (0.1, 0.2, 0.3), (reach, 0.02, 0.03)),
        )  # fmt: skip
    return build.build()


def mass(k: int, n: int) -> float:
    return 1.25 + 0.001 * k + 0.1 * n


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """So many modules, each time something is compiled. Nothing is on disk, nor left by others."""
    for n in (2, 3):  # what all kernels share, and those of the same shapes
        fw.forward_dynamics(arm(0, links=n), Q[:n], V[:n], TAU[:n])
        fw.forward_dynamics(arm(0, links=n), [Q[:n], Q[:n]], V[:n], TAU[:n])
    monkeypatch.setenv("FEATHERWEIGHT_CACHE", "off")
    alone()
    counts: list[int] = []
    compiled = Target.object_codes

    def counted(self: Target, texts: list[str]) -> list[bytes]:
        counts.append(len(texts))
        return compiled(self, texts)

    monkeypatch.setattr(Target, "object_codes", counted)
    return counts


def alone() -> None:
    """The next kernel is made as in a new process."""
    gc.collect()
    code._recent.clear()
    code._loaded.clear()


# prints what each of these variants gives, each compiled for itself
ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
from test_variants import *
for k in map(int, sys.argv[2:]):
    alone()
    print(fw.forward_dynamics(arm(k, links=2), Q[:2], V[:2], TAU[:2]).tobytes().hex())
    print(fw.forward_dynamics(arm(k, links=2), np.stack([Q[:2], V[:2]]), V[:2], TAU[:2]).tobytes().hex())
"""


def test_hundreds_of_variants_are_compiled_once(compilations: list[int]) -> None:
    models, q, v, tau = [arm(k, links=2) for k in range(COUNT)], Q[:2], V[:2], TAU[:2]
    found = np.array([fw.forward_dynamics(model, q, v, tau) for model in models])
    assert compilations == [1]
    assert len(np.unique(found, axis=0)) == COUNT
    some = [0, 1, 17, COUNT // 2, COUNT - 1]
    batch = [fw.forward_dynamics(models[k], np.stack([q, v]), v, tau) for k in some]
    assert compilations == [1, 1]

    # some of them have the bits that they have compiled for themselves in a new process
    told = subprocess.run(
        [sys.executable, "-c", ALONE, str(Path(__file__).parent), *map(str, some)],
        env={**os.environ, "FEATHERWEIGHT_CACHE": "off"}, capture_output=True, text=True, check=True, timeout=120,
    ).stdout.split()  # fmt: skip
    assert told == [x.tobytes().hex() for k, rows in zip(some, batch, strict=True) for x in (found[k], rows)]

    # all of them do what one model does whose inertias are inputs
    boxes = {name: [fw.Inertia.box(mass(k, n), (0.1, 0.2, 0.3)) for k in range(COUNT)] for n, name in enumerate("ab")}
    given = {f"{name}.mass": [box.mass for box in own] for name, own in boxes.items()}
    given |= {f"{name}.moment": [box.moment_about_com for box in own] for name, own in boxes.items()}
    right = fw.forward_dynamics(arm(0, links=2, declared=tuple(given)), q, v, tau, parameters=given)
    np.testing.assert_allclose(found, right, rtol=1e-12)


def test_variants_one_after_the_other_are_compiled_once(compilations: list[int]) -> None:
    """Though nobody has the last one any more when the next is made."""
    for k in range(5):
        fw.forward_dynamics(arm(k), Q, V, TAU)
        fw.rollout(arm(k), Q, V, steps=2, dt=1e-3)
    assert compilations == [1, 1]


def test_a_zero_is_structure(compilations: list[int]) -> None:
    found = [fw.forward_dynamics(arm(1, reach=reach), Q, V, TAU) for reach in (0.1, 0.0, 0.2, 0.0)]
    assert compilations == [1, 1]
    with fw.interpret():
        right = [fw.forward_dynamics(arm(1, reach=reach), Q, V, TAU) for reach in (0.1, 0.0, 0.2, 0.0)]
    np.testing.assert_allclose(found, right, rtol=1e-12)


def test_threads_share_what_one_of_them_compiles(compilations: list[int]) -> None:
    results: dict[int, np.ndarray] = {}

    def work(first: int) -> None:
        for k in range(first, 40, 4):
            results[k] = fw.forward_dynamics(arm(k), np.tile(Q, (50, 1)), V, TAU)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compilations == [1]
    for k, found in results.items():
        alone_found = fw.forward_dynamics(arm(k), Q, V, TAU)
        np.testing.assert_array_equal(found, np.tile(alone_found, (50, 1)))


@posix
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_goes_on_with_the_code_of_its_parent(compilations: list[int]) -> None:
    kept = arm(0)
    before = fw.forward_dynamics(kept, Q, V, TAU)
    child = os.fork()
    if child == 0:  # it drops all that it has, and makes variants of its own
        right = False
        try:
            del kept
            found = [fw.forward_dynamics(arm(k), Q, V, TAU) for k in (0, 1, 0)]
            right = bool((found[0] == before).all() and (found[2] == before).all() and (found[1] != before).any())
            right = right and compilations == [1]
        finally:
            os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (fw.forward_dynamics(kept, Q, V, TAU) == before).all()
    assert compilations == [1]


def test_code_goes_when_nobody_has_it(compilations: list[int]) -> None:
    models = [arm(k) for k in range(3)]
    for model in models:
        fw.forward_dynamics(model, Q, V, TAU)
    (machine,) = code._loaded.values()
    assert machine.numbers
    code._recent.clear()
    del machine, model
    while models:
        gc.collect()
        assert len(code._loaded) == 1
        models.pop()
    gc.collect()
    assert len(code._loaded) == 0


def test_a_variant_in_another_process_finds_code_on_disk(tmp_path: Path) -> None:
    script = "import sys; sys.path.insert(0, sys.argv[1]); from test_variants import *\n" + (
        "one = arm(int(sys.argv[2]))\nprint(fw.forward_dynamics(one, Q, V, TAU).tobytes().hex())\n"
    )

    def run(k: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", script, str(Path(__file__).parent), str(k)],
            env={**os.environ, "FEATHERWEIGHT_CACHE": str(tmp_path / "cache")},
            capture_output=True, text=True, check=True, timeout=120,
        ).stdout.strip()  # fmt: skip

    def with_code() -> set[str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FEATHERWEIGHT_CACHE", str(tmp_path / "cache"))
            return {path.name for path in (tmp_path / "cache").iterdir() if (cache.read(path.name) or ((), ()))[1]}

    first, before = run(1), with_code()
    second = run(2)
    assert with_code() == before
    assert [first, second] == [fw.forward_dynamics(arm(k), Q, V, TAU).tobytes().hex() for k in (1, 2)]
