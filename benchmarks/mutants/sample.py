"""Faults drawn from a seed, so many from each folder as it has code, in turn from each kind of fault.

A fault's place in the draw is a hash of the seed and its own words: code that is added elsewhere does not shuffle it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutants.faults import Fault, faults_in


def sample(root: Path, folders: Sequence[Path], count: int, seed: int) -> list[Fault]:
    """At most one fault on a line, in the order in which they are tried."""
    faults = {folder: _faults(root, folder) for folder in folders}
    share = _shares([_code_lines(folder) for folder in folders], count)
    drawn = [_drawn(faults[folder], n, seed) for folder, n in zip(folders, share, strict=True)]
    return [fault for turn in itertools.zip_longest(*drawn) for fault in turn if fault is not None]


def _faults(root: Path, folder: Path) -> list[Fault]:
    files = sorted(folder.rglob("*.py"))
    return [fault for file in files for fault in faults_in(file.relative_to(root).as_posix(), file.read_bytes())]


def _code_lines(folder: Path) -> int:
    return sum(bool(line.strip()) for file in folder.rglob("*.py") for line in file.read_text("utf-8").splitlines())


def _shares(sizes: Sequence[int], count: int) -> list[int]:
    """Whole numbers in proportion to sizes, by largest remainders."""
    exact = [count * size / sum(sizes) for size in sizes]
    left = count - sum(map(int, exact))
    favoured = sorted(range(len(sizes)), key=lambda k: int(exact[k]) - exact[k])[:left]
    return [int(x) + (k in favoured) for k, x in enumerate(exact)]


def _drawn(faults: Sequence[Fault], count: int, seed: int) -> list[Fault]:
    kinds: dict[str, list[Fault]] = {}
    for fault in sorted(faults, key=lambda fault: _chance(fault, seed)):
        kinds.setdefault(fault.kind, []).append(fault)
    drawn, lines = [], set[tuple[str, str]]()
    for turn in itertools.zip_longest(*(kinds[kind] for kind in sorted(kinds))):
        for fault in turn:
            if fault is not None and (fault.source, fault.was) not in lines:
                drawn.append(fault)
                lines.add((fault.source, fault.was))
    return drawn[:count]


def _chance(fault: Fault, seed: int) -> str:
    return hashlib.sha256(f"{seed} {fault.id}".encode()).hexdigest()
