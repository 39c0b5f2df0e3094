"""Orders and conservation on trees that have every kind of joint, also with springs, damping and rotors."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from laws.random_trees import inertia, placement
from simulation.measured import order_of

J = fw.joints


def every_kind(gravity: tuple[float, float, float], *, base: J.Joint | None = None, passive: bool = False) -> fw.Model:
    """A tree with every kind of joint, two mimic joints among them; `base` carries it, or it is bolted down."""
    rng = np.random.default_rng(12)
    kinds = {
        "revolute": J.Revolute((1, 2, 2)), "continuous": J.Continuous((0, 1, -1)), "prismatic": J.Prismatic("x"),
        "helical": J.Helical("y", 0.2), "cylindrical": J.Cylindrical("z"), "universal": J.Universal("x", "y"),
        "planar": J.Planar(), "spherical": J.Spherical(), "loose": J.Free(), "bolted": J.Fixed(),
        "follower": J.Mimic(J.Revolute("z"), of="revolute_joint", ratio=-1.5, offset=0.2),
        "slider": J.Mimic(J.Prismatic("y"), of="helical_joint", ratio=0.3),
    }  # fmt: skip
    parents = ("root", "revolute", "root", "continuous", "prismatic", "root", "helical", "continuous", "universal",
               "revolute", "bolted", "follower")  # fmt: skip
    builder = fw.Builder("all", gravity=gravity)
    builder.add_body("root", joint=base, inertia=inertia(rng))
    for (name, kind), parent in zip(kinds.items(), parents, strict=True):
        extra = {"damping": 0.3, "stiffness": 2.0} if passive and kind.nv else {}
        if name == "revolute":
            extra["rotor"] = fw.Rotor(3.0, fw.Inertia(0.2, (0, 0, 0), 2e-3))
        builder.add_body(name, parent=parent, joint=kind, placement=placement(rng), inertia=inertia(rng), **extra)
    return builder.build()


def slow(model: fw.Model) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return model.random(rng), rng.normal(size=model.nv) * 0.4


FLOATING = every_kind((0.0, 0.0, -9.81), base=J.Free())
BOLTED = every_kind((0.0, 0.0, -9.81), passive=True)


@pytest.mark.parametrize("model", [FLOATING, BOLTED], ids=["floating", "bolted, with springs and damping"])
@pytest.mark.parametrize(("method", "order", "steps"), [("semi_implicit", 1, 512), ("rk4", 4, 64)])
def test_order_with_every_kind_of_joint(model: fw.Model, method: str, order: int, steps: int) -> None:
    q, v = slow(model)
    assert abs(order_of(method, model, q, v, time=0.4, steps=steps, finest=2048) - order) <= 0.1


def test_a_falling_tree_of_every_kind_keeps_momentum_and_energy() -> None:
    """Its linear momentum grows by what gravity gives, its angular momentum about the centre of mass stays."""
    q, v = slow(FLOATING)
    run = fw.simulate(FLOATING, q, v, duration=0.4, dt=2.5e-4, integrator="rk4", record_every=100)
    h = fw.momentum(FLOATING, run.q, run.v)
    mass = fw.mass_matrix(FLOATING, q)[0, 0]
    h[:, 2] += 9.81 * mass * run.t
    h[:, 3:] -= np.cross(fw.center_of_mass(FLOATING, run.q), fw.momentum(FLOATING, run.q, run.v)[:, :3])
    assert np.abs(h - h[0]).max() <= 1e-10 * np.abs(h[0]).max()
    assert np.ptp(run.energy()) <= 1e-10 * np.abs(run.energy()[0])


def test_quaternions_stay_unit_quaternions() -> None:
    q, v = slow(FLOATING)
    for method in ("semi_implicit", "rk4"):
        run = fw.simulate(FLOATING, q, v, duration=0.4, dt=2e-3, integrator=method)
        for joint in FLOATING.joints:
            if isinstance(joint.kind, (J.Free, J.Spherical)):
                lengths = np.linalg.norm(run.q[:, joint.q][:, -4:], axis=1)
                assert np.abs(lengths - 1.0).max() <= 1e-15
