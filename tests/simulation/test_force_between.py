"""Forces between two shapes over a whole run: what `contacts` lists step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight import report


def stack() -> fw.Model:
    """A ball on a ball on a table, which stands in the world."""
    builder = fw.Builder("stack")
    builder.add_geometry("world", fw.shapes.Box((1.0, 1.0, 0.2)), fw.Placement((0.0, 0.0, 0.1)), name="table")
    for name in ("low", "high"):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        builder.add_geometry(name, fw.shapes.Sphere(0.1), role="both")
    return builder.build()


@pytest.mark.parametrize("slots", [0, 2])
def test_forces_are_those_of_the_contacts_with_their_sign(slots: int) -> None:
    model = stack()
    q = model.neutral()
    q[2], q[9] = 0.3, 0.5
    contact = fw.contact.Impulse(pairs=[("table", "low"), ("low", "high")], slots=slots)
    run = fw.rollout(model, q, np.zeros(model.nv), steps=20, dt=1e-3, contact=contact)
    assert (run.slots.size > 0) == (slots > 0)
    on_low = run.force_between("low", "high")
    assert np.array_equal(on_low, -run.force_between("high", "low"))
    assert np.allclose(on_low[5:, 2], -9.81, atol=1e-4)
    assert np.allclose(run.force_between("low", "table")[5:, 2], 2 * 9.81, atol=1e-4)
    listed = [c.force if c.a == "low" else -c.force for c in run.contacts(10) if {c.a, c.b} == {"low", "high"}]
    assert np.allclose(on_low[10], np.sum(listed, axis=0))
    assert not run.force_between("low", "ground").any()
    told = {line.name: line.value for line in report.summary(run)}
    assert told["shape_contacts_most"] == 2
    assert told["largest_shape_force"] == pytest.approx(np.linalg.norm(run.force_between("low", "table"), axis=1).max())
    assert told["residual"] < 1e-6
    with pytest.raises(ValueError, match="no pair that may touch in this run"):
        run.force_between("high", "table")
    with pytest.raises(KeyError, match="did you mean 'table'"):
        run.force_between("high", "tabel")


@pytest.mark.parametrize("control", [None, lambda t, q, v: 0 * v], ids=["none", "python"])
def test_slots_of_an_interval_are_those_of_its_first_step(control: Any) -> None:
    """Where means of all steps are kept: a slot holds another contact in each step, and numbers have no mean."""
    model = stack()
    q = model.neutral()
    q[2], q[9] = 0.3001, 0.5006  # both come down within a few steps
    contact = fw.contact.Impulse(pairs=[("table", "low"), ("low", "high")], slots=2)
    means = {"steps": 24, "dt": 1e-3, "contact": contact, "control": control}
    fine = fw.rollout(model, q, np.zeros(model.nv), **means)
    run = fw.rollout(model, q, np.zeros(model.nv), record_every=6, record="mean", **means)
    assert len(np.unique(fine.slots[6:12, :, 0])) > 1
    np.testing.assert_array_equal(run.slots, fine.slots[::6])
    np.testing.assert_array_equal(run.force_between("low", "high"), fine.force_between("low", "high")[::6])
    np.testing.assert_allclose(run.solver, fine.solver.reshape(4, 6, 2).mean(axis=1), rtol=1e-14)
    assert [str(c) for c in run.contacts(2)] == [str(c) for c in fine.contacts(12)]


def test_a_contact_that_found_no_slot_once_is_told_of_in_a_mean() -> None:
    model = stack()
    q = model.neutral()
    q[2], q[9] = 0.3, 0.5
    v = np.zeros(model.nv)
    v[8] = 1.0  # the upper ball leaves at once
    contact = fw.contact.Impulse(pairs=[("table", "low"), ("low", "high")], slots=1)
    means = {"steps": 6, "dt": 1e-3, "contact": contact}
    with fw.interpret(), pytest.warns(UserWarning, match="up to 1 contacts between shapes found no slot"):
        run = fw.rollout(model, q, v, record_every=6, record="mean", **means)
    assert 0 < run.missed[0, 0] < 1


def test_names_mean_what_they_mean_in_pairs() -> None:
    """A link goes before a shape of that name, and surfaces have the names that `contacts` gives them."""
    builder = fw.Builder("names")
    builder.add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    for x in (-0.2, 0.2):  # the second one is called base_2, as the link that follows
        builder.add_geometry("base", fw.shapes.Sphere(0.1), fw.Placement((x, 0.0, 0.0)))
    builder.add_body("base_2", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    builder.add_geometry("base_2", fw.shapes.Sphere(0.1), name="ball")
    model = builder.build()
    q = model.neutral()
    q[2], q[7:10] = 0.1, (0.2, 0.0, 0.3)
    ground = (fw.contact.Plane(), fw.contact.Plane(point=(0.0, 0.0, -1.0)))
    contact = fw.contact.Impulse(ground, pairs=[("base", "base_2")])
    run = fw.rollout(model, q, np.zeros(model.nv), steps=5, dt=1e-3, contact=contact)
    assert run.force_between("base_2", "base")[-1, 2] == pytest.approx(9.81, abs=1e-2)
    assert np.array_equal(run.force_between("ball", "base"), run.force_between("base_2", "base"))
    assert np.array_equal(run.force_between("base", "ground 0"), run.force_between("base", "ground"))
    assert run.force_between("base", "ground")[-1, 2] == pytest.approx(2 * 9.81, abs=1e-2)
    assert not run.force_between("base", "ground 1").any()


def test_a_shape_that_is_called_as_the_ground_is_told_apart() -> None:
    builder = fw.Builder("ground")
    builder.add_geometry("world", fw.shapes.Box((1.0, 1.0, 0.2)), name="ground")
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    builder.add_geometry("ball", fw.shapes.Sphere(0.1))
    model = builder.build()
    contact = fw.contact.Impulse(pairs=[("ball", "ground")])
    run = fw.rollout(model, model.neutral(), np.zeros(6), steps=1, dt=1e-3, contact=contact)
    with pytest.raises(ValueError, match="'ground' is a shape of the robot, and the ground; rename the shape"):
        run.force_between("ball", "ground")


def test_things_that_pass_through_each_other_are_told() -> None:
    model = stack()
    q = model.neutral()
    q[2], q[9] = 0.3, 0.6
    means = {"steps": 1, "dt": 1e-3}
    with pytest.warns(UserWarning, match="what stands in the world, low and high pass through each other") as told:
        fw.rollout(model, q, np.zeros(model.nv), contact=fw.contact.Impulse(), **means)
    assert told[0].filename == __file__
    fw.rollout(model, q, np.zeros(model.nv), contact=fw.contact.Impulse(pairs="ground"), **means)
