"""A step of the variational integrator: what it begins with, and where it ends once δ is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from featherweight import algorithms
from featherweight.integrators.variational.drnea import Trial
from featherweight.integrators.variational.floating import floating_momentum
from featherweight.integrators.variational.forces import Acting, Braked
from featherweight.integrators.variational.legendre import momentum_after, read_out
from featherweight.integrators.variational.riqn import MassSolver
from featherweight.integrators.variational.solve import Found, Search
from featherweight.integrators.variational.step_end import StepEnd
from featherweight.model import Tree


class Arrival(NamedTuple):
    """δ with its last correction, the state it leads to, and the momenta of floating bodies, by degree of freedom."""

    delta: list[Any]
    q: list[Any]
    v: list[Any]
    momenta: dict[int, Any]


@dataclass(frozen=True)
class Step:
    """A step of h from q, which begins with these momenta; and what acts."""

    tree: Tree
    q: Sequence[Any]
    h: Any
    begin: Sequence[Any]
    acting: Acting
    braked: Braked

    @property
    def shares(self) -> bool:
        """The factors of M are the same for e and for the velocity."""
        return self.braked.alike and self.acting.external is None and not self.tree.coupled

    def end(self, trial: Trial, answer: MassSolver) -> StepEnd:
        """Where a trial ends, made with the factors of M there."""
        forces = self.acting.at_end(answer.tree, answer.q, trial.delta)
        return StepEnd(answer, answer.inward(self._momenta(answer.tree, trial, trial.delta, forces)))

    def arrival(self, found: Found, search: Search, along: Tree) -> Arrival:
        """Where what was found ends, in passes of this tree."""
        if found.ended is None:
            return self._anew(found, search, along)
        return self._by_factors(found.ended, found, search, along)

    def _by_factors(self, first: StepEnd, found: Found, search: Search, along: Tree) -> Arrival:
        """With factors that are made for the first trial, or for the last one if that is another one."""
        ended = first.unless(found.same, lambda: self.end(found.trial, search.answer_after(found.trial)))
        ended = ended.along(along)
        delta = found.corrected(ended.answer, along)
        q = algorithms.integrate(along, self.q, delta)
        own = self._floating(along, delta, self.acting.at_end(along, q, delta))
        return Arrival(delta, q, ended.with_momenta(own, along).velocity(self.h, along), own)

    def _anew(self, found: Found, search: Search, along: Tree) -> Arrival:
        """With factors that are made at q⁺."""
        return self.landed(found.trial, found.corrected(search.answers, along), along)

    def landed(self, trial: Trial, delta: Sequence[Any], along: Tree) -> Arrival:
        """Where a step δ ends, of which a trial close to it is known."""
        q = algorithms.integrate(along, self.q, delta)
        forces = self.acting.at_end(self.tree, q, delta)
        p, own = self._momenta(self.tree, trial, delta, forces), self._floating(self.tree, delta, forces)
        joints = replace(along, joints=self.braked.end.joints).moved(self.q, delta, q).joints
        v = read_out(replace(self.tree, joints=joints), q, self.h, [own.get(k, x) for k, x in enumerate(p)])
        return Arrival(list(delta), q, v, self.braked.rubbed(own, v, self.h))

    def _momenta(self, along: Tree, trial: Trial, delta: Sequence[Any], forces: Sequence[Any]) -> list[Any]:
        tree = replace(self.tree, weave=along.weave)
        return momentum_after(tree, self.begin, trial, delta, self.h, self.braked, forces)

    def _floating(self, along: Tree, delta: Sequence[Any], forces: Sequence[Any]) -> dict[int, Any]:
        return floating_momentum(along, self.q, self.begin, delta, self.h, self.braked, forces)
