"""What a neural policy costs inside a rollout: layers of `fw.scalar.dense` against the multiply-add peak of a core.

`make policy`. Pendulums with 48 observations and two hidden layers; the same run with a policy of no layers is
subtracted. CPU time of one thread, the best of several rounds, everything in turns.
"""

from __future__ import annotations

import datetime
import json
import platform
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from peak import Peak

import featherweight as fw
from featherweight.scalar import dense, tanh

HERE = Path(__file__).parent
BATCH, STEPS, ALONE, DT, ROUNDS = 4096, 20, 4000, 1e-3, 25
NETWORKS = ((48, 128, 64, 12), (48, 64, 48, 12))
MIXING = np.random.default_rng(0).normal(size=(NETWORKS[0][0], 2))
MODEL = fw.robots.pendulum()


def unpacked(p: Any, sizes: tuple[int, ...]) -> list[tuple[Any, Any]]:
    """W and b of each layer, out of a row of numbers."""
    layers, at = [], 0
    for n, m in pairwise(sizes):
        layers.append((p[at : at + m * n].reshape(m, n), p[at + m * n : at + m * n + m]))
        at += m * n + m
    return layers


def policies(sizes: tuple[int, ...]) -> dict[str, fw.Compiled]:
    """By where the weights stand: numbers of the function, parameters that all robots share, each robot's own; as
    products of scalars that are written out, for the smaller network."""
    count = sum(m * n + m for n, m in pairwise(sizes))
    p = 0.1 * np.random.default_rng(1).normal(size=count)

    def policy(weights: Callable[[Any], Any], layer: Callable[..., Any]) -> Callable[..., Any]:
        def control(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
            y = [a * q[0] + b * v[0] for a, b in MIXING.tolist()]
            for k, (W, b) in enumerate(layers := weights(p)):
                y = layer(W, y, b, tanh if k < len(layers) - 1 else None)
            return [1e-3 * sum(y)], x

        return control

    def written_out(W: Any, x: Any, b: Any, activation: Any) -> Any:
        y = W @ np.array(x) + b
        return y if activation is None else np.tanh(y)

    found = {
        "nothing": fw.compiled(policy(lambda p: [], dense)),
        "numbers": fw.compiled(policy(lambda _: unpacked(p, sizes), dense)),
        "parameters": fw.compiled(policy(lambda p: unpacked(p, sizes), dense), parameters=p),
        "own parameters": fw.compiled(policy(lambda p: unpacked(p, sizes), dense), parameters=np.tile(p, (BATCH, 1))),
    }
    if sizes is NETWORKS[-1]:
        found["written out"] = fw.compiled(policy(lambda p: unpacked(p, sizes), written_out), parameters=p)
    return found


def run(control: fw.Compiled, count: int, steps: int) -> float:
    """CPU seconds of a step of one robot."""
    rng = np.random.default_rng(2)
    if control.parameters.ndim == 2 and count == 1:
        control = control.with_parameters(control.parameters[0])
    q, v = rng.uniform(-1, 1, (2, count, 1))
    start = time.thread_time()
    fw.rollout(MODEL, q, v, steps=steps, dt=DT, control=control, record_every=steps)
    return (time.thread_time() - start) / count / steps


def measure(sizes: tuple[int, ...]) -> dict[str, Any]:
    weights, peak = sum(m * n for n, m in pairwise(sizes)), Peak()
    controls = policies(sizes)
    first = {}
    for name, control in controls.items():
        start = time.process_time()
        run(control, BATCH, 1)
        first[name] = time.process_time() - start
    best = {name: {"pack": np.inf, "alone": np.inf} for name in controls}
    fastest = 0.0
    for _ in range(ROUNDS):
        fastest = max(fastest, peak.fma_per_second(3))
        for name, control in controls.items():
            best[name]["pack"] = min(best[name]["pack"], run(control, BATCH, STEPS))
            best[name]["alone"] = min(best[name]["alone"], run(control, 1, ALONE))
    found: dict[str, Any] = {"weights": weights, "at_peak_ns": weights / fastest * 1e9}
    for name in list(controls)[1:]:
        own = {where: best[name][where] - best["nothing"][where] for where in ("pack", "alone")}
        found[name] = {
            "first_call_cpu_s": first[name],
            **{f"{where}_ns": seconds * 1e9 for where, seconds in own.items()},
            **{f"{where}_of_peak": weights / fastest / seconds for where, seconds in own.items()},
        }
    return found


def main() -> None:
    fw.threads(1)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record: dict[str, Any] = {"date": date, "machine": platform.processor() or platform.machine()}
    record |= {"batch": BATCH, "steps": STEPS, "rounds": ROUNDS}
    for sizes in NETWORKS:
        name = "-".join(map(str, sizes))
        record[name] = found = measure(sizes)
        print(f"{name}: {found['weights']} weights, {found['at_peak_ns']:.0f} ns at the peak of a core", flush=True)
        for way, numbers in found.items():
            if isinstance(numbers, dict):
                print(f"  {way:15}", {k: float(f"{x:.3g}") for k, x in numbers.items()}, flush=True)
    (HERE / "results" / f"{date[:10]}-policy.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
