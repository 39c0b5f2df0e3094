"""Worlds to see: a gripped box does not slip, dominoes fall in order, two robots push a crate."""

from __future__ import annotations

import numpy as np

from featherweight.experiments.dominoes import dominoes
from featherweight.experiments.gripper import gripper
from featherweight.experiments.stairs import SHORT, stairs
from featherweight.experiments.two_robots import two_robots


def test_a_box_is_lifted_and_does_not_slip() -> None:
    result = gripper(1.3)
    assert [claim.holds for claim in result.claims] == [True, True, True]
    assert result.run.q[-1, 6] > 0.2


def test_dominoes_fall_in_order() -> None:
    result = dominoes(1.2, 3)
    assert np.isfinite(result.falls).all()
    assert [claim.holds for claim in result.claims][:2] == [True, True]


def test_two_robots_push_and_newton_holds() -> None:
    result = two_robots(2.0)
    assert [claim.holds for claim in result.claims] == [True, True, True, True]
    assert np.abs(result.pushes["left"]).max() > 10.0


def test_a_person_who_falls_down_short_stairs_comes_to_rest() -> None:
    """What `experiment stairs --short` shows: all of its claims hold."""
    assert [claim.holds for claim in stairs(*SHORT).claims] == [True, True, True, True]
