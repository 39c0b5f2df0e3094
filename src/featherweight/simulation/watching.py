"""Looking on while a run is computed, without ever being in its way."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from featherweight.simulation.problem import Problem
from featherweight.simulation.run import Run

Watch = Callable[[float, np.ndarray, np.ndarray], object]
PERIOD = 1 / 30  # simulated time between looks [s]
_log = logging.getLogger("featherweight")


class Watcher:
    """Shows the newest sample of a run of one robot to a function; one that raises is not called again."""

    def __init__(self, watch: Watch, problem: Problem) -> None:
        if not callable(watch):
            raise TypeError(f"watch: expected a function f(t, q, contact_force), got {type(watch).__name__}")
        self._watch, self.tired = watch, False
        interval = problem.every * problem.dt
        self.steps = problem.every * max(1, round(PERIOD / interval))

    def look(self, run: Run) -> None:
        """Call the function with the state that the run has come to."""
        if self.tired:
            return
        p, k = run.problem, run.done
        q, force = run.history[0][0, k].copy(), run.records["contact_force"][0, max(k - 1, 0)].copy()
        try:
            self._watch(k * p.every * p.dt, q, force)
        except Exception as error:
            self.tired = True
            _log.warning("watch raised %s: %s; the run goes on without it", type(error).__name__, error)
