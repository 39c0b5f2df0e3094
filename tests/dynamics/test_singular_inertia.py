"""Bodies without inertia about their joints: whatever divides by the mass matrix names them, everything else works."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import featherweight as fw
from featherweight.dynamics.regularity import regularity
from featherweight.joints import Free, Mimic, Planar, Prismatic, Revolute, Spherical, Universal

ENDS = {
    "a rod on a ball joint": (fw.Inertia.rod(1.0, 1.0, at=(0, 0, 0.5)), Spherical()),
    "a rod that flies": (fw.Inertia.rod(1.0, 1.0), Free()),
    "a point that flies": (fw.Inertia.point(1.0), Free()),
    "a point on a ball joint": (fw.Inertia.point(1.0, (0, 0, 1)), Spherical()),
    "a point on the axis": (fw.Inertia.point(1.0, (0, 0, 1)), Revolute("z")),
    "a point on the axis, but for rounding": (fw.Inertia.point(1.0, (0.3, 0.3, 0.3)), Revolute((1, 1, 1))),
    "a point at the joint": (fw.Inertia.point(1.0), Revolute("x")),
    "a point in a plane": (fw.Inertia.point(1.0, (0.1, 0, 0)), Planar("z")),
}
DIVIDING = {
    "forward_dynamics": lambda model, q: fw.forward_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv)),
    "solve_mass_matrix": lambda model, q: fw.solve_mass_matrix(model, q, np.ones(model.nv)),
    "mass_matrix_inverse": fw.mass_matrix_inverse,
    "delassus": lambda model, q: fw.delassus(model, q, ["end"]),
    "contact_inertia": lambda model, q: fw.contact_inertia(model, q, "end", [1, 0, 0]),
    "unit_force_response": lambda model, q: fw.unit_force_response(model, q, "end", [1, 0, 0]),
    "operational_inertia": lambda model, q: fw.operational_inertia(model, q, "end"),
    "articulated_inertia": fw.articulated_inertia,
    "forward_dynamics_derivatives": lambda model, q: fw.forward_dynamics_derivatives(
        model, q, *np.zeros((2, model.nv))
    ),
    "propagator": fw.propagator,
    "hybrid_dynamics": lambda model, q: fw.hybrid_dynamics(model, q, *np.zeros((3, model.nv)), ["base_joint"]),
}


def ending(inertia, joint, **options):
    """A cart with a body at its end."""
    builder = fw.Builder().add_body("base", joint=Prismatic("x"), inertia=fw.Inertia.sphere(2.0, 0.1))
    return builder.add_body("end", parent="base", joint=joint, joint_name="wrist", inertia=inertia, **options).build()


def two_points():
    """Singular where the second point is above the first, as both are on the vertical axis then."""
    return (
        fw.Builder()
        .add_body("post", joint=Revolute("z"), inertia=fw.Inertia.point(1.0, (0, 0, 1)))
        .add_body(
            "end", parent="post", joint=Revolute("x"), placement=fw.Placement((0, 0, 1)),
            inertia=fw.Inertia.point(1.0, (0, 0, 1)),
        )
        .build()
    )  # fmt: skip


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("function", DIVIDING)
def test_what_divides_by_the_mass_matrix_names_the_body(kind, function):
    model = ending(*ENDS[kind])
    for q in (model.random(0), np.stack([model.random(k) for k in range(9)])):
        with pytest.raises(ValueError, match=rf"^{function}: .*mass matrix is singular: body 'end' .* joint 'wrist'"):
            DIVIDING[function](model, q)


@pytest.mark.parametrize("kind", ENDS)
def test_what_does_not_divide_goes_on(kind):
    model = ending(*ENDS[kind])
    q, x = model.random(0), np.ones(model.nv)
    assert np.isfinite(fw.inverse_dynamics(model, q, x, x)).all()
    assert np.isfinite(fw.mass_matrix(model, q)).all()
    assert np.isfinite(fw.jacobian(model, q, "end")).all()
    with fw.interpret(), pytest.raises(ValueError, match=r"mass matrix is singular: body 'end'"):
        fw.forward_dynamics(model, q, x, x)


@pytest.mark.parametrize("kind", ENDS)
def test_an_armature_helps(kind):
    inertia, joint = ENDS[kind]
    model = ending(inertia, joint, armature=0.01)
    q = model.random(0)
    M = fw.mass_matrix(model, q)
    np.testing.assert_allclose(M @ fw.mass_matrix_inverse(model, q), np.eye(model.nv), atol=1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "variational"])
def test_a_simulation_names_the_body(integrator):
    rod = ending(*ENDS["a rod on a ball joint"])
    with pytest.raises(fw.ModelError, match=r"simulation: the mass matrix is singular: body 'end' .* joint 'wrist'"):
        fw.simulate(rod, rod.neutral(), np.zeros(rod.nv), duration=0.1, dt=0.01, integrator=integrator)
    model = two_points()
    with pytest.raises(fw.SimulationError, match=r"step 0, t = 0 s: the mass matrix is singular: body 'post'") as error:
        fw.simulate(model, [0, 0], [0, 0], duration=0.1, dt=0.01, integrator=integrator)
    assert int(error.value.trajectory.status) == fw.Status.SINGULAR
    many = fw.rollout(model, [[0, 1.0], [0, 0], [0, 2.0]], [0, 0], steps=20, dt=1e-3, integrator=integrator)
    assert many.status.tolist() == [fw.Status.OK, fw.Status.SINGULAR, fw.Status.OK]
    alone = fw.rollout(model, [0, 2.0], [0, 0], steps=20, dt=1e-3, integrator=integrator)
    np.testing.assert_array_equal(many.q[2], alone.q)


@pytest.mark.parametrize("control", [None, lambda t, q, v: np.zeros(2)])
def test_a_run_that_comes_to_a_singular_configuration_names_the_body(control):
    with pytest.raises(fw.SimulationError, match="the mass matrix is singular: body 'post'") as error:
        fw.simulate(two_points(), [0, 1e-5], [0, -1.0], duration=2e-5, dt=2e-7, record_every=50, control=control)
    assert 30 < int(error.value.trajectory.failed_step) < 50


def test_near_a_singular_configuration_it_is_right_or_refused():
    """The acceleration of `two_points`, solved with 60 digits, at angles down to 1e-9 from the singular one."""
    model, refused = two_points(), 0
    v, tau = np.array([0.3, -0.2]), np.array([0.1, 0.2])
    for angle in 10.0 ** np.arange(-9, 1):
        with mpmath.workdps(60):
            s, c, g = mpmath.sin(float(angle)), mpmath.cos(float(angle)), mpmath.mpf(9.81)
            # T = ½ ψ̇² s² + ½ θ̇², V = g c
            exact = [(tau[0] - 2 * s * c * v[0] * v[1]) / s**2, tau[1] + s * c * v[0] ** 2 + g * s]
        try:
            a = fw.forward_dynamics(model, [0.4, angle], v, tau)
        except ValueError:
            refused += 1
        else:
            np.testing.assert_allclose(a, np.array(exact, dtype=float), rtol=1e-2)
    assert 0 < refused < 6


MASSLESS_BASE = """
<robot name="r"><link name="base"/>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0.1 0.7 -0.3"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <link name="arm"><inertial><origin xyz="0.1 0.05 0.3"/><mass value="1.3"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_a_file_taken_with_a_warning_gives_no_garbage():
    """Without mass the base is turned by its hinge about the hinge's axis, with nothing to hold it: M is singular at
    every configuration, and rounding hides it."""
    with pytest.warns(UserWarning, match=r"mass 0 kg"):
        model = fw.loads(MASSLESS_BASE, base="free", policy="warn")
    named = r"mass matrix is singular: body 'base' .* joint 'root_joint'.*or load it with policy=\"repair\""
    for seed in range(5):
        with pytest.raises(ValueError, match=named):
            fw.forward_dynamics(model, model.random(seed), np.zeros(7), np.zeros(7))


def upside_down(moment):
    """A post that turns about z, and on it a flap that turns about x; about z the flap has this moment, of -1 at most
    what the post has."""
    return (
        fw.Builder(policy="accept")
        .add_body("post", joint=Revolute("z"), inertia=fw.Inertia(1.0, (0, 0, 0), 0.5))
        .add_body("flap", parent="post", joint=Revolute("x"), inertia=fw.Inertia(1.0, (0, 0, 0), (1.0, 2.0, moment)))
        .build()
    )


def test_a_negative_moment_is_refused_where_the_mass_matrix_is_not_positive_definite():
    """M = diag(0.5 + 2 sin² θ + I cos² θ, 1): each body alone resists its own joint, the two together may not."""
    for moment in (1.0, -0.4, -1.0):
        model = upside_down(moment)
        for angle in (0.0, 0.3, 0.6, 1.2, 1.5):
            M = np.diag([0.5 + 2.0 * np.sin(angle) ** 2 + moment * np.cos(angle) ** 2, 1.0])
            np.testing.assert_allclose(fw.mass_matrix(model, [0.1, angle]), M, atol=1e-15)
            state = [0.1, angle], [0, 0], [0.3, 0.2]
            if M[0, 0] > 0:
                np.testing.assert_allclose(fw.forward_dynamics(model, *state), np.linalg.solve(M, [0.3, 0.2]))
            else:
                with pytest.raises(ValueError, match=r"the mass matrix is not positive definite: body 'post'"):
                    fw.forward_dynamics(model, *state)
    assert regularity(upside_down(1.0)).watched == frozenset()


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
def test_a_simulation_refuses_a_negative_mass_matrix(integrator):
    with pytest.raises(fw.SimulationError, match="the mass matrix is not positive definite: body 'post'"):
        fw.simulate(upside_down(-1.0), [0, 0.1], [0, 0], duration=0.1, dt=0.01, integrator=integrator)


def test_parameters_may_take_the_inertia_away():
    model = (
        fw.Builder(parameters=("end.moment", "end.mass"))
        .add_body("end", joint=Spherical(), joint_name="wrist", inertia=fw.Inertia.point(1.0, (0, 0, 1)))
        .build()
    )
    q, zeros = model.random(0), np.zeros(3)
    moments = np.array([np.eye(3) * 0.1, np.diag([0.1, 0.1, 0.0])])
    fw.forward_dynamics(model, q, zeros, zeros, parameters={"end.moment": moments[0]})
    with pytest.raises(ValueError, match=r"at q\[1\] the mass matrix is singular: body 'end'"):
        fw.forward_dynamics(model, q, zeros, zeros, parameters={"end.moment": moments})
    run = fw.rollout(model, q, zeros, steps=5, dt=1e-3, parameters={"end.moment": moments})
    assert run.status.tolist() == [fw.Status.OK, fw.Status.SINGULAR]


def test_a_prescribed_joint_needs_no_inertia():
    model = ending(*ENDS["a point on the axis"])
    tau, a = fw.hybrid_dynamics(model, [0, 0.1], [0, 0], [1.0, 0], [0, 2.0], ["wrist"])
    np.testing.assert_allclose([tau[0], a[0], a[1]], [1.0, 1 / 3, 2.0], atol=1e-12)


def test_joints_that_share_a_coordinate_help_each_other():
    model = (
        fw.Builder()
        .add_body("left", joint=Revolute("z"), joint_name="grip", inertia=fw.Inertia.box(0.1, (0.1, 0.01, 0.01)))
        .add_body("right", joint=Mimic(Revolute("z"), "grip", -1.0), inertia=fw.Inertia.point(0.1, (0, 0, 0.1)))
        .build()
    )
    assert np.isfinite(fw.forward_dynamics(model, [0.1], [0.0], [1.0])).all()


def test_a_rotor_may_stand_still_while_its_carrier_turns():
    """The carrier's only moment about its axis is that of the rotor it carries, which spins backwards at no cost."""
    rotor = fw.Rotor(1.0, fw.Inertia(0.1, (0, 0, 0), (5e-4, 5e-4, 1e-3)))
    model = (
        fw.Builder(policy="accept")
        .add_body("carrier", joint=Revolute("z"))
        .add_body("end", parent="carrier", joint=Revolute("z"), rotor=rotor, inertia=fw.Inertia.point(1e-9, (0, 0, 1)))
        .build()
    )
    with pytest.raises(ValueError, match=r"body 'carrier'"):
        fw.forward_dynamics(model, [0.1, 0.2], [0, 0], [0, 0])


def chain(links, masses, size=(0.1, 0.1, 1.0), axes="xy"):
    builder = fw.Builder()
    for k in range(links):
        builder.add_body(
            f"link{k}",
            parent="world" if k == 0 else f"link{k - 1}",
            joint=Revolute(axes[k % 2]),
            placement=fw.Placement((0, 0, size[2] if k else 0)),
            inertia=fw.Inertia.box(masses(k), size, (0, 0, size[2] / 2)),
        )
    return builder.build()


SOUND = {
    "1000 links": lambda: chain(1000, lambda k: 1.0),
    "a finger of grams": lambda: chain(4, lambda k: 1e-3, (5e-3, 5e-3, 1e-2)),
    "micrograms": lambda: chain(4, lambda k: 1e-9, (1e-4, 1e-4, 1e-3)),
    "mass ratio 1e8, light first": lambda: chain(3, lambda k: 10.0 ** (4 * k)),
    "mass ratio 1e8, heavy first": lambda: chain(3, lambda k: 10.0 ** (-4 * k)),
    "mini_cheetah": fw.robots.mini_cheetah,
    "humanoid": fw.robots.humanoid,
    "cartpole": fw.robots.cartpole,
    "pendulum": fw.robots.pendulum,
}


@pytest.mark.parametrize("kind", SOUND)
def test_sound_robots_are_not_watched_and_pay_nothing(kind):
    assert not regularity(SOUND[kind]()).watched


def test_a_long_chain_is_watched_and_not_refused():
    """5000 links stretched out have 1e13 times the inertia of one, but no pivot is a difference of such numbers."""
    found = regularity(chain(5000, lambda k: 1.0, axes="yz"))
    assert found.watched
    assert found.singular is None


def test_parameters_are_watched_from_the_body_to_the_root():
    model = fw.robots.mini_cheetah(parameters=("FR_thigh.mass", "FL_knee.damping", "gravity"))
    names = {model.names[i] for i in regularity(model).watched}
    assert names == {"FR_thigh", "FR_abad_link", "body"}


def test_universal_joints_are_watched_and_not_refused():
    model = ending(fw.Inertia.rod(1.0, 1.0), Universal("x", "y"))
    q = np.array([0.0, 0.3, 0.4])
    M = fw.mass_matrix(model, q)
    np.testing.assert_allclose(fw.solve_mass_matrix(model, q, M @ [1, 2, 3]), [1, 2, 3], rtol=1e-10)
    assert np.isfinite(fw.forward_dynamics(model, q, np.ones(3), np.ones(3))).all()
