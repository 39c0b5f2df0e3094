"""Constraints of users: what the solver gives is what dense algebra gives, for one body, two bodies, mimic joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.constraints import Block, Constraint, Equality, Push
from featherweight.contact import Impulse
from featherweight.spatial import Vector

TIP = (0.0, 0.0, -0.4)


@dataclass(frozen=True)
class Together(Constraint):
    """Two points, one of each body, keep their distance vector: three equalities on two bodies."""

    a: str
    b: str
    says: int = 3  # how many blocks it claims to have

    def block_sizes(self, model: fw.Model) -> list[int]:
        return [1] * self.says

    def blocks(self, at: Any) -> list[Block]:
        a, b = (at.model.body(name).index for name in (self.a, self.b))
        tip = Vector(*TIP)
        blocks = []
        for k in range(3):
            along = Vector(*(float(k == n) for n in range(3)))
            push = Push({a: at.force_at(a, tip, along), b: at.force_at(b, tip, -along)})
            blocks.append(Block(Equality(), (a, b), True, lambda push=push: [push]))
        return blocks


def arms(*, mimic: bool = False, free: bool = True) -> fw.Model:
    """A base with two arms of two links each; the second arm's first link follows the first one's, if `mimic`."""
    build = fw.Builder("arms")
    joint = fw.joints.Free() if free else fw.joints.Revolute("z")
    build.add_body("base", joint=joint, inertia=fw.Inertia.box(3.0, (0.3, 0.2, 0.1)))
    for side, y in (("left", 0.2), ("right", -0.2)):
        upper: Any = fw.joints.Revolute("y")
        if mimic and side == "right":
            upper = fw.joints.Mimic(fw.joints.Revolute("x"), "left_upper_joint", -1.5, 0.1)
        body = fw.Inertia.box(1.0, (0.05, 0.05, 0.4), (0.0, 0.0, -0.2))
        build.add_body(f"{side}_upper", parent="base", joint=upper, placement=fw.Placement((0, y, 0)), inertia=body)
        build.add_body(
            f"{side}_lower", parent=f"{side}_upper", joint=fw.joints.Universal("x", "y"),
            placement=fw.Placement(TIP), inertia=body,
        )  # fmt: skip
    return build.build()


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
@pytest.mark.parametrize("kind", [{}, {"free": False}, {"mimic": True}, {"mimic": True, "free": False}])
def test_two_bodies_are_held_together_as_dense_algebra_says(kind: dict[str, bool], integrator: str) -> None:
    model, rng = arms(**kind), np.random.default_rng(3)
    q, v = model.random(rng), rng.normal(size=model.nv)
    h, ties = 1e-3, Together("left_lower", "right_lower")
    options: dict[str, Any] = {"steps": 1, "dt": h, "integrator": integrator}
    free = fw.rollout(model, q, v, **options)
    held = fw.rollout(model, q, v, constraints=ties, **options)
    assert held.status == fw.Status.OK

    # M (v⁺ - v⁻) = Jᵀ λ, J v⁺ = 0, where the constraint acts: at the beginning, or at the end of a variational step
    at = q if integrator == "semi_implicit" else free.q[-1]
    J = _jacobian(model, at)
    M = fw.mass_matrix(model, at)
    answer = np.linalg.solve(M, J.T)
    before = free.v[-1]
    if integrator == "semi_implicit":  # velocities of free bodies turn with them at the end of a step
        before, after = (_unturned(model, run, h) for run in (free, held))
    else:
        after = held.v[-1]
    expected = before - answer @ np.linalg.lstsq(J @ answer, J @ before, rcond=None)[0]
    np.testing.assert_allclose(after, expected, rtol=0, atol=3e-7)
    np.testing.assert_allclose(J @ after, 0.0, atol=3e-7)


def _jacobian(model: fw.Model, q: np.ndarray) -> np.ndarray:
    """Of the difference of both points, in the world's axes."""
    rows = []
    for name in ("left_lower", "right_lower"):
        J = fw.jacobian(model, q, name, "world_aligned")
        r = fw.frame_pose(model, q, name).rotation @ np.array(TIP)
        skew = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        rows.append(J[:3] - skew @ J[3:])
    return rows[0] - rows[1]


def _unturned(model: fw.Model, run: fw.Trajectory, h: float) -> np.ndarray:
    """v⁺ in the axes of the beginning: what moved the robot."""
    return fw.difference(model, run.q[0], run.q[-1]) / h if model.nv == model.nq else _of_free(run, h)


def _of_free(run: fw.Trajectory, h: float) -> np.ndarray:
    v = run.v[-1].copy()
    begin, end = (fw.frame_pose(run.model, q, "base").rotation for q in (run.q[0], run.q[-1]))
    turn = begin.T @ end
    v[:3], v[3:6] = turn @ v[:3], turn @ v[3:6]
    return v


def test_alone_and_in_a_batch_compiled_and_interpreted() -> None:
    model, rng = arms(), np.random.default_rng(4)
    q, v = np.stack([model.random(rng) for _ in range(11)]), rng.normal(size=(11, model.nv))
    options: dict[str, Any] = {"steps": 5, "dt": 1e-3, "constraints": [Together("left_lower", "right_lower")]}
    whole = fw.rollout(model, q, v, **options)
    for k in (0, 10):
        np.testing.assert_array_equal(fw.rollout(model, q[k], v[k], **options).q, whole.q[k])
    with fw.interpret():
        np.testing.assert_allclose(fw.rollout(model, q[:2], v[:2], **options).q, whole.q[:2], rtol=0, atol=1e-9)


def test_together_with_contact_and_limits() -> None:
    build = fw.Builder("pair")
    for name, x in (("one", 0.0), ("other", 1.0)):
        shape = fw.Inertia.box(1.0, (0.2, 0.2, 0.2))
        build.add_body(name, joint=fw.joints.Free(), placement=fw.Placement((x, 0, 0)), inertia=shape)
        build.add_contact_point(f"{name}_p", parent=name, radius=0.1)
    model = build.build()
    q = model.neutral()
    q[2], q[9] = 0.5, 0.8
    run = fw.rollout(
        model, q, np.zeros(12), steps=1500, dt=1e-3, contact=Impulse(), constraints=Together("one", "other")
    )
    assert run.status == fw.Status.OK
    apart = run.q[:, 9] - run.q[:, 2]
    assert abs(apart[0] - 0.3) < 1e-12
    tips = [fw.frame_pose(model, run.q, name) for name in ("one", "other")]
    places = [p.position + p.rotation @ np.array(TIP) for p in tips]
    gap = places[0] - places[1]
    assert np.abs(gap - gap[0]).max() < 2e-3


def test_what_a_constraint_says_wrongly_is_refused_with_what_to_do() -> None:
    model = arms()
    start = model.neutral(), np.zeros(model.nv)

    @dataclass(frozen=True)
    class Elsewhere(Together):
        def blocks(self, at: Any) -> list[Block]:
            return [Block(b.law, b.bodies[:1], True, b.pushes) for b in super().blocks(at)]

    with pytest.raises(ValueError, match=r"said blocks of \[1, 1\] impulses, and gave blocks of \[1, 1, 1\]"):
        fw.rollout(model, *start, steps=1, dt=1e-3, constraints=Together("left_lower", "right_lower", says=2))
    with pytest.raises(ValueError, match=r"name all of them in Block\.bodies"):
        fw.rollout(model, *start, steps=1, dt=1e-3, constraints=Elsewhere("left_lower", "right_lower"))
    with pytest.raises(TypeError, match=r"constraints: expected a Constraint of featherweight\.constraints or several"):
        fw.rollout(model, *start, steps=1, dt=1e-3, constraints="rope")
    with pytest.raises(ValueError, match=r"not in those of RK4\(\): an impact within a step"):
        fw.rollout(model, *start, steps=1, dt=1e-3, constraints=Together("left_lower", "right_lower"), integrator="rk4")
