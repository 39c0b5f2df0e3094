"""Everything public can be copied and pickled, and gives the same bits then; or says why it cannot be."""

from __future__ import annotations

import copy
import inspect
import pickle
import types

import cloudpickle
import numpy as np
import pytest
import sympy

import featherweight as fw
from featherweight import contact, control, equations, integrators, joints, scenes, viewer
from featherweight.simulation import actuators

URDF = """
<robot name="arm"><link name="base"/>
  <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def all_joints():
    """One of each kind, in a row."""
    builder = fw.Builder("kinds", parameters=("b0.mass",))
    kinds = [getattr(joints, name) for name in joints.__all__ if name not in ("Fixed", "Joint", "Mimic")]
    made = [*(kind() for kind in kinds), joints.Mimic(joints.Revolute("x"), "b0_joint", 0.5)]
    for k, joint in enumerate(made):
        parent = "world" if k == 0 else f"b{k - 1}"
        builder.add_body(
            f"b{k}", parent=parent, joint=joint, inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0, 0.1, 0.2))
        )
    return builder.build()


def pd(t, q, v, x, p):
    return -p[0] * q - p[1] * v, x + 1.0


def walker():
    model = fw.robots.mini_cheetah()
    return model, scenes.crouched(model)


def symbolic():
    m, l = sympy.symbols("m l", positive=True)
    return equations.lagrange(fw.robots.pendulum(mass=m, length=l)).simplified()


def failed_run():
    with pytest.raises(fw.SimulationError) as failure:
        fw.simulate(fw.robots.pendulum(), [1.0], [1.0], duration=1.0, dt=0.5, control=lambda t, q, v: [1e308 * 10])
    return failure.value


def wrong():
    with pytest.raises(fw.ModelError) as failure:
        fw.loads("<robot name='r'><link/></robot>")
    return failure.value


THINGS = {
    "Builder": lambda: fw.Builder().add_body("b", joint=joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1)),
    "Inertia": lambda: fw.Inertia.box(1.0, (1, 2, 3)),
    "Inertia, symbols": lambda: fw.Inertia.sphere(*sympy.symbols("m r", positive=True)),
    "Limits": lambda: fw.Limits(-1.0, 2.0, velocity=3.0, effort=4.0),
    "Placement": lambda: fw.Placement((1, 2, 3), rpy=(0.1, 0.2, 0.3)),
    "Rotor": lambda: fw.Rotor(9.0, fw.Inertia.sphere(0.1, 0.05)),
    "Model": walker,
    "Model, all joints, parameters": all_joints,
    "Model, symbols": lambda: fw.robots.pendulum(mass=sympy.Symbol("m")),
    "Model, of a file": lambda: fw.loads(URDF),
    "findings": lambda: fw.lint(__file__),
    "Pose": lambda: fw.frame_pose(walker()[0], walker()[1], "FR_knee"),
    "Poses": lambda: fw.forward_kinematics(*walker()),
    "Status": lambda: fw.Status.NOT_CONVERGED,
    "ModelError": wrong,
    "SimulationError": failed_run,
    "Trajectory": lambda: fw.rollout(all_joints(), all_joints().random(0), np.zeros(all_joints().nv), steps=3, dt=1e-3),
    "compiled": lambda: fw.compiled(pd, state=[0.0], parameters=[3.0, 1.0]),
    "joint_pd": lambda: control.joint_pd(walker()[0], walker()[1]),
    "stand": lambda: control.stand(*walker()),
    "trot": lambda: control.trot(*walker(), velocity=(0.1, 0.0, 0.1)),
    "balance, pushed": lambda: scenes.balance(push=(1.0, 2.0, 0.0)).control,
    "operational_space": lambda: control.operational_space(
        fw.loads(URDF), "arm", place=(0, 0, 1), posture=np.zeros(1), softness=0.1
    ),
    "scenes.trot": scenes.trot,
    "scenes.ragdoll": lambda: scenes.ragdoll(count=2),
    "equations, Lagrange": symbolic,
    "equations, Newton-Euler": lambda: equations.newton_euler(fw.robots.double_pendulum()),
    "equations, projected": lambda: equations.projected_newton_euler(fw.robots.double_pendulum()),
    "lambdify": lambda: symbolic().lambdify("M", "g"),
    "agreement": lambda: equations.agreement(symbolic(), symbolic()),
    "EffortLimits": actuators.EffortLimits,
    "DCMotor": lambda: actuators.DCMotor(6.0, 0.05, 0.173, 24.0, 3.0),
    "Impulse": lambda: contact.Impulse(ground=contact.Sphere((0, 0, 0), 1.0), friction=0.3),
    "SpringDamper": lambda: contact.SpringDamper(ground=contact.Box((1, 1, 1)), stiffness=1e4),
    "Plane": contact.Plane,
    "Heightfield": lambda: scenes.rough_ground(spacing=0.5),
    "threads": lambda: fw.threads(fw.thread_count()),
    "interpret": fw.interpret,
    **{f"integrator {name}": kind for name, kind in integrators.NAMES.items()},
}  # fmt: skip
WAYS = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "cloudpickle": lambda x: pickle.loads(cloudpickle.dumps(x)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def digest(x):
    """What there is to a thing, as text: all its fields, all the way down; of what is compiled, what it computes."""
    return "\n".join(_lines(x, ()))


HIDDEN = {"cache", "loops", "_kernel", "__weakref__"}


def _lines(x, above):
    if any(x is one for one in above):
        yield "…"
    elif isinstance(x, np.ndarray):
        yield f"{x.dtype} {x.shape} {x.tolist()!r}"
    elif isinstance(x, (str, bytes, int, float, complex, type(None), type, types.FunctionType, sympy.Basic)):
        yield f"{type(x).__name__} {x!r}" if not isinstance(x, types.FunctionType) else x.__qualname__
    elif isinstance(x, (dict, types.MappingProxyType)):
        for key, value in x.items():
            yield f"{key!r}:"
            yield from _lines(value, (*above, x))
    elif isinstance(x, (list, tuple, set, frozenset)):
        yield type(x).__name__
        for value in x:
            yield from _lines(value, (*above, x))
    else:
        fields = {n: v for n, v in getattr(x, "__dict__", {}).items() if n not in HIDDEN and n not in _cached(type(x))}
        yield f"{type(x).__qualname__} {x.args if isinstance(x, Exception) else ''}"
        yield from _lines(fields, (*above, x))


def _cached(kind):
    return {n for base in kind.__mro__ for n, v in vars(base).items() if type(v).__name__ == "cached_property"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", THINGS)
def test_a_copy_is_the_same(what, way):
    thing = THINGS[what]()
    again = WAYS[way](thing)
    assert type(again) is type(thing)
    assert digest(again) == digest(thing)


def bits(model, q, **means):
    run = fw.rollout(model, q, np.zeros(model.nv), steps=5, **{"dt": 1e-3, **means})
    return b"".join(a.tobytes() for a in (run.q, run.v, run.tau, run.contact_force, run.status))


ROLLOUTS = {
    "pd": lambda: (all_joints(), all_joints().random(1), {"control": fw.compiled(lean, parameters=[2.0])}),
    "joint_pd": lambda: (*walker(), {"control": THINGS["joint_pd"]()}),
    "trot": lambda: _scene(scenes.trot()),
    "spring": lambda: _scene(scenes.trot(contact="spring")),
    "balance": lambda: _two(*_scene(scenes.balance(push=(5.0, 0, 0), start=0.0))),
    "motors": lambda: (*walker(), {"control": THINGS["joint_pd"](), "actuators": THINGS["DCMotor"]()}),
    "rk4": lambda: (all_joints(), all_joints().random(2), {"integrator": integrators.RK4()}),
    "variational": lambda: (*walker(), {"integrator": integrators.Variational()}),
}


def lean(t, q, v, x, p):
    return -p[0] * v, x


def _scene(scene):
    return scene.model, scene.q, scene.means


def _two(model, q, means):
    """Two robots at once, on the code for packs, which test_balance.py has, too: the longest here."""
    return model, np.tile(q, (2, 1)), means


@pytest.mark.parametrize("what", ROLLOUTS)
def test_a_copy_of_everything_moves_by_the_same_bits(what):
    model, q, means = ROLLOUTS[what]()
    first = bits(model, q, **means)
    for way in (*WAYS.values(), WAYS["pickle"]):  # the last time with code on the model
        again, options = way((model, means)) if way is not copy.copy else (copy.copy(model), copy.copy(means))
        assert bits(again, q, **options) == first


def test_functions_made_inside_of_others_are_pickled_by_cloudpickle():
    gain = 3.0
    driven = fw.compiled(lambda t, q, v, x, p: (-gain * q - p[0] * v, x), parameters=[0.5])
    model = fw.robots.pendulum()
    again = pickle.loads(cloudpickle.dumps(driven))
    assert bits(model, [0.3], control=again) == bits(model, [0.3], control=driven)
    with pytest.raises((pickle.PicklingError, AttributeError), match=r"lambda|local object"):
        pickle.dumps(driven)


def test_what_serves_a_page_says_that_it_cannot_be_copied():
    for kind in (viewer.Viewer, viewer.Live):
        served = object.__new__(kind)
        for way in WAYS.values():
            with pytest.raises(TypeError, match=f"{kind.__name__}: a page that is being served by this process"):
                way(served)


def _made_in(module, thing):
    return getattr(thing, "__module__", None) == module.__name__


MODULES = [fw, contact, control, equations, integrators, joints, scenes, viewer, actuators]
NAMES = [(m, n) for m in MODULES for n in getattr(m, "__all__", [n for n, x in vars(m).items() if _made_in(m, x)])]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{m.__name__}.{n}" for m, n in NAMES])
def test_every_public_name_is_pickled_by_reference(module, name):
    thing = getattr(module, name)
    if not inspect.ismodule(thing):  # those are Python's
        assert pickle.loads(pickle.dumps(thing)) == thing
