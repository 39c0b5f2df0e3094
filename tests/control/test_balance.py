"""The humanoid stands and is pushed."""

from __future__ import annotations

import numpy as np

import featherweight as fw

SCENE = fw.scenes.balance()


def test_the_humanoid_stands_and_its_root_receives_nothing() -> None:
    # two at once are the code of packs, as below: compiled once, and one robot alone has the same bits
    both = fw.rollout(SCENE.model, np.tile(SCENE.q, (2, 1)), SCENE.v, steps=10_000, **SCENE.means)
    run = both.lane(0)
    assert (run.tau[:, :6] == 0.0).all()
    assert np.ptp(run.q[:, 2]) <= 2e-3
    assert np.abs(fw.center_of_mass(SCENE.model, run.q[-1]) - fw.center_of_mass(SCENE.model, run.q[0])).max() <= 5e-3
    limits = np.array([np.ravel(joint.limits.effort)[0] for joint in SCENE.model.joints[1:]])
    assert (np.abs(run.tau[:, 6:]) <= limits).all()
    feet = [f"{side}_{p}" for side in ("left", "right") for p in ("heel_inner", "heel_outer", "toe_inner", "toe_outer")]
    slid = sum(s.slip for s in fw.control.stances(run, feet)) / 8
    assert slid <= 1e-3


def test_it_survives_pushes_of_5_newton_seconds_from_all_sides() -> None:
    angle = np.arange(8) * np.pi / 4
    force = 50.0 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    model = SCENE.model
    base = fw.control.balance(model, SCENE.q)
    control = fw.control.pushed(base, model, "chest", force=force, start=0.5, duration=0.1)
    means = {**SCENE.means, "control": control}
    run = fw.rollout(model, SCENE.q, SCENE.v, steps=4000, record_every=20, **means)
    assert (run.status == fw.Status.OK).all()
    assert np.abs(run.q[..., 2] - SCENE.q[2]).max() <= 0.02
    moved = fw.center_of_mass(model, run.q) - fw.center_of_mass(model, SCENE.q)
    assert np.abs(moved).max() > 0.003  # it did feel them
    assert np.abs(moved[:, -1]).max() <= 0.005
    pushed = (run.t[:-1] >= 0.5) & (run.t[:-1] < 0.6)
    assert (run.tau[:, ~pushed, :6] == 0.0).all()
    assert np.abs(run.tau[:, pushed, :6]).max() > 0
