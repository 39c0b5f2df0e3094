"""Keys of compiled code: what shapes a result is in its key (RELIABILITY: no stale code).

One thing of a robot is changed at a time. Wherever the traced program becomes another, the key must, too.
"""

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler import Kernel
from featherweight.compiler.native.target import host
from featherweight.contact import Box, Heightfield, Impulse, Plane, Sphere, SpringDamper
from featherweight.integrators import RK4, SemiImplicit, Variational
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import step_loop

BASE = {
    "gravity": (0.0, 0.0, -9.81),
    "mass": 1.0,
    "com": (0.1, 0.0, 0.2),
    "moment": (0.1, 0.2, 0.25),
    "placement": fw.Placement((0.0, 0.0, 0.5)),
    "axis": (0.0, 1.0, 0.0),
    "pitch": 0.1,
    "ratio": 2.0,
    "offset": 0.1,
    "leader": "first",
    "limits": fw.Limits(-1.0, 1.0, 3.0, 4.0),
    "armature": 0.01,
    "damping": 0.1,
    "friction": 0.2,
    "stiffness": 3.0,
    "rest": 0.3,
    "gear": 6.0,
    "rotor": 0.001,
    "rotor_axis": (0.0, 0.0, 1.0),
    "point": (0.0, 0.0, -0.3),
    "radius": 0.02,
    "ball": 0.2,
    "ball_place": fw.Placement((0.0, 0.1, 0.0)),
    "block": (0.1, 0.2, 0.3),
    "tool_parent": "b",
    "tool": fw.Placement((0.2, 0.0, 0.0)),
    "part": fw.Placement((0.0, 0.1, 0.0)),
    "name": "robot",
    "parameters": ("base.mass",),
}
CHANGES = {
    "gravity": (0.0, 0.0, -1.6),
    "mass": 1.5,
    "com": (0.1, 0.05, 0.2),
    "moment": (0.1, 0.21, 0.25),
    "placement": fw.Placement((0.0, 0.0, 0.5), rpy=(0.1, 0.0, 0.0)),
    "axis": (1.0, 0.0, 0.0),
    "pitch": 0.2,
    "ratio": -2.0,
    "offset": 0.2,
    "leader": "second",
    "limits": fw.Limits(-1.0, 1.1, 3.0, 4.5),
    "armature": 0.02,
    "damping": 0.2,
    "friction": 0.3,
    "stiffness": 4.0,
    "rest": 0.4,
    "gear": 7.0,
    "rotor": 0.002,
    "rotor_axis": (0.0, 1.0, 0.0),
    "point": (0.1, 0.0, -0.3),
    "radius": 0.03,
    "ball": 0.25,
    "ball_place": fw.Placement((0.0, 0.2, 0.0)),
    "block": (0.1, 0.2, 0.35),
    "tool_parent": "a",
    "tool": fw.Placement((0.3, 0.0, 0.0)),
    "part": fw.Placement((0.0, 0.2, 0.0)),
    "name": "other robot",
    "parameters": ("base.mass", "first.damping"),
}


def robot(**changes):
    x = {**BASE, **changes}
    rotor = fw.Rotor(x["gear"], fw.Inertia.sphere(0.2, 0.1 * x["rotor"] ** 0.5), axis=x["rotor_axis"])
    build = fw.Builder(x["name"], gravity=x["gravity"], parameters=x["parameters"])
    build.add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(3.0, 0.2))
    build.add_body(
        "a", parent="base", joint_name="first", placement=x["placement"], rotor=rotor, limits=x["limits"],
        joint=fw.joints.Revolute(x["axis"]), inertia=fw.Inertia(x["mass"], x["com"], np.diag(x["moment"])),
        armature=x["armature"], damping=x["damping"], friction=x["friction"], stiffness=x["stiffness"], rest=x["rest"],
    )  # fmt: skip
    build.add_body(
        "b", parent="a", joint_name="second", joint=fw.joints.Helical("x", x["pitch"]), placement=x["part"],
        inertia=fw.Inertia.sphere(0.5, 0.1),
    )  # fmt: skip
    build.add_body(
        "c", parent="base", joint=fw.joints.Mimic(fw.joints.Revolute("y"), x["leader"], x["ratio"], x["offset"]),
        inertia=fw.Inertia.sphere(0.5, 0.1, (0.0, 0.0, 0.3)),
    )  # fmt: skip
    build.add_body("fixed", parent="b", placement=fw.Placement((0.2, 0.0, 0.0)), inertia=fw.Inertia.sphere(0.1, 0.1))
    build.add_frame("tool", parent=x["tool_parent"], placement=x["tool"])
    build.add_geometry("b", fw.shapes.Sphere(x["ball"]), placement=x["ball_place"], name="ball")
    build.add_geometry("base", fw.shapes.Box(x["block"]), name="block")
    build.add_contact_point("foot", parent="b", position=x["point"], radius=x["radius"])
    return build.build()


def ask_everything(model):
    """Every public function once, on NumPy: that makes its kernel without compiling it."""
    q, v, frame, xyz = model.neutral(), np.zeros(model.nv), "tool", np.array([0.0, 0.0, 1.0])
    wrench = np.ones(6)
    with fw.interpret():
        for function in (
            fw.forward_kinematics, fw.mass_matrix, fw.mass_matrix_inverse, fw.gravity_force, fw.potential_energy,
            fw.center_of_mass, fw.com_jacobian, fw.centroidal_momentum_matrix, fw.articulated_inertia, fw.propagator,
        ):  # fmt: skip
            function(model, q)
        for function in (
            fw.bias_force, fw.coriolis_matrix, fw.kinetic_energy, fw.momentum, fw.centroidal_bias, fw.passive_force,
            fw.solve_mass_matrix,
        ):  # fmt: skip
            function(model, q, v)
        for function in (
            fw.inverse_dynamics, fw.forward_dynamics, fw.joint_wrenches, fw.inverse_dynamics_derivatives,
            fw.forward_dynamics_derivatives, fw.regressor,
        ):  # fmt: skip
            function(model, q, v, v)
        fw.integrate(model, q, v, 0.1)
        fw.difference(model, q, q)
        fw.hybrid_dynamics(model, q, v, v, v, ["second"])
        fw.delassus(model, q, ["foot", ("a", (0.1, 0.0, 0.0))])
        for point in ("foot", ("a", (0.1, 0.0, 0.0))):
            fw.contact_inertia(model, q, point, xyz)
            fw.unit_force_response(model, q, point, xyz)
        fw.operational_inertia(model, q, ["tool"])
        fw.frame_pose(model, q, frame)
        fw.distance(model, q, "ball", "block")
        for in_ in ("body", "world", "world_aligned"):
            fw.jacobian(model, q, frame, in_)
            fw.jacobian_dot(model, q, v, frame, in_)
            fw.body_velocity(model, q, v, frame, in_)
            fw.body_acceleration(model, q, v, v, frame, in_)
            fw.body_acceleration(model, q, v, v, frame, in_, classical=True)
            fw.wrench_on(model, q, frame, wrench, in_)


def programs(model):
    """Key and traced program of every kernel that the model has."""
    kernels = {key: kernel for key, kernel in model.cache.kernels.items() if isinstance(kernel, Kernel)}
    return {key: (kernel.fingerprint, _digest(kernel)) for key, kernel in kernels.items()}


def _digest(kernel):
    graph, entries = kernel._write()
    return graph.digest(), tuple(entries)


@pytest.fixture(scope="module")
def base():
    model = robot()
    ask_everything(model)
    return programs(model)


def test_every_public_function_is_asked(base):
    names = " ".join(name for name, _, _ in base)
    assert [name for name in fw.dynamics.__all__ if name[0].islower() and name not in names] == []


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_robot_has_keys_of_its_own(what, base):
    changed = robot(**{what: CHANGES[what]})
    ask_everything(changed)
    differing = 0
    for key, (fingerprint, program) in programs(changed).items():
        assert fingerprint is not None
        before = base.get(key)
        if before is None or program != before[1]:
            differing += 1
            assert before is None or fingerprint != before[0], f"{key}: another program under the same key"
    assert differing or what in ("limits", "radius", "name")  # no function of a state depends on these


def test_equal_robots_share_keys(base):
    again = robot()
    ask_everything(again)
    assert programs(again) == base


# numbers alone: no 0 or ±1 comes or goes
NUMBERS = {
    "gravity": (0.0, 0.0, -1.6),
    "mass": 1.5,
    "com": (0.2, 0.0, 0.3),
    "moment": (0.11, 0.21, 0.26),
    "placement": fw.Placement((0.0, 0.0, 0.7)),
    "axis": (0.0, 0.8, 0.6),
    "pitch": 0.2,
    "ratio": -3.0,
    "offset": 0.2,
    "limits": fw.Limits(-1.2, 1.3, 3.0, 4.5),
    "armature": 0.02,
    "damping": 0.2,
    "friction": 0.3,
    "stiffness": 4.0,
    "rest": 0.4,
    "gear": 7.0,
    "rotor": 0.002,
    "rotor_axis": (0.0, 0.8, 0.6),
    "point": (0.0, 0.0, -0.4),
    "radius": 0.03,
    "ball": 0.25,
    "ball_place": fw.Placement((0.0, 0.2, 0.0)),
    "block": (0.1, 0.2, 0.35),
    "tool": fw.Placement((0.3, 0.0, 0.0)),
    "part": fw.Placement((0.0, 0.2, 0.0)),
    "name": "other robot",
}
START = {"mass": 1.2, "limits": fw.Limits(-1.1, 1.2, 3.0, 4.0), "axis": (0.0, 0.6, 0.8), "rotor_axis": (0.0, 0.6, 0.8)}
ACTING = {
    "semi-implicit": StepOptions(SemiImplicit(), limits=True),
    "rk4": StepOptions(RK4(), watched=True),
    "variational": StepOptions(Variational()),
    "impulses": StepOptions(SemiImplicit(), contact=Impulse(dry_friction="rows"), limits=True),
    "springs": StepOptions(RK4(), contact=SpringDamper()),
}


def traces(model):
    """What of every kernel shapes code, and its numbers; contact points by their body."""
    ask_everything(model)
    kernels = {str(key): kernel for key, kernel in model.cache.kernels.items() if isinstance(kernel, Kernel)}
    kernels |= {name: step_loop(model, options).kernel for name, options in ACTING.items()}
    place = str(tuple(model.contact_points[0].position))
    return {key.replace(place, "foot"): kernel for key, kernel in kernels.items()}


@pytest.fixture(scope="module")
def start():
    return traces(robot(**START))


@pytest.mark.parametrize("what", NUMBERS)
def test_other_numbers_have_the_same_structure(what, start):
    """So they share machine code: that of one robot is that of the other, but for what it is bound to."""
    changed = traces(robot(**{**START, what: NUMBERS[what]}))
    assert list(changed) == list(start)
    for key, kernel in changed.items():
        assert kernel.traced().structure == start[key].traced().structure, key
    differing = [key for key, kernel in changed.items() if kernel.traced().table != start[key].traced().table]
    assert differing or what in ("name",)


def test_what_is_emitted_follows_from_the_structure(start):
    everything = {what: x for what, x in NUMBERS.items() if what != "tool"}
    changed = traces(robot(**everything))
    for key, kernel in changed.items():
        assert kernel.traced().structure == start[key].traced().structure, key
        assert kernel.traced().table != start[key].traced().table
        texts = {k.module(1, host()).text for k in (kernel, start[key])}
        numbers = {tuple(k.plan.numbers) for k in (kernel, start[key])}
        literals = {repr(k.plan.literals) for k in (kernel, start[key])}
        assert (len(texts), len(numbers), len(literals)) == (1, 1, 1), key


def test_numbers_that_are_bound_are_finite(start):
    for key, kernel in start.items():
        assert np.isfinite(kernel.traced().table).all(), key


FLAT = ((0.0, 0.0), (0.0, 0.0))
OPTIONS = [
    StepOptions(SemiImplicit()),
    StepOptions(SemiImplicit(), given=True),
    StepOptions(Variational()),
    StepOptions(Variational(solver="newton")),
    StepOptions(Variational(guess="velocity")),
    StepOptions(Variational(tolerance=1e-9)),
    StepOptions(Variational(absolute=1e-9)),
    StepOptions(Variational(iterations=7)),
    StepOptions(SemiImplicit(), actuators=fw.actuators.EffortLimits()),
    *(
        StepOptions(SemiImplicit(), actuators=fw.actuators.DCMotor(*x))
        for x in np.ones((7, 7)) + np.diag(np.ones(7))
    ),
    *(
        StepOptions(SemiImplicit(), contact=Impulse(**x))
        for x in (
            {}, {"friction": 0.5}, {"restitution": 0.5}, {"tolerance": 1e-7}, {"iterations": 10}, {"recovery": 40.0},
            {"recovery_speed": 0.4, "restitution": 0.0}, {"slop": 1e-5}, {"bounce_speed": 0.1, "restitution": 0.5},
            {"dry_friction": "rows"}, {"dry_friction": "rows", "presliding": 0.02},
            {"ground": Plane((0.1, 0.0, 1.0))}, {"ground": Plane(point=(0.0, 0.0, -1.0))},
            {"ground": Plane(friction=0.4)}, {"ground": Plane(restitution=0.4)}, {"ground": [Plane(), Plane()]},
            {"ground": Sphere()}, {"ground": Sphere((0.0, 0.0, 1.0))}, {"ground": Sphere(radius=2.0)},
            {"ground": Box()}, {"ground": Box((1.0, 2.0, 1.0))}, {"ground": Box(placement=fw.Placement((1.0, 0, 0)))},
            {"ground": Heightfield(FLAT)}, {"ground": Heightfield(((0.0, 0.1), (0.0, 0.0)))},
            {"ground": Heightfield(FLAT, 2.0)}, {"ground": Heightfield(FLAT, 1.0, (1.0, 0.0))},
        )
    ),
    *(
        StepOptions(RK4(), contact=SpringDamper(**x))
        for x in ({}, {"law": "linear"}, {"stiffness": 4e5}, {"damping": 4e3}, {"friction": 0.5})
    ),
]  # fmt: skip


def test_each_way_to_move_has_a_key_of_its_own():
    found = {}
    models = [fw.robots.pendulum(), _ball()]
    for model in models:
        for options in OPTIONS:
            if options.contact is not None and not model.contact_points:
                continue
            if options.actuators is not None and isinstance(options.actuators, fw.actuators.DCMotor) and model.nv > 1:
                continue
            kernel = step_loop(model, options).kernel
            found.setdefault(kernel.fingerprint, set()).add(_digest(kernel))
    assert None not in found
    assert all(len(programs) == 1 for programs in found.values())


def test_whether_limits_act_is_in_the_key():
    arm = fw.Builder("arm").add_body(
        "a", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(1.0, 0.1), limits=fw.Limits(-0.5, 0.5)
    )
    model = arm.build()
    ways = [StepOptions(SemiImplicit(), limits=acts, watched=told) for acts, told in ((0, 0), (1, 0), (0, 1))]
    kernels = [step_loop(model, options).kernel for options in ways]
    assert len({kernel.fingerprint for kernel in kernels}) == len({_digest(kernel) for kernel in kernels}) == 3


def _ball():
    build = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    return build.add_contact_point("p", parent="ball", radius=0.1).build()
