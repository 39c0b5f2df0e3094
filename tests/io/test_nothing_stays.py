"""Nothing of a file stays in memory but its model."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import featherweight as fw

LINK = """<joint name="j{k}" type="{kind}"><parent link="l0"/><child link="l{k}"/><axis xyz="0 1 0"/>
<origin xyz="0 0 {x!r}" rpy="0 {x!r} 1"/></joint><link name="l{k}"><inertial><mass value="1"/>
<origin xyz="{x!r} 0 0" rpy="1 {x!r} 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>"""


def texts(kind: str = "continuous") -> Iterator[str]:
    """Robots of five links, no two of them the same."""
    for n in itertools.count():
        links = "".join(LINK.format(k=k, kind=kind, x=0.1 + 1e-3 * n + 1e-5 * k) for k in range(1, 6))
        yield f'<robot name="r"><link name="l0"/>{links}</robot>'


def kept(reader: Callable[[str], object], given: Iterator[str], files: int = 30) -> int:
    """Bytes that stay of so many files, after the first few: the least of three counts, if the first are too large,
    since other threads of this process allocate, too, and what stays of files stays in each."""
    least = counted(reader, given, files)
    for _ in range(2):
        if least >= files * 500:
            least = min(least, counted(reader, given, files))
    return least


def counted(reader: Callable[[str], object], given: Iterator[str], files: int) -> int:
    for _ in range(5):
        reader(next(given))
    gc.collect()
    tracemalloc.start()
    try:
        reader(next(given))
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(files):
            reader(next(given))
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def refused(text: str) -> None:
    with pytest.raises(fw.ModelError):
        fw.loads(text)


def test_nothing_stays_of_texts_that_are_loaded_or_refused() -> None:
    assert kept(fw.loads, texts()) < 30 * 500
    assert kept(refused, texts("helical")) < 30 * 500


def test_nothing_stays_of_files_that_are_looked_at_or_written(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"

    def looked_at(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        assert fw.lint(path) is not None

    masses = itertools.count(1)

    def written(_: str) -> None:
        fw.save_urdf(fw.robots.chain(3, mass=1.0 + 1e-3 * next(masses)), path)

    assert kept(looked_at, texts()) < 30 * 500
    assert kept(written, texts()) < 30 * 500
