"""Controllers on robots and numbers that are not for them: clear errors; on wild states: finite torques."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

CHEETAH = fw.robots.mini_cheetah()
CROUCHED = fw.scenes.crouched(CHEETAH)
HUMANOID = fw.robots.humanoid()
STANDING = fw.scenes.standing(HUMANOID)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fw.control.trot(fw.robots.chain(3), [0.0] * 3), r"trot: expected a robot with a free base"),
        (lambda: fw.control.trot("robot", CROUCHED), r"model: expected a featherweight Model, got str"),
        (lambda: fw.control.trot(HUMANOID, STANDING), r"trot: expected four feet .* found none in 'humanoid'"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED[:-1]), r"q: expected shape \(…, nq\) = \(…, 19\), got \(18,\)"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED * np.nan), r"q: expected finite numbers"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, feet=("a", "b")), r"has no contact point 'a' for a foot"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, feet=("FR_foot",)), r"trot: expected four feet .*found FR_foot"),
        (
            lambda: fw.control.trot(CHEETAH, CROUCHED, feet=("FR_knee_point", "FL_foot", "HR_foot", "HL_foot")),
            r"expected 3 joints between the base and 'FR_knee_point', got 2",
        ),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, most=20.0), r"most: two feet with 20 N each cannot carry"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, friction=0.0), r"friction: expected a number > 0, got 0.0"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, duty=0.3), r"duty: expected a share from 0.5"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, velocity=(1.0, 2.0)), r"velocity: expected three finite numbers"),
        (lambda: fw.control.balance(CHEETAH, CROUCHED), r"no frame named 'left_foot'"),
        (lambda: fw.control.balance(HUMANOID, STANDING, feet=("left_foot",)), r"expected the names of two feet"),
        (lambda: fw.control.balance(HUMANOID, STANDING, feet=("left_hand", "right_hand")), r"three contact points"),
        (lambda: fw.control.balance(fw.robots.humanoid(ball_joints=True), np.r_[STANDING, np.zeros(5)]), r"balance: "),
        (lambda: fw.control.operational_space(CHEETAH, "body", place=[0] * 3, posture=CROUCHED), r"has a free base"),
        (lambda: fw.control.joint_pd(CHEETAH, CROUCHED, stiffness=[1.0, 2.0]), r"stiffness: expected numbers"),
        (lambda: fw.control.pushed(len, CHEETAH, "body", force=[0, 0, 1]), r"control: expected a compiled controller"),
        (lambda: fw.scenes.trot(contact="glue"), r'contact: expected "impulse" or "spring", got \'glue\''),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(call, message) -> None:
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        call()


@pytest.mark.parametrize("which", ["trot", "balance"])
def test_torques_are_finite_in_any_state(which: str) -> None:
    """Straight legs, upside down, spinning, far away: compiled, in one batch of a thousand and one step."""
    model, q0 = (CHEETAH, CROUCHED) if which == "trot" else (HUMANOID, STANDING)
    control = fw.control.named(which, model, q0)
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(1000)])
    q[:200, 7:] = 0.0  # straight: singular
    q[200:300] = q0
    v = rng.normal(size=(1000, model.nv)) * 10.0 ** rng.uniform(-3, 2, (1000, 1))
    run = fw.rollout(model, q, v, steps=1, dt=1e-5, control=control)
    assert set(run.status) == {fw.Status.OK}
    assert np.isfinite(run.tau).all()
    assert (run.tau[..., :6] == 0.0).all()
