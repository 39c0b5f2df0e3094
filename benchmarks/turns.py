"""This version and another one in turns, on one machine: is anything slower?

    python benchmarks/turns.py OTHER/src [--rounds 5] [--only springs] [--first]

The other version is a checkout of this repository. Each round starts a process for either one, one after the other, one
thread each; what counts is the median of the ratios. With `--first` it is processor time of first calls, each process
with an empty cache: tracing and compiling. Raw data of all cases goes to benchmarks/results/.
"""

from __future__ import annotations

import argparse
import datetime
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BATCH, ROBOTS = 1024, ("go2", "simple_humanoid", "talos")


def best(function: Callable[[], Any], calls: int, rounds: int = 7) -> float:
    """Seconds a call."""
    function()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - begin) / calls)
    return min(times)


def first(function: Callable[[], Any], calls: int, rounds: int = 7) -> float:
    """Seconds of processor time of the first call."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def measured(only: str, seconds: Callable[..., float]) -> dict[str, float]:
    """Seconds of each case with this text in its name, by the version that is imported."""
    sys.path[:0] = [str(HERE.parent / "tests")]
    import numpy as np

    import featherweight as fw
    from featherweight.contact import Impulse, SpringDamper
    from peers.pinocchio_adapter import ROBOTS as FILES
    from peers.pinocchio_adapter import robots_folder

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    fw.threads(1)
    rng, found = np.random.default_rng(0), {}

    def note(case: str, function: Callable[[], Any], calls: int, rounds: int = 7) -> None:
        if only in case:
            found[case] = seconds(function, calls, rounds)

    for name in ROBOTS:
        model = fw.load(robots_folder() / FILES[name], base="free", policy="warn")
        q = np.stack([model.random(rng) for _ in range(BATCH)])
        v, a = rng.normal(size=(2, BATCH, model.nv))
        for function, arguments in (("forward_dynamics", (v, a)), ("inverse_dynamics", (v, a)), ("mass_matrix", ())):
            call, one = getattr(fw, function), [x[0] for x in arguments]
            note(f"{name} {function} one", partial(call, model, q[0], *one), 3000)
            note(f"{name} {function} batch", partial(call, model, q, *arguments), 6)
    cheetah = fw.robots.mini_cheetah()
    q = np.tile(cheetah.neutral(), (BATCH, 1))
    q[:, 2] = np.linspace(0.25, 0.3, BATCH)
    v = np.zeros((BATCH, cheetah.nv))
    cases: dict[str, dict[str, Any]] = {
        "free": {"dt": 1e-3},
        "variational": {"dt": 1e-3, "integrator": "variational"},
        "impulses": {"dt": 1e-3, "contact": Impulse()},
        "springs": {"dt": 1e-4, "contact": SpringDamper(law="linear", stiffness=2e4, damping=20.0)},
    }
    for name, options in cases.items():
        for many, rows, steps in (("one", 0, 5000), ("batch", slice(None), 50)):
            start = q[rows], v[rows]
            run = partial(fw.rollout, cheetah, *start, steps=steps, record_every=steps, **options)
            note(f"cheetah {name} {many}", run, 1, 5)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", help="the src folder of another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose name contains this text; no file is written")
    parser.add_argument("--first", action="store_true", help="first calls, with an empty cache")
    arguments = parser.parse_args()
    if arguments.other is None:
        print(json.dumps(measured(arguments.only, first if arguments.first else best)))
        return
    sources = {"other": arguments.other, "this": str(HERE.parent / "src")}
    times: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for k in range(arguments.rounds):
            for name, source in sources.items():
                cache = f"{folder}/{name}{k if arguments.first else ''}"
                environment = {**os.environ, "PYTHONPATH": source, "FEATHERWEIGHT_CACHE": cache}
                command = [sys.executable, __file__, "--only", arguments.only, *["--first"][: arguments.first]]
                run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
                for case, seconds in json.loads(run.stdout.splitlines()[-1]).items():
                    times.setdefault(case, {}).setdefault(name, []).append(seconds)
    table = {}
    for case, own in times.items():
        ratio = statistics.median(new / old for old, new in zip(own["other"], own["this"], strict=True))
        table[case] = {"other_us": 1e6 * min(own["other"]), "this_us": 1e6 * min(own["this"]), "ratio": ratio}
        print(f"{case:40s} {table[case]['other_us']:10.2f} us {table[case]['this_us']:10.2f} us  {ratio:.3f}")
    print(f"median {statistics.median(row['ratio'] for row in table.values()):.3f}")
    if not arguments.only:
        path = HERE / "results" / f"{datetime.date.today()}-turns{'-first' if arguments.first else ''}.json"
        path.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
