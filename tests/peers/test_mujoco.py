"""Mass matrix and bias force against MuJoCo, on the built-in robots, through the converters."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import featherweight as fw
from peers.mujoco_adapter import joint_order, to_mujoco

STATES = 20


def zoo() -> fw.Model:
    """The kinds that MuJoCo builds of several joints, in a branching tree whose order is not depth first."""
    rng = np.random.default_rng(3)
    J = fw.joints
    kinds = [J.Free(), J.Universal("x", "z"), J.Spherical(), J.Cylindrical("y"), J.Planar(), J.Prismatic((1, 2, 3))]
    builder = fw.Builder("zoo")
    for k, (kind, parent) in enumerate(zip(kinds, (0, 1, 1, 2, 3, 2), strict=True), start=1):
        builder.add_body(
            f"body{k}",
            parent=f"body{parent}" if parent else "world",
            joint=kind,
            placement=fw.Placement(rng.normal(size=3), rpy=rng.normal(size=3)) if parent else None,
            inertia=fw.Inertia.box(rng.uniform(1, 2), rng.uniform(0.1, 0.5, 3), rng.normal(size=3) * 0.1),
            armature=0.0 if isinstance(kind, (J.Free, J.Planar)) else 0.02,  # ours is in the body's axes there
        )
    return builder.build()


def hand() -> fw.Model:
    """Fingers that follow others, before and after them in MuJoCo's order; on an arm."""
    J, inertia = fw.joints, fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0))
    builder = fw.Builder("hand")
    for k, (name, parent, kind) in enumerate((
        ("base", "world", J.Free()),
        ("a", "base", J.Mimic(J.Revolute("x"), "c_joint", -1.5, 0.2)),
        ("b", "base", J.Revolute((1, 2, 3))),
        ("c", "a", J.Prismatic("y")),
        ("d", "b", J.Mimic(J.Prismatic((1, 1, 0)), "b_joint", 0.5, -0.1)),
    )):  # fmt: skip
        place = fw.Placement((0.1 * k, 0.2, 0.1), rpy=(0.3, 0.1 * k, 0.2)) if k else None
        builder.add_body(name, parent=parent, joint=kind, inertia=inertia, placement=place, armature=0.03 * (k > 0))
    return builder.build()


ROBOTS = {
    "pendulum": fw.robots.pendulum,
    "double_pendulum": fw.robots.double_pendulum,
    "cartpole": fw.robots.cartpole,
    "chain": lambda: fw.robots.chain(8),
    "mini_cheetah without rotors": lambda: fw.robots.mini_cheetah(rotors="none"),
    "mini_cheetah with armature": lambda: fw.robots.mini_cheetah(rotors="armature"),
    "humanoid": fw.robots.humanoid,
    "humanoid with ball joints": lambda: fw.robots.humanoid(ball_joints=True),
    "zoo": zoo,
    "hand with mimic joints": hand,
}


def velocity_map(model: fw.Model, q: np.ndarray, names: list[str]) -> np.ndarray:
    """T with qvel = T v."""
    return np.array([fw.convert.to_mujoco(model, q, unit, names)[1] for unit in np.eye(model.nv)]).T


def map_rate(model: fw.Model, q: np.ndarray, v: np.ndarray, names: list[str]) -> np.ndarray:
    """(dT/dt) v: what turning axes add to MuJoCo's acceleration, by fourth-order differences."""

    def qvel(t: float) -> np.ndarray:
        return fw.convert.to_mujoco(model, fw.integrate(model, q, v, t), v, names)[1]

    h = 1e-3
    return (8 * (qvel(h) - qvel(-h)) - (qvel(2 * h) - qvel(-2 * h))) / (12 * h)


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix_and_bias_force(name: str) -> None:
    model = ROBOTS[name]()
    mj, names = to_mujoco(model), joint_order(model)
    data = mujoco.MjData(mj)
    rng = np.random.default_rng(0)
    for _ in range(STATES):
        q, v = model.random(rng), rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:] = fw.convert.to_mujoco(model, q, v, names)
        mujoco.mj_forward(mj, data)
        M = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, data, M)
        T = velocity_map(model, q, names)
        ours = fw.mass_matrix(model, q)
        theirs = T.T @ M @ T
        assert np.abs(ours - theirs).max() <= 1e-10 * np.abs(theirs).max()
        bias = T.T @ (data.qfrc_bias + M @ map_rate(model, q, v, names))
        assert np.abs(fw.bias_force(model, q, v) - bias).max() <= 1e-10 * max(1.0, np.abs(bias).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_poses_and_round_trip(name: str) -> None:
    """MuJoCo puts every body where we do; back and forth changes nothing."""
    model = ROBOTS[name]()
    mj, names = to_mujoco(model), joint_order(model)
    data = mujoco.MjData(mj)
    rng = np.random.default_rng(1)
    q = np.array([model.random(rng) for _ in range(5)])
    v = rng.normal(size=(5, model.nv))
    qpos, qvel = fw.convert.to_mujoco(model, q, v, names)
    back_q, back_v = fw.convert.from_mujoco(model, qpos, qvel, names)
    assert np.abs(back_q - q).max() <= 1e-15
    assert np.abs(back_v - v).max() <= 1e-14
    poses = fw.forward_kinematics(model, q)
    for k in range(5):
        data.qpos[:] = qpos[k]
        mujoco.mj_kinematics(mj, data)
        for i in range(1, model.nb + 1):
            assert np.allclose(data.body(model.names[i]).xpos, poses.position[k, i], atol=1e-12)
            assert np.allclose(data.body(model.names[i]).xmat.reshape(3, 3), poses.rotation[k, i], atol=1e-12)


@pytest.mark.parametrize("name", ["mini_cheetah with armature", "humanoid"])
def test_accelerations_and_forces_of_a_free_base_are_as_the_how_to_says(name: str) -> None:
    """Along the world's axes there: qacc is the classical acceleration of the base, forces are turned."""
    model = ROBOTS[name]()
    mj, names, base = to_mujoco(model), joint_order(model), model.names[1]
    data = mujoco.MjData(mj)
    rng = np.random.default_rng(2)
    q, v, tau = model.random(rng), rng.normal(size=model.nv), np.zeros(model.nv)
    tau[:6] = rng.normal(size=6)
    data.qpos[:], data.qvel[:] = fw.convert.to_mujoco(model, q, v, names)
    R = fw.frame_pose(model, q, base).rotation
    data.qfrc_applied[:6] = *(R @ tau[:3]), *tau[3:6]
    mujoco.mj_forward(mj, data)
    a = fw.forward_dynamics(model, q, v, tau)
    ours = fw.body_acceleration(model, q, v, a, base, in_="world_aligned", classical=True)
    np.testing.assert_allclose(data.qacc[:3], ours[:3], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(data.qacc[3:6], a[3:6], rtol=1e-9, atol=1e-9)


def test_what_cannot_be_converted_is_named() -> None:
    screw = fw.Builder().add_body("nut", joint=fw.joints.Helical("z", 0.1), inertia=fw.Inertia.sphere(1, 0.1)).build()
    with pytest.raises(fw.ModelError, match="MuJoCo has no helical joint"):
        fw.convert.to_mujoco(screw, [0.0])
    with pytest.raises(ValueError, match="q: expected shape"):
        fw.convert.to_mujoco(fw.robots.cartpole(), [0.0])
    with pytest.raises(fw.ModelError, match="every moving joint of 'hand' once; there is no 'd_joint'"):
        fw.convert.to_mujoco(hand(), hand().neutral(), names=[name for name in hand().joint_names if name[0] != "d"])
    with pytest.raises(fw.ModelError, match="every moving joint of 'hand' once; one is there twice"):
        fw.convert.to_mujoco(hand(), hand().neutral(), names=[*hand().joint_names, "d_joint"])
    with pytest.raises(fw.ModelError, match="every moving joint of 'cartpole' once; there is no 'hinge'"):
        fw.convert.to_mujoco(fw.robots.cartpole(), [0.0, 0.0], names=["rail"])
