"""Newton steps on the laws of all blocks at once (`system`).

Where a whole step makes the worst error larger, a part of it is taken: to where the first contact comes to the edge of
its cone. Two contacts of a rigid body that cannot both have the velocity they want push against each other, more with
every sweep, until one of them gives way; such a step is the way there.

**Regularisation.** Faces touch in more points than it takes to hold them (a hyperstatic problem): which of them carries
how much is in the null space of J M⁻¹ Jᵀ, where a step moves impulses by what is left of w over the regularisation of
the laws alone. A constant one creeps there, and a small one jumps about in the beginning. So that of later trials is
proportional to the residual: the first trial has 1e-6, others 0.1 of the residual over the largest velocity error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featherweight.constraints.law import SOFT, added
from featherweight.constraints.solve.coupling import Impulses
from featherweight.constraints.solve.system import AllBlocks
from featherweight.scalar import logical_not, maximum, minimum, repeat, sqrt, where

BEYOND = 1.001  # past the edge of a cone, so that another law holds there
SOFTER, LEAST, MOST = 0.1, 1e-10, 1e-4  # regularisation of later trials: times the error over the largest one; bounds

FAR = 1e300  # an error that is not known yet


@dataclass(frozen=True)
class Iterate:
    """Impulses, the square of their worst error, and the number of turns so far; whether the last step changed nothing
    (1 or 0), since it would only have led away."""

    impulses: Impulses
    error: Any
    turns: Any
    stays: Any = 0.0


@dataclass(frozen=True)
class Attempt:
    """A part of a Newton step: its share, the square of the worst error there, and the number of attempts."""

    share: Any
    error: Any
    number: Any


def newton_step(blocks: AllBlocks, now: Iterate, first: Any, near: Any = 0.0) -> Iterate:
    """One step; `first`: of the first trial. Impulses with a squared error of `near` or less stay as they are, unless
    the step is for the better."""
    s = blocks.pushes(now.impulses)
    soft = where(first, SOFT, minimum(maximum(SOFTER * sqrt(now.error / blocks.largest), LEAST), MOST))

    # the laws as they are here, and what they say of all pushes together
    laws, errors, before = [], [], 0.0
    for part, own in blocks.each(now.impulses):
        w = part.error(s)
        law = part.linearised(own, w, soft)
        laws.append(law)
        errors.append(w)
        before = maximum(before, law.error)
    changes = blocks.change(blocks.factors(laws), laws)
    reach: Any = 1.0
    for part, own, (dl, _) in blocks.each(now.impulses, changes):
        reach = minimum(reach, part.reach(own, dl))

    # a whole step, or to the edge
    def attempt(last: Attempt) -> Attempt:
        share = where(last.number == 0, 1.0, BEYOND * reach)
        error = 0.0
        for part, own, w, (dl, dw) in blocks.each(now.impulses, errors, changes):
            error = maximum(error, part.linearised(added(own, dl, share), added(w, dw, share)).error)
        return Attempt(share, error, last.number + 1.0)

    last = repeat(attempt, Attempt(1.0, FAR, 0.0), until=lambda c: c.error < before, at_most=2)
    stays = (before <= near) & logical_not(last.error < before)
    share = where(stays, 0.0, last.share)
    new = [added(own, dl, share) for own, (dl, _) in zip(now.impulses, changes, strict=True)]
    return Iterate(new, where(stays, before, last.error), now.turns + 1.0, where(stays, 1.0, 0.0))
