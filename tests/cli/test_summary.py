"""A run in a few numbers: they are those of the trajectory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import featherweight as fw
from featherweight.report import summary


def sliding() -> fw.Trajectory:
    """A block that slides on three points until friction has stopped it: v² / (2 μ g)."""
    builder = fw.Builder("block").add_body("block", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (1, 1, 0.02)))
    for name, x, y in (("a", 0.4, 0.0), ("b", -0.2, 0.3), ("c", -0.2, -0.3)):
        builder.add_contact_point(name, parent="block", position=(x, y, -0.01))
    model = builder.build()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[0] = 0.01, 1.0
    contact = fw.contact.Impulse(friction=0.5)
    return fw.simulate(model, q, v, duration=0.5, dt=1e-3, contact=contact)


def values(run: fw.Trajectory, **options: float) -> dict[str, object]:
    return {line.name: line.value for line in summary(run, **options)}


def test_slip_is_the_way_that_was_slid() -> None:
    run = sliding()
    told = values(run, seconds=0.25)
    assert told["slip"] == pytest.approx(1.0 / (2 * 0.5 * 9.81), rel=0.03)
    assert told["slip"] == pytest.approx(run.q[-1, 0], rel=0.03)
    assert (told["status"], told["duration"], told["real_time_factor"]) == ("OK", 0.5, 2.0)
    assert told["contact_points_used"] == 3
    assert told["energy_end"] == run.energy()[-1]
    assert told["largest_contact_force"] == np.linalg.norm(run.contact_force, axis=-1).max()
    assert told["sweeps_most"] == run.solver[:, 0].max()


def test_a_point_that_does_not_press_does_not_slip() -> None:
    """Its speed along the ground is recorded also where it is in the air."""
    run = sliding()
    force = run.contact_force.copy()
    force[:, :2], force[100:, 2] = 0.0, 0.0
    told = {line.name: line for line in summary(replace(run, contact_force=force))}
    assert told["slip"].value == pytest.approx(run.contact_slip[:100, 2].sum() * 1e-3)
    assert told["slip"].text.endswith("(c)")
    assert told["contact_points_used"].value == 1


def test_energy_is_told_as_it_begins_ends_and_varies() -> None:
    run = fw.simulate(fw.robots.pendulum(), [1.0], [0.0], duration=1.0, dt=1e-2)
    told, energy = values(run), run.energy()
    assert (told["energy_start"], told["energy_end"]) == (energy[0], energy[-1])
    assert told["energy_band"] == energy.max() - energy.min() > abs(energy[-1] - energy[0])


def test_a_run_without_contact_says_nothing_of_it() -> None:
    run = fw.simulate(fw.robots.pendulum(), [1.0], [0.0], duration=0.1, dt=1e-3)
    assert not {"slip", "sweeps_mean", "largest_joint_force", "seconds"} & set(values(run))


def test_the_joint_that_came_nearest_to_its_strength() -> None:
    """One with 2 N m of 10, one with 3 of 4, one without a limit that gives most."""
    builder, parent = fw.Builder("arm"), "world"
    for name, limits in (("a", fw.Limits(effort=10.0)), ("b", fw.Limits(effort=4.0)), ("c", None)):
        inertia = fw.Inertia.box(1.0, (0.1, 0.1, 0.1), (0.1, 0.0, 0.0))
        options = {} if limits is None else {"limits": limits}
        builder.add_body(name, parent=parent, joint=fw.joints.Revolute("z"), inertia=inertia, **options)
        parent = name
    model = builder.build()
    run = fw.simulate(model, [0.0] * 3, [0.0] * 3, duration=0.01, dt=1e-3, control=lambda t, q, v: [2.0, -3.0, 5.0])
    told = {line.name: line for line in summary(run)}
    assert told["largest_joint_force"].value == 5.0
    assert (told["effort_used"].value, told["effort_used"].text) == (0.75, "75% (b_joint)")


def test_a_failed_run_says_where() -> None:
    model = fw.robots.pendulum()
    with pytest.raises(fw.SimulationError) as caught:
        fw.simulate(model, [1.0], [0.0], duration=0.1, dt=1e-3, control=lambda t, q, v: v * (np.nan if t > 0.05 else 0))
    (status,) = [line for line in summary(caught.value.trajectory) if line.name == "status"]
    assert status.text == "BAD_CONTROL at step 51"


def test_a_batch_is_refused() -> None:
    run = fw.rollout(fw.robots.pendulum(), np.zeros((3, 1)), np.zeros((3, 1)), steps=2, dt=1e-3)
    with pytest.raises(ValueError, match=r"trajectory: expected one robot, got a batch \(3,\)"):
        summary(run)


def test_a_run_that_begins_later_is_as_long_as_it_is() -> None:
    sim = fw.Stepper(fw.robots.pendulum(), [1.0], dt=0.01)
    sim.step(200)
    told = {line.name: line for line in summary(sim.rollout(50), seconds=0.25)}
    assert told["duration"].text == "0.5 s in 50 samples"
    assert told["real_time_factor"].value == pytest.approx(2.0)


def test_a_run_that_failed_was_simulated_up_to_there() -> None:
    robot = fw.robots.pendulum()
    with pytest.raises(fw.SimulationError) as caught:
        fw.simulate(
            robot, [1.0], [0.0], duration=0.1, dt=1e-2, control=lambda t, q, v: v * (np.nan if t > 0.045 else 0.0)
        )
    run = caught.value.trajectory
    told = {line.name: line for line in summary(run)}
    assert 0.03 < told["duration"].value == run.t[np.isfinite(run.q).all(axis=-1)][-1] < 0.06
    assert told["duration"].text == "0.04 s in 4 samples"
