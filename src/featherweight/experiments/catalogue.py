"""The experiments by name, each a module of this package with an `EXPERIMENT`; a hyphen is an underline there."""

from __future__ import annotations

import importlib

from featherweight.errors import no_such
from featherweight.experiments.experiment import Experiment

EXPERIMENTS = (
    "trot", "ragdoll", "balance", "cartpole", "branches", "energy", "convergence", "scaling", "gripper", "tower",
    "dominoes", "boxes", "two-robots", "stairs",
)  # fmt: skip


def named(name: str) -> Experiment:
    """The experiment with this name."""
    if name not in EXPERIMENTS:
        raise no_such("experiment", name, EXPERIMENTS)
    found: Experiment = importlib.import_module(f"featherweight.experiments.{name.replace('-', '_')}").EXPERIMENT
    return found
