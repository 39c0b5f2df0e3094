"""One clear error for what cannot be derived, and for symbols where numbers are needed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sympy

import featherweight as fw
from equations.mechanisms import cartpole, top
from featherweight import equations
from featherweight.equations import Damper, Force, JointSpring, Spring

METHODS = (equations.newton_euler, equations.projected_newton_euler, equations.lagrange)
methods = pytest.mark.parametrize("method", METHODS, ids=lambda f: f.__name__)
m = sympy.Symbol("m", positive=True)


def pendulum(**options):
    builder = fw.Builder("p", **options)
    return builder.add_body("bob", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.point(m, (0, 0, -1)))


@methods
def test_a_singular_mass_matrix_names_the_joint(method) -> None:
    builder = pendulum(policy="accept")
    builder.add_body("spindle", parent="bob", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.point(m, (0, 0, -1)))
    with pytest.raises(fw.ModelError, match=r"singular: joint 'spindle_joint' can move without moving any mass"):
        method(builder.build())
    motor = builder.add_body(
        "wheel", parent="bob", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.point(m), armature=0.1
    )
    with pytest.raises(fw.ModelError, match="spindle_joint"):
        method(motor.build())


@methods
@pytest.mark.parametrize("name", ["q1", "v1", "a1", "tau1"])
def test_clashing_symbols_are_refused(method, name: str) -> None:
    model = fw.robots.pendulum(mass=sympy.Symbol(name, positive=True))
    with pytest.raises(fw.ModelError, match=f"the symbol {name} is a parameter"):
        method(model)


@methods
def test_other_names_for_coordinates_avoid_a_clash(method) -> None:
    model = fw.robots.pendulum(mass=sympy.Symbol("q1", positive=True))
    assert sympy.Matrix([[sympy.Symbol("q1", positive=True)]]) == method(model, coordinates=["theta"]).simplified().M


@methods
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"motors": ["hing"]}, KeyError, "no joint named 'hing'; did you mean 'hinge'"),
        ({"motors": "hinge"}, fw.ModelError, 'expected "all", names of joints'),
        ({"motors": {"hinge": (1, 2)}}, fw.ModelError, "joint 'hinge': expected 1 forces"),
        ({"forces": [JointSpring("wheel", 1)]}, KeyError, "no joint named 'wheel'"),
        ({"forces": [Force("bob", (1, 2, 3))]}, KeyError, "no frame named 'bob'"),
        ({"forces": [Force("pole", (1, 2))]}, fw.ModelError, r"force: expected shape \(3,\)"),
        ({"forces": [Force("pole", (1, 2, 3), in_="wrold")]}, ValueError, '"world" or "body"'),
        ({"forces": [Spring("pole", "pole", 1)]}, fw.ModelError, "two different points"),
        ({"forces": [Damper("pole", "world", "soft")]}, fw.ModelError, "damping: expected a real number"),
        ({"forces": [3]}, TypeError, "expected Force, Moment, Spring"),
        ({"coordinates": ["x"]}, fw.ModelError, "expected 2 different names"),
    ],
)
def test_wrong_arguments(method, options, error, message: str) -> None:
    with pytest.raises(error, match=message):
        method(cartpole(), **options)


@methods
def test_not_a_model(method) -> None:
    with pytest.raises(TypeError, match="expected a featherweight Model, got str"):
        method("cartpole")
    with pytest.raises(fw.ModelError, match="no joint that moves"):
        method(fw.Builder("nothing").build())
    with pytest.raises(fw.ModelError, match="rate of their coordinates"):
        method(top(), coordinates=["a", "b", "c", "d"])


def test_a_loop_cannot_be_built() -> None:
    text = """<robot name="loop"><link name="a"/><link name="b"/><link name="c"/>
      <joint name="1" type="continuous"><parent link="a"/><child link="b"/></joint>
      <joint name="2" type="continuous"><parent link="b"/><child link="c"/></joint>
      <joint name="3" type="continuous"><parent link="c"/><child link="b"/></joint></robot>"""
    with pytest.raises(fw.ModelError):
        fw.loads(text)


@methods
def test_unknown_joints_are_refused(method) -> None:
    """A kind of another package that does not work on symbols."""

    class Wobble(fw.joints.Revolute):
        def transform(self, q):
            return super().transform([np.tanh(float(q[0]))])

    model = fw.Builder("w").add_body("b", joint=Wobble("y"), inertia=fw.Inertia.sphere(1, 1)).build()
    with pytest.raises(fw.ModelError, match=r"joint 'b_joint' \(Wobble\) cannot be written in symbols"):
        method(model)


def test_springs_of_ball_joints_are_refused() -> None:
    builder = fw.Builder("ball").add_body(
        "b", joint=fw.joints.Spherical(), inertia=fw.Inertia.sphere(1, 1), stiffness=2.0
    )
    with pytest.raises(fw.ModelError, match="spring of a Spherical joint is not in the equations yet"):
        equations.lagrange(builder.build())


# ---- symbols where numbers are needed


@pytest.mark.parametrize(
    "call",
    [
        lambda model: fw.mass_matrix(model, [0.0]),
        lambda model: fw.simulate(model, [0.0], [0.0], duration=0.1, dt=0.01),
        lambda model: fw.save_urdf(model, "never.urdf"),
    ],
)
def test_symbols_are_not_computed_with(call) -> None:
    with pytest.raises(fw.ModelError, match="has symbols in place of numbers: m; give them values with"):
        call(pendulum().build())


def test_values_make_numbers_of_symbols() -> None:
    model = pendulum().build()
    assert model.symbols == ("m",)
    assert fw.mass_matrix(model.with_values({m: 2.0}), [0.3])[0, 0] == 2.0
    with pytest.raises(fw.ModelError, match="no value for m"):
        model.with_values({})
    with pytest.raises(fw.ModelError, match="there is no symbol k"):
        model.with_values({"m": 1.0, "k": 1.0})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: fw.Inertia(-x), "mass: expected 0 or more, got -m"),
        (lambda x: fw.Inertia(x * sympy.I), "mass: expected real numbers or symbols"),
        (lambda x: fw.Inertia(1, (0, 0, 0), [[1, x, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
        (lambda x: fw.Placement((x, 0)), r"xyz: expected shape \(3,\)"),
        (lambda x: fw.Placement(quat=(x, 0, 0, 1)), "quat: expected real numbers"),
        (lambda x: fw.joints.Revolute((x, 0, 1)), "axis: expected"),
        (lambda x: fw.Limits(x).of("j", fw.joints.Revolute()), "limits.lower: expected 1 numbers"),
        (lambda x: pendulum(parameters=("bob.mass",)).build(), "parameters: model 'p' has symbols"),
        (
            lambda x: fw.Rotor(2.0, fw.Inertia.sphere(x, 1)).spin("j", fw.joints.Revolute()),
            "rotor: expected numbers, got symbols",
        ),
    ],
)
def test_symbols_only_where_they_make_sense(build, message: str) -> None:
    with pytest.raises(fw.ModelError, match=message):
        build(m)


def test_a_line_tells_how_to_install_sympy() -> None:
    code = "import sys; sys.modules['sympy'] = None; import featherweight as fw; fw.equations"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (
        "ModuleNotFoundError: featherweight.equations needs SymPy: pip install featherweight[equations]"
        in result.stderr
    )


def test_lambdify_names_what_is_missing() -> None:
    f = equations.lagrange(pendulum().build()).lambdify("M")
    with pytest.raises(TypeError, match="no value for m: give it as a keyword"):
        f([0.0], [0.0])
    with pytest.raises(TypeError, match="no symbol 'M'; there are"):
        f([0.0], [0.0], M=1)
    with pytest.raises(ValueError, match="expected some of M, b"):
        equations.lagrange(pendulum().build()).lambdify("X")
    with pytest.raises(ValueError, match="Newton-Euler has no C"):
        equations.newton_euler(pendulum().build()).lambdify("C")
