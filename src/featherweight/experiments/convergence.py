"""How fast the search for a variational step converges: three solvers from three guesses, 50 links.

The paper's figure: the residual of the discrete Euler-Lagrange equations over the iterations. It says that Newton's
method converges quadratically, and that RIQN comes next within what one asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featherweight.experiments.claim import Claim
from featherweight.experiments.discrete_steps import GUESSES, SOLVERS, Method, search, states
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.figures import convergence_figure, saved
from featherweight.robots import chain

DT = 1e-3  # s
TOLERANCE = 1e-9  # N m s a link


@dataclass(frozen=True, eq=False)
class Convergence:
    """Residuals `|e|` [N m s], shape (solvers, guesses, iterations + 1, states), of steps of 1 ms.

    The state, not the evaluation, decides: DRNEA and the evaluation before it give the same residual to rounding.
    """

    links: int
    solvers: tuple[str, ...]
    guesses: tuple[str, ...]
    residual: np.ndarray

    @property
    def median(self) -> np.ndarray:
        """Over the states, shape (solvers, guesses, iterations + 1)."""
        return np.median(self.residual, axis=-1)

    @property
    def iterations(self) -> np.ndarray:
        """How many it takes to come to the paper's tolerance, 1e-9 N m s a link; shape (solvers, guesses, states)."""
        return np.argmax(self.residual <= TOLERANCE * self.links, axis=2)

    @property
    def order(self) -> float:
        """Of Newton's method: how |e| after an iteration grows with |e| before it, between two near guesses."""
        near = self.residual[self.solvers.index("newton"), [self.guesses.index(g) for g in ("velocity", "dynamics")]]
        (before, after), (less_before, less_after) = near[0, :2], near[1, :2]
        return float(np.median(np.log(after / less_after) / np.log(before / less_before)))

    @property
    def rate(self) -> float:
        """Digits that an iteration of RIQN adds, from rest, before rounding: the median over the states."""
        e = self.residual[self.solvers.index("riqn"), self.guesses.index("rest")]
        return float(np.median(np.log10(e[1] / e[3]) / 2))

    @property
    def claims(self) -> list[Claim]:
        """The source, sentence by sentence."""
        newton, broyden, riqn = (float(x) for x in self.iterations.mean(axis=(1, 2)))
        by_guess = self.iterations.mean(axis=(0, 2))
        return [
            Claim(
                "Newton's method converges quadratically",
                f"order {self.order:.2f}",
                1.8 < self.order < 2.2,
                "section 4.4",
            ),
            Claim(
                "within the tolerance RIQN comes next to Newton's method, before Broyden's",
                f"Newton {newton:.1f} iterations, Broyden {broyden:.1f}, RIQN {riqn:.1f}, each {self.rate:.1f} digits",
                newton < riqn < broyden,
                "section 4.4",
                "" if riqn < broyden else "Broyden's method learns from its steps, and is level or ahead",
            ),
            Claim(
                "a better guess saves iterations",
                ", ".join(f"{name} {x:.1f}" for name, x in zip(self.guesses, by_guess, strict=True)),
                bool((np.diff(by_guess) < 0).all()),
                "section 3.3",
            ),
        ]


def convergence(*, full: bool = False) -> Convergence:
    """The paper's chain without gravity, from random states: 256 of 50 links, or 32 of 20."""
    links, lanes, most = (50, 256, 12) if full else (20, 32, 10)
    model, (q, v) = chain(links, gravity=0.0), states(links, lanes)
    residual = [
        [search(model, q, v, DT, Method("drnea", s, g), tolerance=0.0, most=most).residuals for g in GUESSES]
        for s in SOLVERS
    ]
    return Convergence(links, SOLVERS, GUESSES, np.array(residual))


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("searching with three solvers from three guesses")
    result = convergence(full=not short)
    mean = result.iterations.mean(axis=2)
    rows = [(solver, *(f"{x:.1f}" for x in row)) for solver, row in zip(result.solvers, mean, strict=True)]
    title = f"Iterations to 1e-9 N m s a link, {result.links} links"
    return Outcome(
        result.claims,
        [Table(title, ("solver", *(f"from {guess}" for guess in result.guesses)), rows)],
        {
            saved(
                convergence_figure(result), out / "convergence.svg"
            ): "Residual over the iterations, median over states"
        },
        notes=["All three reach the tolerance of the source in a few iterations; what one costs is in `scaling`."],
    )


EXPERIMENT = Experiment("convergence", "004", "The residual of a variational step over the iterations", _run)
