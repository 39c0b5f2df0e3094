"""Which tests reach a line of source: each test file is run once, in a process of its own, under coverage.

A process of its own, because tests share what they compile: a line of an algorithm is traced by the first test that
needs it, so in one process all others would seem never to reach it. Records are kept for each test file and made anew
when it changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_SECONDS = 900.0  # for one file of tests


@dataclass(frozen=True)
class Reach:
    """What all files of tests reached: `lines[source][text of a line]` are names of tests."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, set[str]]]

    def tests_of(self, source: str, texts: Iterable[str]) -> list[str]:
        """Tests to try a fault on these lines of a source: those that reach a line, then others of their files; those
        of the same folder before others, and quick ones before slow ones.

        Lines that run on import, such as defaults and constants, and lines that no test is known to reach, are tried
        with all tests that reach the file.
        """
        lines = self.lines.get(source, {})
        direct = set().union(*(lines.get(text, set()) for text in texts)) or set().union(*lines.values())
        files = {test.split("::")[0] for test in direct}
        reaching = [test for test in self.seconds if test.split("::")[0] in files]

        def order(test: str) -> tuple[bool, bool, float, str]:
            far = not set(test.split("::")[0].split("/")) & set(source.split("/"))  # tests/contact is near to contact/
            return test not in direct, far, self.seconds[test], test

        return sorted(reaching, key=order)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def environment(root: Path, own: dict[str, str]) -> dict[str, str]:
    """Of a process that tests the sources below a root, with the plugins of this package."""
    paths = [str(root / "src"), str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"} | own


def record(root: Path, test: Path, folders: Sequence[Path], to: Path) -> None:
    """Run a file of tests under coverage."""
    own = {
        "MUTANTS_ROOT": str(root),
        "MUTANTS_FOLDERS": json.dumps([str(folder) for folder in folders]),
        "MUTANTS_RECORD": str(to),
    }
    command = [sys.executable, "-m", "pytest", "-p", "benchmarks.mutants.reaching", "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, str(test.relative_to(root))], cwd=root, env=environment(root, own), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=MOST_SECONDS, check=False,
    )  # fmt: skip


def reach(root: Path, tests: Sequence[Path], folders: Sequence[Path], kept: Path) -> Reach:
    """The records of all files of tests; what is missing or out of date is made."""
    kept.mkdir(parents=True, exist_ok=True)
    found = Reach({}, {})
    for test in tests:
        name = test.relative_to(root).as_posix()
        path = kept / f"{name.replace('/', '.')}.{digest(test)}.json"
        if not path.exists():
            sys.stdout.write(f"what {name} reaches\n")
            sys.stdout.flush()
            record(root, test, folders, path)
        _add(found, json.loads(path.read_text(encoding="utf-8")))
    return found


def _add(found: Reach, one: dict[str, Any]) -> None:
    """Tests that fail without any fault cannot show one."""
    failed = set(one["failed"])
    found.seconds.update({test: seconds for test, seconds in one["seconds"].items() if test not in failed})
    for source, lines in one["lines"].items():
        for text, tests in lines.items():
            found.lines.setdefault(source, {}).setdefault(text, set()).update(set(tests) - failed)
