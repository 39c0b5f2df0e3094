"""The ragdoll and the balance of the notes on articulated-body inertia."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.experiments.balance import PUSHES, Balance, balance, push_marks
from featherweight.experiments.ragdoll import Ragdoll, ragdoll


@pytest.fixture(scope="module")
def fallen() -> Ragdoll:
    return ragdoll()


@pytest.fixture(scope="module")
def pushed() -> Balance:
    return balance()


def test_what_the_notes_say_of_a_ragdoll(fallen: Ragdoll) -> None:
    assert [claim.holds for claim in fallen.claims] == [True, False, False, False, False, True, False]
    assert fallen.whole_error < 1e-9
    assert fallen.torque_whole < 1e-9 < 1e-2 < fallen.torque
    assert min(fallen.base_error, fallen.joint_error) > 0.1


def test_on_the_ground_the_ground_carries_it_and_nothing_holds_the_root(fallen: Ragdoll) -> None:
    assert fallen.pushes == pytest.approx(fallen.weight, rel=0.02)
    assert abs(fallen.f_0_whole) < 1e-6 < 50 < abs(fallen.f_0 - fallen.pushes)


def test_contact_only_takes_energy(fallen: Ragdoll) -> None:
    energy = fallen.run.energy()
    assert np.diff(energy).max() < 1.0  # [J] of some 900: what joint limits and rounding of the step leave
    assert energy[-1] < energy[0] - 300


def test_what_the_notes_say_of_control(pushed: Balance) -> None:
    assert [claim.holds for claim in pushed.claims] == [True, False, False, False]
    assert pushed.root == 0.0
    assert pushed.ground == pytest.approx(pushed.weight, rel=1e-3)
    assert pushed.hybrid < 1e-8 < 10 < pushed.from_nowhere
    assert pushed.f_0 < 1e-8
    assert pushed.torque_error < 1e-9


def test_it_stands_after_small_pushes_and_falls_after_large_ones(pushed: Balance) -> None:
    stands = dict(zip(PUSHES, pushed.stands.tolist(), strict=True))
    assert stands[0.0]
    assert stands[30.0]
    assert not stands[80.0]
    marks = push_marks(pushed.runs.lane(3), 300.0)
    assert len(marks.shown(0.55)) == 1
    assert not len(marks.shown(0.7))
