"""A derivation as numbered steps: text and formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Symbol

from featherweight.equations.expressions import column
from featherweight.equations.mechanism import Mechanism


@dataclass(frozen=True)
class DerivationStep:
    """A heading, a sentence or two, and formulas: a symbol and what it is equal to; `collected` if they are short."""

    title: str
    text: str
    formulas: Sequence[tuple[Any, Any]] = ()
    collected: bool = False


def labelled(letter: str, *labels: str) -> Symbol:
    """A symbol with words below it: the names of links and joints, axes."""
    return Symbol(f"{letter}_{','.join(label.replace('_', '-').replace(',', '-') for label in labels)}")


def centres_of_mass(mechanism: Mechanism) -> DerivationStep:
    """The first step of a derivation: centres of mass."""
    shown = [(labelled("r", link.name), column(mechanism.at(link.body, link.com))) for link in mechanism.links]
    return DerivationStep("Where the centres of mass are", "In world axes, as functions of the coordinates.", shown)
