"""Runs of robots with constants of their own: refused where no model could have them, and kept with the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw

NAMES = ("link.mass", "link.moment", "link_joint.damping", "link_joint.stiffness", "link_joint.position", "gravity",
         "link_joint.friction", "link_joint.armature", "ground.friction")  # fmt: skip


def pendulum(mass: float = 1.0, position: float = 0.0, **options: Any) -> fw.Model:
    link = fw.Inertia(mass, (0.0, 0.0, -0.5), 0.01)
    joint: dict[str, Any] = {"joint": fw.joints.Revolute("y"), "placement": fw.Placement((position, 0.0, 0.0))}
    builder = fw.Builder("pendulum", **options).add_body("link", inertia=link, **joint)
    return builder.add_contact_point("tip", parent="link", position=(0.0, 0.0, -1.0)).build()


MODEL = pendulum(parameters=NAMES)


def rollout(parameters: dict[str, Any], count: int = 4, **options: Any) -> fw.Trajectory:
    q, v = np.linspace(0.1, 1.0, count)[:, None], np.zeros((count, 1))
    return fw.rollout(MODEL, q, v, steps=20, dt=1e-3, parameters=parameters, **options)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ground.friction", -0.1, r"parameters: ground.friction is -0.1; expected numbers, 0 or more, up to 1e\+100"),
        (
            "ground.friction",
            [0.5, 0.5, -1e-9, 0.5],
            r"parameters: ground.friction\[2\] is -1e-09; expected .*0 or more",
        ),
        ("ground.friction", np.nan, r"parameters: ground.friction is nan; expected"),
        ("link.mass", [1.0, -1.0, 1.0, 1.0], r"parameters: link.mass\[1\] is -1; expected .*0 or more"),
        ("link.mass", np.inf, r"parameters: link.mass is inf; expected"),
        ("link.mass", 1e101, r"parameters: link.mass is 1e\+101; expected"),
        ("link_joint.damping", -1.0, r"parameters: link_joint.damping is -1; expected .*0 or more"),
        ("link_joint.friction", -1.0, r"parameters: link_joint.friction is -1; expected .*0 or more"),
        ("link_joint.stiffness", -1.0, r"parameters: link_joint.stiffness is -1; expected .*0 or more"),
        ("link_joint.armature", -1.0, r"parameters: link_joint.armature is -1; expected .*0 or more"),
        ("link_joint.position", (0.0, np.nan, 0.0), r"parameters: link_joint.position\[1\] is nan; expected .*finite"),
        ("gravity", (0.0, 0.0, -np.inf), r"parameters: gravity\[2\] is -inf; expected numbers, finite"),
        (
            "link.moment",
            [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            r"parameters: link.moment\[0, 1\] is 0.1; expected a symmetric matrix",
        ),
        ("link.mass", "heavy", r"link.mass: expected real numbers"),
        ("link_joint.position", (0.0, 1.0), r"link_joint.position: expected shape \(…, 3\)"),
    ],
)
def test_what_a_model_cannot_be_built_with_is_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        rollout({name: value}, contact=fw.contact.Impulse())
    if name != "ground.friction":
        with pytest.raises((ValueError, TypeError), match=message):
            fw.passive_force(MODEL, [0.1], [0.0], parameters={name: value})


def test_what_can_be_negative_or_zero_is_taken() -> None:
    taken = {"gravity": (0.0, -1.0, -9.0), "link_joint.position": (-1.0, 0.0, 0.0), "link_joint.damping": 0.0}
    assert (rollout(taken | {"ground.friction": 0.0}, contact=fw.contact.Impulse()).status == fw.Status.OK).all()


@pytest.mark.parametrize("shape", [(), (4,)])
def test_energy_is_that_of_the_robots_that_were_simulated(shape: tuple[int, ...]) -> None:
    """Not of the model with its own numbers: a frictionless pendulum keeps its energy, whatever its mass."""
    mass = np.broadcast_to(np.array([1.0, 2.0, 3.0, 0.5])[:, None] if shape else 3.0, (*shape, 1))[..., 0]
    run = rollout({"link.mass": mass, "gravity": (0.0, 0.0, -5.0)}, integrator="rk4")
    for k in range(4):
        alone = pendulum(float(np.broadcast_to(mass, 4)[k]), gravity=(0.0, 0.0, -5.0))
        energy = fw.kinetic_energy(alone, run.q[k], run.v[k]) + fw.potential_energy(alone, run.q[k])
        np.testing.assert_allclose(run.energy()[k], energy, rtol=1e-12)
        np.testing.assert_allclose(run.lane(k).energy(), energy, rtol=1e-12)
    assert np.ptp(run.energy(), axis=1).max() <= 1e-9
    kinetic, potential = run.energies()
    assert (kinetic + potential == run.energy()).all()
    assert (kinetic[:, 0] == 0).all()


def test_constants_are_kept_in_files(tmp_path: Path) -> None:
    position = np.random.default_rng(0).normal(size=(4, 3))
    given = {"link.mass": np.array([1.0, 2.0, 3.0, 0.5]), "link_joint.position": position}
    run = rollout(given, file=tmp_path / "growing.fw")
    run.save(tmp_path / "whole.fw")
    for name in ("growing.fw", "whole.fw"):
        loaded = fw.Trajectory.load(tmp_path / name)
        assert list(loaded.parameters) == list(given)
        assert all((loaded.parameters[n] == given[n]).all() for n in given)
        assert (loaded.energy() == run.energy()).all()
    again = rollout(given, file=tmp_path / "growing.fw")  # nothing is left to do
    assert (again.energy() == run.energy()).all()
    assert not rollout({}).parameters


def test_a_robot_looks_as_it_was_simulated() -> None:
    from featherweight.visuals import motion_of

    position = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]])
    run = rollout({"link_joint.position": position})
    for k in range(4):
        assert (motion_of(run, lane=k).position[0, 1] == position[k]).all()
        assert np.abs(motion_of(run, lane=k).com[0] - position[k]).max() <= 0.5


def test_constants_of_the_model_that_are_traced() -> None:
    """Inside of a controller, functions take parameters too; without them they are the model's own numbers."""

    def control(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        own = fw.gravity_force(MODEL, q, parameters={"link.mass": p[0], "gravity": [0.0, 0.0, -9.0]})
        return own + 10.0 * fw.gravity_force(MODEL, np.array([0.1]), parameters={"link.mass": p[0]}), x

    mass = np.array([[1.0], [2.0], [5.0]])
    q = np.array([[0.1], [0.2], [0.3]])
    run = fw.rollout(MODEL, q, np.zeros((3, 1)), steps=1, dt=1e-3, control=fw.compiled(control, parameters=mass))
    for k in range(3):
        heavy = {"link.mass": mass[k, 0]}
        own = fw.gravity_force(MODEL, q[k], parameters={**heavy, "gravity": [0.0, 0.0, -9.0]})
        np.testing.assert_allclose(
            run.tau[k, 0], own + 10 * fw.gravity_force(MODEL, [0.1], parameters=heavy), rtol=1e-14
        )
    misspelt = lambda t, q, v, x, p: (fw.gravity_force(MODEL, q, parameters={"link.mas": p[0]}), x)  # noqa: E731
    wrong = fw.compiled(misspelt, parameters=[1.0])
    with pytest.raises(fw.SimulationError, match=r"'link.mas' was not declared .* did you mean 'link.mass'"):
        fw.rollout(MODEL, q, np.zeros((3, 1)), steps=1, dt=1e-3, control=wrong)


def test_a_lane_is_a_trajectory() -> None:
    run = rollout({"link.mass": [1.0, 2.0, 3.0, 4.0]}, contact=fw.contact.Impulse(), record_every=2)
    one = run.lane(2, every=3)
    assert one.q.shape == (4, 1)
    assert one.t.tolist() == run.t[::3].tolist()
    assert (one.q == run.q[2, ::3]).all()
    assert one.contact_force.shape == (4, 1, 3)
    assert float(one.parameters["link.mass"]) == 3.0
    assert rollout({}).lane(3).contact_force.shape == (20, 0, 3)
    for bad in (4, -1, True, 1.0, "a"):
        with pytest.raises(ValueError, match=r"lane: expected a number from 0 to 3, got"):
            run.lane(bad)
