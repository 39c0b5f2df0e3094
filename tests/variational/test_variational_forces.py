"""Damping, dry friction, springs, torques and contact in variational steps."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

J = fw.joints


def wheel(moment: float = 0.01, **properties: float) -> fw.Model:
    """One joint, far from everything."""
    builder = fw.Builder("wheel", gravity=(0, 0, 0))
    return builder.add_body(
        "wheel", joint=J.Revolute("z"), inertia=fw.Inertia(1.0, (0, 0, 0), moment), **properties
    ).build()


def spin(model: fw.Model, v: float, steps: int, dt: float = 1e-3, tau: float = 0.0) -> fw.Trajectory:
    forces = np.full((steps, 1), tau)
    return fw.rollout(model, [0.0], [v], steps=steps, dt=dt, tau=forces, integrator="variational")


@pytest.mark.parametrize("stiffness", [0.01, 1.9, 2.1, 30.0, 1e4])
def test_damping_never_turns_a_joint_back(stiffness: float) -> None:
    """h d / I from soft to stiff: the velocity falls and keeps its sign."""
    run = spin(wheel(damping=stiffness * 0.01 / 1e-3), 1.0, 30)
    assert (run.v[:, 0] >= -1e-11).all()
    assert (np.diff(run.v[:, 0]) <= 1e-11).all()


@pytest.mark.parametrize("stiffness", [0.01, 1.9, 2.1, 30.0])
def test_a_motor_is_damped_as_a_heavier_wheel(stiffness: float) -> None:
    """Armature is inertia of the joint, however stiff its damping."""
    damping = stiffness * 0.03 / 1e-3
    with_motor = spin(wheel(0.01, armature=0.02, damping=damping), 1.0, 30)
    assert np.abs(with_motor.v - spin(wheel(0.03, damping=damping), 1.0, 30).v).max() <= 1e-12


def test_damping_is_of_second_order() -> None:
    """v = exp(-d t / I)."""
    errors = [abs(spin(wheel(damping=0.1), 1.0, n, 0.1 / n).v[-1, 0] - np.exp(-1.0)) for n in (50, 100, 200)]
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2).max() <= 0.02


def test_dry_friction_stops_a_joint_and_holds_it() -> None:
    run = spin(wheel(friction=0.05), 1.0, 1000)
    stopped = 1.0 / 5.0  # s, by I v / f
    assert abs(run.v[int(stopped / 2 / 1e-3), 0] - 0.5) <= 6e-3
    assert (run.v[:, 0] >= -1e-11).all()
    assert run.v[-1, 0] <= 1e-4
    held = spin(wheel(friction=0.05), 0.0, 1000, tau=0.04)
    assert 0 <= held.v[-1, 0] <= 1e-4  # creeps, see decision 12
    assert spin(wheel(friction=0.05), 0.0, 1000, tau=0.06).v[-1, 0] >= 0.9


def test_a_constant_torque_is_exact() -> None:
    run = spin(wheel(armature=0.01), 0.5, 100, dt=0.01, tau=0.1)
    t = run.t
    assert np.abs(run.q[:, 0] - (0.5 * t + 2.5 * t * t)).max() <= 1e-12
    assert np.abs(run.v[:, 0] - (0.5 + 5 * t)).max() <= 1e-12


def test_a_spring_is_the_leapfrog_of_an_oscillator() -> None:
    """q⁺ = q + h v - ½ h² ω² q, v⁺ = v - ½ h ω² (q + q⁺)."""
    h, square = 1e-2, 4.0 / 0.01
    run = fw.rollout(wheel(stiffness=4.0), [0.3], [0.1], steps=200, dt=h, integrator="variational")
    q, v = 0.3, 0.1
    for k in range(200):
        after = q + h * v - 0.5 * h * h * square * q
        q, v = after, v - 0.5 * h * square * (q + after)
        assert abs(run.q[k + 1, 0] - q) <= 1e-11
        assert abs(run.v[k + 1, 0] - v) <= 1e-10


def test_a_rotor_is_a_body_that_turns_faster() -> None:
    """The couple of a rotor against a body of its own on a mimic joint; both are of second order, so close."""
    runs = []
    rotor = fw.Inertia(0.2, (0, 0, 0), (2e-3, 2e-3, 4e-3))
    for explicit in (False, True):
        builder = fw.Builder("arm").add_body(
            "base", joint=J.Free(), inertia=fw.Inertia(1.0, (0.1, 0, 0), (0.02, 0.03, 0.04))
        )
        extra = {} if explicit else {"rotor": fw.Rotor(5.0, rotor, axis="z")}
        builder.add_body(
            "link", parent="base", joint=J.Revolute("z"), inertia=fw.Inertia(0.5, (0.2, 0, 0.1), 0.01),
            joint_name="hinge", **extra,
        )  # fmt: skip
        if explicit:
            builder.add_body(
                "rotor", parent="base", joint=J.Mimic(J.Revolute("z"), of="hinge", ratio=5.0), inertia=rotor
            )
        model = builder.build()
        q, v = model.neutral(), np.array([0.1, 0, 0, 0.4, -0.3, 0.2, 2.0])
        runs.append(fw.rollout(model, q, v, steps=1000, dt=2e-4, integrator="variational"))
    assert np.abs(runs[0].q - runs[1].q).max() <= 1e-6
    assert np.abs(runs[0].v - runs[1].v).max() <= 1e-5


def ball() -> tuple[fw.Model, np.ndarray, np.ndarray]:
    builder = fw.Builder("ball").add_body("ball", joint=J.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = builder.add_contact_point("skin", parent="ball", radius=0.1).build()
    q = model.neutral()
    q[2] = 0.3
    return model, q, np.array([1.0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("contact", "dt"),
    [(fw.contact.Impulse(friction=0.5), 1e-3), (fw.contact.SpringDamper(friction=0.5), 2e-4)],
    ids=repr,
)
def test_a_ball_that_slides_ends_up_rolling(contact: fw.contact.ContactModel, dt: float) -> None:
    """5/7 of the speed is left, and it stands on its weight."""
    model, q, v = ball()
    run = fw.simulate(model, q, v, duration=1.5, dt=dt, contact=contact, integrator="variational")
    speed = (run.q[-1, 0] - run.q[-101, 0]) / (100 * dt)
    assert abs(speed - 5 / 7) <= 2e-3
    assert abs(run.contact_force[-1, 0, 2] - 9.81) <= 1e-2
    assert 0.099 <= run.q[-1, 2] <= 0.1
    assert np.abs(np.diff(run.q[-100:, 2])).max() <= 1e-7


def test_what_sticks_on_a_slope_creeps_as_documented() -> None:
    """½ h g sin α: half of gravity's impulse goes into each step before the contact holds it (how-to/contact.md)."""
    angle, h = 0.3, 1e-3
    normal = np.array([np.sin(angle), 0, np.cos(angle)])
    builder = fw.Builder("block").add_body("block", joint=J.Free(), inertia=fw.Inertia.box(2.0, (0.4, 0.3, 0.2)))
    for k in range(4):
        corner = (0.2 - 0.4 * (k & 1), 0.15 - 0.15 * (k & 2), -0.1)
        builder.add_contact_point(f"corner{k}", parent="block", position=corner)
    q = np.array([*(0.1 * normal), 0, np.sin(angle / 2), 0, np.cos(angle / 2)])
    ground = fw.contact.Plane(normal=normal, friction=1.2 * np.tan(angle))
    contact = fw.contact.Impulse(ground=ground)
    run = fw.simulate(builder.build(), q, np.zeros(6), duration=1.0, dt=h, contact=contact, integrator="variational")
    assert run.status == fw.Status.OK
    speed = np.linalg.norm(run.q[-1, :3] - run.q[500, :3]) / 0.5
    assert abs(speed / (0.5 * h * 9.81 * np.sin(angle)) - 1) <= 0.01


def test_a_ball_bounces_to_e_squared_of_its_height() -> None:
    model, q, _ = ball()
    q[2] = 1.1
    contact = fw.contact.Impulse(restitution=0.8)
    run = fw.simulate(model, q, np.zeros(6), duration=1.2, dt=2e-4, contact=contact, integrator="variational")
    top = run.q[run.t > 0.5, 2].max() - 0.1
    assert abs(top - 0.64) <= 2e-3


def test_a_ball_bounces_for_ever_and_one_at_rest_does_not_hop() -> None:
    model, q, _ = ball()
    contact, method = fw.contact.Impulse(restitution=1.0), "variational"
    q[2] = 0.6
    run = fw.simulate(model, q, np.zeros(6), duration=30.0, dt=1e-3, contact=contact, integrator=method)
    assert np.count_nonzero(run.contact_force[:, 0, 2]) > 40
    assert abs(run.energy()[-1] / run.energy()[0] - 1) <= 1e-6
    q[2] = 0.1
    run = fw.simulate(model, q, np.zeros(6), duration=2.0, dt=0.01, contact=contact, integrator=method)
    assert np.ptp(run.q[100:, 2]) <= 1e-9


def test_impulses_are_those_of_the_momentum() -> None:
    """M v⁺ = M v⁻ + Jᵀ λ at the end of the step."""
    model = fw.robots.mini_cheetah()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2] = 0.42
    contact = fw.contact.Impulse()
    run = fw.rollout(model, q, v, steps=300, dt=1e-3, contact=contact, integrator="variational")
    assert run.status == fw.Status.OK
    assert run.convergence.shape == (300, 2)
    assert run.solver.shape == (300, 2)
    touched = int(np.argmax(run.contact_force[:, :, 2].max(axis=1) > 0))
    assert touched > 0
    free = fw.rollout(model, run.q[touched], run.v[touched], steps=1, dt=1e-3, integrator="variational")
    q_after = free.q[1]
    assert np.abs(fw.difference(model, q_after, run.q[touched + 1])).max() <= 1e-12
    impulse = np.zeros(model.nv)
    for k, point in enumerate(model.contact_points):
        J_point = fw.jacobian(model, q_after, point.name, in_="world_aligned")[:3]
        impulse += 1e-3 * J_point.T @ run.contact_force[touched, k]
    change = fw.mass_matrix(model, q_after) @ (run.v[touched + 1] - free.v[1])
    assert np.abs(change - impulse).max() <= 1e-9
    assert np.abs(impulse).max() > 1e-4


def test_python_and_compiled_controllers_and_parameters() -> None:
    """What the other integrators offer."""
    model = fw.robots.double_pendulum()
    q, v = np.array([0.5, -0.3]), np.zeros(2)
    options = {"duration": 0.2, "dt": 1e-3, "integrator": "variational"}
    python = fw.simulate(model, q, v, control=lambda t, q, v: -2.0 * q - 0.1 * v, **options)
    traced = fw.compiled(lambda t, q, v, x, p: (-2.0 * q - 0.1 * v, x), state=np.zeros(0), parameters=np.zeros(0))
    native = fw.simulate(model, q, v, control=traced, **options)
    assert np.abs(python.q - native.q).max() <= 1e-13


def test_a_run_goes_on_from_its_file_to_the_same_bits(tmp_path) -> None:
    model, q, v = fw.robots.chain(4), np.full(4, 0.3), np.zeros(4)
    options = {"dt": 1e-3, "integrator": "variational"}
    whole = fw.rollout(model, q, v, steps=200, file=tmp_path / "run", **options)
    again = fw.rollout(model, q, v, steps=200, file=tmp_path / "run", **options)
    loaded = fw.Trajectory.load(tmp_path / "run", model=model)
    assert np.array_equal(whole.q, again.q)
    assert np.array_equal(whole.convergence, loaded.convergence)


@pytest.mark.parametrize("joint", [J.Free(), J.Spherical(), J.Planar()], ids=lambda joint: type(joint).__name__)
def test_springs_and_brakes_together(joint: J.Joint) -> None:
    """On joints whose springs take sines, with a brake anywhere: passes over the tree must not wait for each other."""
    builder = fw.Builder("sprung")
    body = fw.Inertia(1.0, (0.1, 0, 0.2), (0.02, 0.03, 0.04))
    builder.add_body("first", joint=joint, inertia=body, stiffness=3.0, damping=0.2)
    builder.add_body("second", parent="first", joint=J.Spherical(), inertia=body, stiffness=1.0)
    model = builder.build()
    q, v = model.random(np.random.default_rng(0)), np.full(model.nv, 0.1)
    for solver in ("riqn", "newton"):
        method = fw.integrators.Variational(solver=solver)
        run = fw.rollout(model, q, v, steps=200, dt=1e-3, integrator=method, record_every=200)
        exact = fw.rollout(model, q, v, steps=800, dt=2.5e-4, integrator="rk4", record_every=800)
        assert np.abs(fw.difference(model, exact.q[-1], run.q[-1])).max() <= 1e-4
