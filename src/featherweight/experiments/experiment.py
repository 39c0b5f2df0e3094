"""The form of an experiment: a name, the source it is from, and a function that runs it, measures and draws.

To add one, write a file with an `EXPERIMENT` and put its name into `catalogue.EXPERIMENTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from featherweight.experiments.claim import Claim

SOURCES = {
    "000": "Forward dynamics of a quadruped (lecture notes)",
    "001": "Articulated-body inertia, line by line, for a ragdoll (notes)",
    "002": "Dynamics 1: multi-body dynamics (lecture notes)",
    "003": "Branched kinematic chains (Featherstone's thesis, section 8.2)",
    "004": "A linear-time variational integrator for multibody systems (notes on a paper)",
    "laws": "Contact between bodies: Signorini's, Coulomb's and Newton's laws, as textbooks have them",
}
Tell = Callable[[str], None]  # what it is doing


@dataclass(frozen=True)
class Table:
    """Figures beside the claims, as texts."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Outcome:
    """What an experiment found, and the files it wrote into its folder: what they show, by name of the file."""

    claims: Sequence[Claim]
    tables: Sequence[Table] = ()
    pictures: dict[str, str] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()  # paragraphs: what one sees, and why


@dataclass(frozen=True)
class Experiment:
    """An experiment of a source.

    Args:
        name: by which the command line knows it.
        source: its number, a key of SOURCES.
        title: one line.
        run: makes it: a folder for its files, what is told while it runs, and whether a short variant will do.
    """

    name: str
    source: str
    title: str
    run: Callable[[Path, Tell, bool], Outcome]
