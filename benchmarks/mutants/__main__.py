"""Faults seeded one at a time, and whether the tests see them: `make mutants`.

    python -m benchmarks.mutants                    150 faults; goes on where it was stopped
    python -m benchmarks.mutants --only 3f0c52a1    what became of this one, again
    python -m benchmarks.mutants --summary          no new trials

Every trial is a line in `.kept/trials.jsonl`. What was caught stays caught; a survivor is tried again when the tests
have changed; without the folder `.kept` all begin anew. Faults that change nothing are listed in `equivalent.json`,
each with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.reach import Reach, reach
from benchmarks.mutants.sample import sample
from benchmarks.mutants.summary import line, summary, write
from benchmarks.mutants.trial import CAUGHT, copy_of, trial

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = HERE / ".kept"
FOLDERS = (
    "algorithms", "joints", "spatial", "contact", "constraints", "forces", "integrators", "simulation", "control",
    "dynamics", "collision",
)  # fmt: skip
TESTS = (
    "closed_form", "spatial", "joints", "model", "laws", "dynamics", "collision", "contact", "extending", "simulation",
    "variational", "control", "functions", "robots", "peers",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150, help="faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="try the faults whose id begins so")
    parser.add_argument("--summary", action="store_true", help="write the record of what was tried so far")
    arguments = parser.parse_args()

    folders = [ROOT / "src" / "featherweight" / name for name in FOLDERS]
    tests = [path for name in TESTS for path in sorted((ROOT / "tests" / name).rglob("test_*.py"))]
    faults = sample(ROOT, folders, arguments.count, arguments.seed)
    equivalent = json.loads((HERE / "equivalent.json").read_text(encoding="utf-8"))
    trials = Trials(KEPT / "trials.jsonl", tests)
    if not arguments.summary:
        found = reach(ROOT, tests, folders, KEPT / "reach")
        chosen = [fault for fault in faults if fault.id.startswith(arguments.only)]
        again = bool(arguments.only)
        _try(found, trials, [fault for fault in chosen if fault.id not in equivalent and (again or trials.open(fault))])
    record = summary(faults, trials.of, equivalent, arguments.seed)
    if not arguments.only:
        write(record, ROOT / "benchmarks" / "results")
    sys.stdout.write(line(record) + "\n")
    return 1 if record["survived"] or record["untried"] else 0


class Trials:
    """All trials so far, in a file that only grows."""

    def __init__(self, path: Path, tests: list[Path]) -> None:
        self.path = path
        self.tests = hashlib.sha256(b"".join(test.read_bytes() for test in tests)).hexdigest()[:16]
        self.of: dict[str, list[dict[str, Any]]] = {}
        if path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                one = json.loads(text)
                self.of.setdefault(one["id"], []).append(one)

    def open(self, fault: Fault) -> bool:
        """Not tried, or survived other tests than there are now."""
        last = self.of.get(fault.id, [None])[-1]
        return last is None or (last["outcome"] not in CAUGHT and last["tests"] != self.tests)

    def add(self, fault: Fault, result: dict[str, Any]) -> None:
        one = {"id": fault.id} | result | {"tests": self.tests}
        self.of.setdefault(fault.id, []).append(one)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")


def _try(found: Reach, trials: Trials, faults: list[Fault]) -> None:
    with copy_of(ROOT) as copy:
        for k, fault in enumerate(faults):
            result = trial(copy, fault, found.tests_of(fault.source, fault.texts), found.seconds)
            trials.add(fault, result)
            by = result.get("test", "").rpartition("/")[2]
            sys.stdout.write(
                f"{k + 1}/{len(faults)} {fault.id} {result['outcome']} after {result['seconds']:.0f} s {by}\n"
                f"    {fault.source}:{fault.line} ({fault.kind})\n    - {fault.was}\n    + {fault.becomes}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
