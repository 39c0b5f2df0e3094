"""The experiments of the variational-integrator paper (Lee, Liu, Park and Srinivasa, 2016), and what we promise.

    python benchmarks/variational/measure.py [part …]

Parts: energy, states, momentum, flight, search, lengths, linear, evaluation, dense, precision, robots; all of them by
default. Numbers go to benchmarks/results/, where those of parts that are not run stay as they are; `report.py` makes
the report of them.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.compiler.native.target import host
from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.steps import Chunk, Turn
from featherweight.compiler.runtime.loop import Call
from featherweight.experiments.evaluations import RESIDUAL, SCALABLE_RESIDUAL
from featherweight.integrators import SemiImplicit
from featherweight.integrators.variational.broyden import Steps
from featherweight.integrators.variational.drnea import Place, drnea
from featherweight.integrators.variational.legendre import start
from featherweight.integrators.variational.riqn import MassSolver
from featherweight.integrators.variational.solve import Search
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import step_loop

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from compared import dense_newton_step
from flight import flight, momentum, quadruped
from peak import Peak

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
DT = 1e-3
SHORT = 5e-5  # 1000 links from the paper's random state: a thousandth of the period of their fastest waves, roughly
PAPER = 1e-9  # N m s a link: the paper's tolerance
PACK = host().width  # robots that are worked on together
SCALE = 9.81 * sum(1.5 * k + 0.75 for k in range(10))  # J: ten links, upright
STATES = 4096  # in a call of what is measured by itself
LENGTHS = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
Variational = fw.integrators.Variational


def chain(n: int, *, gravity: float = 9.81) -> fw.Model:
    """The paper's chain."""
    builder = fw.Builder(f"chain of {n}", gravity=(0, 0, -gravity))
    for k in range(n):
        builder.add_body(
            f"link{k}",
            parent=f"link{k - 1}" if k else "world",
            joint=fw.joints.Revolute("x"),
            placement=fw.Placement((0, 0, 1.5 if k else 0)),
            inertia=fw.Inertia(1.0, (0, 0, 0.75), 1.0),
        )
    return builder.build()


def state(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Angles and velocities, uniform in ±π/2."""
    q, v = np.random.default_rng(seed).uniform(-np.pi / 2, np.pi / 2, (2, n))
    return q, v


def seconds(call: Callable[[], Any], rounds: int = 5) -> float:
    """The best of some rounds, after one that compiles."""
    call()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def per_step(
    model: fw.Model, q: np.ndarray, v: np.ndarray, method: Any, steps: int, rounds: int = 5, dt: float = DT
) -> float:
    """Microseconds a step and robot: the native loop on one core, without what `rollout` does around it."""
    options = StepOptions({"semi_implicit": SemiImplicit(), "variational": Variational()}.get(method, method))
    loop, count = step_loop(model, options), max(1, q.size // model.nq)
    carry = [q.reshape(count, -1), v.reshape(count, -1), np.zeros((count, 3))]
    if memory := options.integrator.state_size(model.over_floats):
        carry.append(np.zeros((count, memory)))
    states = [np.zeros((count, 2, x.shape[1]) if k < 2 else x.shape) for k, x in enumerate(carry)]
    records = [np.zeros((count, 1, int(np.prod(shape)))) for shape in options.records(model).values()]
    constants = [np.full((1, 1), dt), *([np.array([options.numbers])] if options.numbers else [])]
    with fw.threads(1):
        best = seconds(lambda: loop.run(Call(carry, [], constants, states, records, steps, steps)), rounds)
    return 1e6 * best / steps / count


def operations(plan: Plan) -> tuple[int, int]:
    """Those of every step, without sines and cosines, and those of an iteration of its search, the first repeat."""
    always = each = 0
    around: list[int] = []
    for step in plan.steps:
        if isinstance(step, Turn):
            around = {"begin": [*around, step.repeat.number], "test": around, "end": around[:-1]}[step.kind]
        elif isinstance(step, Chunk) and not around:
            always += len(step.nodes)
        elif isinstance(step, Chunk) and around == [0]:
            each += len(step.nodes)
    return always, each


def one_by_one(model: fw.Model, q: np.ndarray, v: np.ndarray, method: Any, steps: int) -> float:
    """Microseconds a step of one robot at a time, the mean of four out of many."""
    return float(np.mean([per_step(model, q[k], v[k], method, steps, 2) for k in range(0, len(q), len(q) // 4)]))


def in_turn(cases: dict[str, Callable[[], float]], turns: int = 5) -> dict[str, float]:
    """The least of each, measured one after the other several times: machines have slow moments."""
    least = dict.fromkeys(cases, np.inf)
    for _ in range(turns):
        for name, measured in cases.items():
            least[name] = min(least[name], measured())
    return least


def energy() -> dict[str, Any]:
    """Ten links, a million steps of 1 ms."""
    model, (q, v) = chain(10), state(10, seed=3)
    result: dict[str, Any] = {"scale_J": SCALE}
    for method in ("variational", "semi_implicit", "rk4"):
        run = fw.rollout(model, q, v, steps=10**6, dt=DT, integrator=method, record_every=100)
        error = (run.energy() - run.energy()[0]) / SCALE
        result[method] = {
            "largest": float(np.abs(error).max()),
            "trend": float(np.polyfit(run.t / run.t[-1], error, 1)[0]),
            "second_half_less_first": float(np.diff([half.mean() for half in np.array_split(error, 2)])[0]),
            "t": run.t[::20].tolist(),
            "error": error[::20].tolist(),
        }
    model, q, v = fw.robots.pendulum(), np.array([np.pi / 2]), np.zeros(1)
    run = fw.rollout(model, q, v, steps=10**6, dt=DT, integrator="variational", record_every=10)
    error = (run.energy() - run.energy()[0]) / 9.81
    result["pendulum"] = {
        "largest": float(np.abs(error).max()),
        "trend": float(np.polyfit(run.t / run.t[-1], error, 1)[0]),
    }
    return result


def states() -> dict[str, Any]:
    """Ten links from 64 random states: the trend of the energy, with shorter steps, and in longer runs."""
    model, many = chain(10), np.array([state(10, seed) for seed in range(64)])
    rows = []
    for dt, seconds_long in ((1e-3, 1000), (5e-4, 1000), (2.5e-4, 1000), (1e-3, 10_000)):
        run = fw.rollout(
            model, many[:, 0], many[:, 1], steps=round(seconds_long / dt), dt=dt, integrator="variational",
            record_every=round(0.1 / dt),
        )  # fmt: skip
        error = (run.energy() - run.energy()[:, :1]) / SCALE
        trend = np.abs([np.polyfit(run.t / run.t[-1], one, 1)[0] for one in error])
        row = {
            "dt": dt,
            "steps": round(seconds_long / dt),
            "median_trend": float(np.median(trend)),
            "largest_trend": float(trend.max()),
            "below_1e-6": int((trend < 1e-6).sum()),
            "median_swing": float(np.median(np.abs(error).max(axis=1))),
            "failed": int((run.failed_step >= 0).sum()),
        }
        rows.append(row)
        print(row, flush=True)
    return {"rows": rows}


def search() -> dict[str, Any]:
    """Residual against iteration for the methods, 50 links, from δ = h v and from rest."""
    model, (q, v) = chain(50), state(50)
    tree = model.over(float, lambda: None)
    at, moving = [float(x) for x in q], [float(x) for x in v]
    place = Place.at(tree, at, start(tree, at, moving, DT, [0.0] * 50, None))
    newton = Search(place, 0.0, 0.0)._direction
    result: dict[str, Any] = {}
    for guess, first in (("velocity", [DT * x for x in moving]), ("rest", [0.0] * 50)):
        for method in ("riqn", "newton", "broyden"):
            delta, steps, errors = list(first), Steps(50), []
            respond = MassSolver.after(tree, at, first)
            for _ in range(12):
                trial = drnea(place, delta)
                errors.append(float(trial.square**0.5 / DT))
                if method == "broyden":
                    step, steps = steps.next([-x for x in respond(trial.e)])
                    delta = [x + dx for x, dx in zip(delta, step, strict=True)]
                else:
                    step = newton(trial) if method == "newton" else respond(trial.e)
                    delta = [x - dx for x, dx in zip(delta, step, strict=True)]
            result[f"{method}, {guess}"] = errors
    return result


def lengths() -> dict[str, Any]:
    """Iterations and time a step against the number of links, without gravity, at the paper's tolerance of 1e-9 n.

    At 1000 links that is what rounding leaves of impulses of 2e7; there, and by default, the tolerance is relative.
    Long chains crack like whips: after 100 steps and less, 1 ms is too long for them.
    """
    rows = []
    for n in LENGTHS:
        model, (q, v) = chain(n, gravity=0.0), state(n)
        steps = 1000 if n <= 50 else 100 if n <= 200 else 40
        row: dict[str, Any] = {
            "links": n,
            "steps": steps,
            "semi_implicit_us": per_step(model, q, v, "semi_implicit", steps),
        }
        for name, options in (
            ("riqn", {"guess": "dynamics"}), ("newton", {"solver": "newton", "guess": "velocity"}), ("default", {}),
        ):  # fmt: skip
            if name == "riqn" and n > 200:
                continue
            absolute = None if name == "default" or n == 1000 else PAPER * n
            method = Variational(absolute=absolute, **options)
            run = fw.rollout(model, q, v, steps=steps, dt=DT, integrator=method)
            row[name] = {
                "us": per_step(model, q, v, method, steps),
                "iterations": float(np.nanmean(run.convergence[:, 0])),
                "most": float(np.nanmax(run.convergence[:, 0])),
                "failed_step": int(run.failed_step),
            }
        rows.append(row)
        print(row, flush=True)
    long = [row for row in rows if row["links"] >= 10]
    slope = {
        name: float(np.polyfit(np.log([r["links"] for r in long]), np.log([r[name]["us"] for r in long]), 1)[0])
        for name in ("newton", "default")
    }
    return {"rows": rows, "slope": slope}


def linear() -> dict[str, Any]:
    """Time a step where motion does not grow with the chain, as seen from a step: angles and rates of links against the
    world in ±π/2, steps of 1 ms; and the paper's random rates, with steps that are short even for their whips."""
    return {
        "calm": _against_length(lambda n: tuple(np.diff(x, prepend=0.0) for x in state(n)), DT),
        "short": _against_length(state, SHORT),
    }


def _against_length(begin: Callable[[int], tuple[np.ndarray, np.ndarray]], dt: float) -> dict[str, Any]:
    """Iterations and time a step for chains from 10 links on, and the power of the length that time grows with."""
    rows = []
    for n in (n for n in LENGTHS if n >= 10):
        model, steps, (q, v) = chain(n, gravity=0.0), max(100, 20_000 // n), begin(n)
        methods = {"default": Variational(), "newton": Variational(solver="newton", guess="velocity")}
        cases: dict[str, Any] = {"semi_implicit": "semi_implicit"} | methods
        least = in_turn({k: partial(per_step, model, q, v, m, steps, dt=dt) for k, m in cases.items()})
        row: dict[str, Any] = {"links": n, "semi_implicit_us": least["semi_implicit"]}
        for name, method in methods.items():
            run = fw.rollout(model, q, v, steps=steps, dt=dt, integrator=method)
            row[name] = {
                "us": least[name],
                "iterations": float(np.nanmean(run.convergence[:, 0])),
                "failed_step": int(run.failed_step),
            }
        rows.append(row)
        print(row, flush=True)
    times = {name: [r[name]["us"] for r in rows] for name in ("newton", "default")}
    times["semi_implicit"] = [r["semi_implicit_us"] for r in rows]
    n = np.log([r["links"] for r in rows])
    slope = {name: float(np.polyfit(n, np.log(us), 1)[0]) for name, us in times.items()}
    return {"dt": dt, "rows": rows, "slope": slope}


def evaluation() -> dict[str, Any]:
    """The equations of a step by recursion, and coordinate by coordinate: of many states in a call, on one core."""
    rows = []
    for n in (2, 5, 10, 20, 50, 100):
        model, (q, v) = chain(n, gravity=0.0), state(n)
        row: dict[str, Any] = {"links": n}
        one = q, DT * v, np.zeros(n)
        many = [np.tile(x, (STATES, 1)) for x in one]
        kernels = {"drnea_us": RESIDUAL.kernel(model), "direct_us": SCALABLE_RESIDUAL.kernel(model)}
        for name, kernel in kernels.items():
            with fw.threads(1):
                row[name] = 1e6 * seconds(partial(kernel, *many), 20) / STATES
        recursive, direct = (kernel(*one)[0] for kernel in kernels.values())
        row["largest_difference"] = float(np.abs(recursive - direct).max())
        rows.append(row)
    return {"rows": rows}


def dense() -> dict[str, Any]:
    """50 links: our steps against Newton steps with the whole Jacobian, compiled too, solved by LAPACK from Python."""
    n, steps = 50, 50
    model, (q, v) = chain(n, gravity=0.0), state(n)

    def by_newton() -> tuple[np.ndarray, int]:
        x, w, total = q, v, 0
        for _ in range(steps):
            x, w, count = dense_newton_step(model, x, w, DT, PAPER * n)
            total += count
        return x, total

    method = Variational(absolute=PAPER * n)
    ours = fw.rollout(model, q, v, steps=steps, dt=DT, integrator=method)
    end, total = by_newton()
    return {
        "dense_newton_us": 1e6 * seconds(by_newton, 3) / steps,
        "dense_newton_iterations": total / steps,
        "riqn_us": per_step(model, q, v, method, 10 * steps),
        "riqn_iterations": float(ours.convergence[:, 0].mean()),
        "largest_difference": float(np.abs(end - ours.q[-1]).max()),
    }


def precision() -> dict[str, Any]:
    """Error after 1 s against time spent, ten links; and the error of the energy at equal time spent."""
    model, (q, v) = chain(10), state(10, seed=3)
    truth = fw.rollout(model, q, v, steps=32_000, dt=1 / 32_000, integrator="rk4", record_every=32_000)
    result: dict[str, Any] = {}
    for method in ("semi_implicit", "variational", "rk4"):
        rows = []
        for n in (250, 500, 1000, 2000, 4000, 8000):
            run = fw.rollout(model, q, v, steps=n, dt=1 / n, integrator=method)
            spent = seconds(lambda n=n, method=method: fw.rollout(
                model, q, v, steps=n, dt=1 / n, integrator=method, record_every=n), 3)  # fmt: skip
            rows.append({
                "steps": n,
                "ms": 1e3 * spent,
                "q": float(np.abs(run.q[-1] - truth.q[-1]).max()),
                "energy": float(np.abs(run.energy() - run.energy()[0]).max()),
            })  # fmt: skip
        result[method] = rows
    # the energy of semi-implicit Euler where it takes as long, on the line through its points
    euler, ours = result["semi_implicit"], result["variational"]
    times = np.log([row["ms"] for row in euler])
    energies = np.log([row["energy"] for row in euler])
    result["energy_ratio_at_equal_time"] = [
        {"ms": row["ms"], "ratio": float(np.exp(np.interp(np.log(row["ms"]), times, energies)) / row["energy"])}
        for row in ours
        if times[0] <= np.log(row["ms"]) <= times[-1]
    ]
    return result


def robots() -> dict[str, Any]:
    """A variational step over a semi-implicit one: four robots one by one, and 256 on one core, among them these four.

    All make the same number of steps: the first ones, with nothing to extrapolate from, take iterations. Beside it,
    which part that is of what one lane and a pack of this processor can do at most.
    """
    result: dict[str, Any] = {}
    peaks = {"one": Peak(1), "batch": Peak()}
    rng = np.random.default_rng(5)
    cases: dict[str, tuple[fw.Model, np.ndarray, np.ndarray]] = {}
    go2 = quadruped("go2_description/urdf/go2.urdf")
    q = go2.neutral()
    q[7:] = rng.uniform(-0.5, 0.5, 12)
    cases["go2"] = go2, q, rng.uniform(-1, 1, go2.nv)
    for n in (10, 50, 100):
        cases[f"{n} links"] = chain(n), *state(n)
    methods = ("semi_implicit", "variational")
    for name, (model, q, v) in cases.items():
        steps = 1000 if model.nv < 30 else 200
        many = np.tile(q, (256, 1)), v * rng.uniform(0.5, 1.0, (256, model.nv))
        one = in_turn({m: partial(one_by_one, model, *many, m, steps) for m in methods})
        batch = in_turn({m: partial(per_step, model, *many, m, steps, 1) for m in methods})
        row: dict[str, Any] = {m: {"one_us": one[m], "batch_us": batch[m]} for m in methods}
        row["ratio"] = row["variational"]["one_us"] / row["semi_implicit"]["one_us"]
        row["batch_ratio"] = row["variational"]["batch_us"] / row["semi_implicit"]["batch_us"]
        for m in methods:
            row[m]["batch_gain"] = row[m]["one_us"] / row[m]["batch_us"]
        run = fw.rollout(model, *(x[:64] for x in many), steps=steps, dt=DT, integrator="variational")
        count = run.convergence[..., 0]
        row["iterations"] = float(count.mean())
        row["iterations_of_a_pack"] = float(count.reshape(-1, PACK, steps).max(axis=1).mean())
        row["failed"] = int((run.failed_step >= 0).sum())
        always, each = operations(step_loop(model, StepOptions(Variational())).kernel.plan)
        for way, turns in (("one", row["iterations"]), ("batch", row["iterations_of_a_pack"])):
            rate = 1e6 * (always + turns * each) / row["variational"][f"{way}_us"]
            row[f"{way}_of_peak"] = rate / peaks[way].fma_per_second()
        row["peaks"] = peaks["batch"].fma_per_second() / peaks["one"].fma_per_second()
        result[name] = row
        print(name, row, flush=True)
    return result


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    part.__name__: part
    for part in (energy, states, momentum, flight, search, lengths, linear, evaluation, dense, precision, robots)
}


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    unknown = set(wanted) - set(PARTS)
    if unknown:
        raise SystemExit(f"unknown part {', '.join(sorted(unknown))}; expected some of {', '.join(PARTS)}")
    today = datetime.date.today().isoformat()
    path = RESULTS / f"{today}-variational.json"
    result = json.loads(path.read_text()) if path.exists() else {}
    result |= {
        "date": today,
        "machine": f"{host().cpu}, {host().width} lanes, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    for name in wanted:
        print(f"{name}: {PARTS[name].__doc__}", flush=True)
        result[name] = PARTS[name]()
        path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
