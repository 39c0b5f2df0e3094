"""100 000 misuses of derivatives: `make misuse-derivatives`.

Calls of fw.function, derivative, jvp, vjp, linearize, rollout_gradient, inverse_dynamics_derivatives,
forward_dynamics_derivatives and regressor, most of them wrong (`tests/functions/derivative_calls.py`), in processes of
so many calls each. What comes out is

    right            for each state the numbers that it has alone, from plain arrays, finite and of the right shape
    refused          an exception that names the argument
    wrong            anything else: other numbers, an unclear error, a warning, a changed argument, a minute of CPU time
    crashed          the process ended before its calls were made
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CALLS, EACH = 100_000, 5_000
OUTCOMES = ("right", "refused", "wrong")
CODE = """
import json, sys
sys.path[:0] = [{tests!r}]
from functions.derivative_calls import run
print(json.dumps(run({seed}, {count}, alarm=True)))
"""


def one_process(seed: int, count: int) -> tuple[dict[str, dict[str, int]], list[str], bool]:
    """Counts by what was called and by kind of misuse, what was wrong, and whether the process crashed."""
    code = CODE.format(tests=str(HERE.parent / "tests"), seed=seed, count=count)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if result.returncode:
        return {}, [f"{seed}: the process ended with {result.returncode}: {result.stderr[-300:]}"], True
    counts, wrong = json.loads(result.stdout.splitlines()[-1])
    return counts, wrong, False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file; by default one in benchmarks/results/")
    asked = parser.parse_args()
    import featherweight as fw

    total: dict[str, collections.Counter[str]] = {}
    wrong: list[str] = []
    crashed = 0
    for k in range(0, asked.calls, EACH):
        counts, found, ended = one_process(asked.seed + k, min(EACH, asked.calls - k))
        wrong, crashed = wrong + found, crashed + ended
        for name, own in counts.items():
            total.setdefault(name, collections.Counter()).update(own)
        print(
            f"{min(k + EACH, asked.calls)} calls, {len(wrong)} wrong, {crashed} crashed",
            *found[:5],
            sep="\n  ",
            flush=True,
        )
    called = {name: own for name, own in total.items() if not name.startswith("kind: ")}
    kinds = {name.removeprefix("kind: "): own for name, own in total.items() if name.startswith("kind: ")}
    today = datetime.datetime.now(datetime.timezone.utc)
    report: dict[str, Any] = {
        "date": today.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {"featherweight": fw.__version__},
        "calls": sum(sum(own.values()) for own in called.values()),
        "counts": {outcome: sum(own[outcome] for own in called.values()) for outcome in OUTCOMES}
        | {"crashed": crashed},
        "called": {name: {x: own[x] for x in OUTCOMES} for name, own in sorted(called.items())},
        "kinds": {name: {x: own[x] for x in OUTCOMES} for name, own in sorted(kinds.items())},
        "wrong": wrong[:50],
    }
    path = asked.out or HERE / "results" / f"{today:%Y-%m-%d}-misuse-derivatives.json"
    path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{report['calls']} calls: {report['counts']}")
    raise SystemExit(1 if wrong or crashed else 0)


if __name__ == "__main__":
    main()
