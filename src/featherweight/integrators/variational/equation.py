"""The equations that a variational step solves, for derivatives: e(δ) = 0, and where a δ leads to.

How δ was found does not matter there. The momentum of what floats is that of (q, v): what is carried beside it is the
same number, with more digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.integrators.integrator import External, StepEquation
from featherweight.integrators.variational.drnea import Place, drnea
from featherweight.integrators.variational.forces import Acting, Braked
from featherweight.integrators.variational.legendre import start
from featherweight.integrators.variational.step import Step
from featherweight.model import Tree


def step_equation(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any, external: External | None
) -> StepEquation:
    """The discrete Euler-Lagrange equations of a step of h from (q, v), over any scalar."""
    acting, braked = Acting(tree, v, tau, h, external), Braked.of(tree, q, v, h)
    begin = start(tree, q, v, h, acting.on_joints(tree, q), acting.on_bodies(q, v))
    place, step = Place.at(braked.begin, q, begin), Step(tree, q, h, begin, acting, braked)

    def end(delta: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        arrival = step.landed(drnea(place, delta), delta, tree)
        return arrival.q, arrival.v

    return StepEquation(lambda delta: drnea(place, delta).e, end)
