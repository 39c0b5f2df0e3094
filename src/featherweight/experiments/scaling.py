"""Time and iterations of a variational step against the number of links: the paper's comparison, whole.

Two evaluations of the equations, three solvers, three guesses. The paper says that DRNEA with RIQN takes time linear in
the number of links, and is faster than Newton's method with the scalable evaluation before it, the more so the longer
the chain. Its figures cannot be read in our copy; these are ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.compiler import threads
from featherweight.dynamics import forward_dynamics, solve_mass_matrix
from featherweight.experiments.claim import Claim
from featherweight.experiments.discrete_steps import METHODS, Broyden, Method, dense_lanes, dense_newton, search, states
from featherweight.experiments.evaluations import NEWTON, READ_OUT, RESIDUAL, SCALABLE_RESIDUAL, START
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.figures import SCALED, saved, scaling_figure
from featherweight.model import Model
from featherweight.robots import chain
from featherweight.simulation import rollout

DT = 1e-3  # s
TOLERANCE = 1e-9  # N m s a link
LANES = 1024  # robots in a call, so that what Python adds to a kernel is shared by many
BEST, BEFORE = Method("drnea", "riqn", "dynamics"), Method("scalable", "newton", "velocity")
LINEAR = Method("drnea", "newton", "velocity")


@dataclass(frozen=True, eq=False)
class Scaling:
    """Of each method and number of links, shape (methods, links): seconds a step and robot, iterations a step, and the
    part of the steps that were not solved.

    The time of a step is that of its pieces (start, guess, evaluations, corrections, end), each in native code for many
    robots in a call, times how often a step takes them. `native` and `euler` (links,) are whole steps of the library's
    own loop, variational and semi-implicit. Seconds are CPU time, on one core; dense Jacobians are solved by NumPy.
    """

    methods: tuple[Method, ...]
    links: np.ndarray
    seconds: np.ndarray
    iterations: np.ndarray
    failed: np.ndarray
    native: np.ndarray
    euler: np.ndarray

    def of(self, method: Method) -> np.ndarray:
        """Seconds a step of one method, by the number of links."""
        return self.seconds[self.methods.index(method)]

    def slope(self, method: Method) -> float:
        """The power of the number of links that time grows with, from 10 links on."""
        long = self.links >= min(10, self.links[-2])
        return float(np.polyfit(np.log(self.links[long]), np.log(self.of(method)[long]), 1)[0])

    @property
    def claims(self) -> list[Claim]:
        """The source, sentence by sentence."""
        gain = self.of(BEFORE) / self.of(BEST)
        longest, other = self.links[-1], float(self.of(BEST)[-1] / self.of(LINEAR)[-1])
        guesses = [self.iterations[self.methods.index(Method("drnea", "riqn", g)), -1] for g in ("rest", "dynamics")]
        return [
            Claim(
                "a step with DRNEA and RIQN takes time linear in the number of links",
                f"it grows with the power {self.slope(BEST):.2f}, iterations included; with the evaluation before it "
                f"and Newton's method, {self.slope(BEFORE):.2f}",
                self.slope(BEST) < 1.5,
                "sections 3.1 and 3.2",
            ),
            Claim(
                "it is faster than Newton's method with the evaluation before it, the more so the more links",
                f"{gain[0]:.1f} times at {self.links[0]} links, {gain[-1]:.0f} times at {longest}",
                bool(gain[-1] > max(5.0, gain[0])),
                "section 4.3",
            ),
            Claim(
                "it is the fastest of all",
                f"Newton's method in linear time, which the paper does not have, takes {1 / other:.2f} of its time at "
                f"{longest} links",
                other < 1,
                "section 4.3",
                "" if other < 1 else "articulated bodies also give Newton's step in linear time",
            ),
            Claim(
                "a guess from the accelerations saves iterations",
                f"{guesses[0]:.1f} iterations from rest, {guesses[1]:.1f} from accelerations at {longest} links",
                bool(guesses[1] < guesses[0]),
                "section 3.3",
            ),
        ]


def scaling(links: Sequence[int] = (), *, full: bool = False, tell: Tell = lambda text: None) -> Scaling:
    """The paper's chain without gravity, steps of 1 ms from random states, and from where they lead in 0.1 s.

    Args:
        links: lengths of chains, two or more in increasing order; 2 to 20 if not given.
        full: 2 to 100 links if not given, and more rounds of each measurement.
        tell: is told what is measured.
    """
    if links and (len(links) < 2 or sorted(set(links)) != list(links)):
        raise ValueError(f"links: expected two numbers of links or more, in increasing order, got {links!r}")
    lengths = np.array(links or ((2, 5, 10, 20, 30, 50, 70, 100) if full else (2, 5, 10, 20)))
    seconds, iterations, failed = np.zeros((3, len(METHODS), len(lengths)))
    native, euler = np.zeros((2, len(lengths)))
    rounds = 20 if full else 5
    with threads(1):
        for column, n in enumerate(lengths):
            tell(f"{n} links")
            model = chain(int(n), gravity=0.0)
            q, v = states(int(n), LANES)
            pieces = _pieces(model, q, v, rounds)
            nodes = _later(model, q, v) if full else [(q[:64], v[:64])]
            for row, method in enumerate(METHODS):
                iterations[row, column], failed[row, column] = _iterations(model, nodes, method)
                seconds[row, column] = pieces.step(method, iterations[row, column])
            for times, integrator in ((native, "variational"), (euler, "semi_implicit")):
                few = slice(min(LANES, 8192 // n))  # a short call is more often undisturbed
                run = partial(rollout, model, q[few], v[few], steps=100, dt=DT, integrator=integrator, record_every=100)
                times[column] = _least(run, rounds) / 100 / len(q[few])
    return Scaling(tuple(METHODS), lengths, seconds, iterations, failed, native, euler)


@dataclass(frozen=True)
class _Pieces:
    """Seconds that the pieces of a step take, by name."""

    seconds: dict[str, float]

    def step(self, method: Method, iterations: float) -> float:
        """Seconds of a step that takes so many iterations."""
        t = self.seconds
        correction = {
            "riqn": t["solve M"],
            "broyden": t["solve M"] + t["broyden"],
            "newton": t["newton"] if method.evaluation == "drnea" else t["dense newton"],
        }[method.solver]
        guess = t["dynamics"] if method.guess == "dynamics" else 0.0
        return t["start"] + guess + (1 + iterations) * t[method.evaluation] + iterations * correction + t["end"]


def _pieces(model: Model, q: np.ndarray, v: np.ndarray, rounds: int) -> _Pieces:
    h, delta = np.array(DT), DT * v
    start = START.kernel(model)(q, v, h)[0]
    few = np.arange(min(LANES, dense_lanes(model.nv)))
    newton = dense_newton(model, q)
    calls: dict[str, Callable[[], Any]] = {
        "start": partial(START.kernel(model), q, v, h),
        "dynamics": partial(forward_dynamics, model, q, v, v),
        "drnea": partial(RESIDUAL.kernel(model), q, delta, start),
        "scalable": partial(SCALABLE_RESIDUAL.kernel(model), q, delta, start),
        "solve M": partial(solve_mass_matrix, model, q, v),
        "broyden": partial(Broyden.improved, v, [v, v]),
        "newton": partial(NEWTON.kernel(model), q, delta, start),
        "dense newton": partial(newton, few, delta[few], start[few], v[few]),
        "end": partial(READ_OUT.kernel(model), q, delta, h),
    }
    seconds = {name: _least(call, rounds) / (len(few) if "dense" in name else LANES) for name, call in calls.items()}
    seconds["newton"] -= seconds["drnea"]  # it evaluates the equations itself; a step has them already
    return _Pieces(seconds)


def _least(call: Callable[[], Any], rounds: int) -> float:
    """The least CPU seconds of some calls, after one that compiles."""
    call()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def _later(model: Model, q: np.ndarray, v: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """States of the same motion after 0, 25, 50, 75 and 100 steps."""
    run = rollout(model, q[:128], v[:128], steps=100, dt=DT, integrator="variational", record_every=25)
    good = run.failed_step < 0
    return [(run.q[good, k], run.v[good, k]) for k in range(5)]


def _iterations(model: Model, nodes: list[tuple[np.ndarray, np.ndarray]], method: Method) -> tuple[float, float]:
    """Of one step from each of these states: iterations where it was solved, and the part where it was not."""
    lanes = dense_lanes(model.nv) if (method.evaluation, method.solver) == ("scalable", "newton") else None
    tolerance = TOLERANCE * model.nv
    found = [search(model, q[:lanes], v[:lanes], DT, method, tolerance=tolerance) for q, v in nodes]
    converged = np.concatenate([one.converged for one in found])
    return float(np.concatenate([one.iterations for one in found])[converged].mean()), float(1 - converged.mean())


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    result = scaling((2, 8) if short else (2, 5, 10, 20, 50), tell=tell)
    rows = [(label, *(f"{1e6 * x:.3g}" for x in result.of(method))) for method, (label, *_) in SCALED.items()]
    rows.append(("featherweight, default", *(f"{1e6 * x:.3g}" for x in result.native)))
    return Outcome(
        result.claims,
        [Table("Time a step [µs]", ("method", *(f"{n} links" for n in result.links)), rows)],
        {saved(scaling_figure(result), out / "scaling.svg"): "Time and iterations a step over the number of links"},
        notes=[
            "Times are CPU time of one core, in native code, for a robot of many in a call. The figures of the source "
            "cannot be read in our copy; these are ours. Up to 100 links: `make paper`."
        ],
    )


EXPERIMENT = Experiment("scaling", "004", "Time of a variational step over the number of links", _run)
