"""The mechanisms of the tests: with symbols to derive, and with numbers to compute."""

from __future__ import annotations

import sympy

import featherweight as fw
from featherweight.joints import Free, Prismatic, Revolute, Spherical, Universal

m, m_c, m_p, L, l, g, I_p = sympy.symbols("m m_c m_p L l g I_p", positive=True)


def numbered(letter: str, n: int) -> tuple[sympy.Symbol, ...]:
    return sympy.symbols(f"{letter}1:{n + 1}", positive=True)


def pendulum() -> fw.Model:
    return fw.robots.pendulum(mass=m, length=L, gravity=g)


def cartpole() -> fw.Model:
    return fw.robots.cartpole(cart_mass=m_c, pole_mass=m_p, length=L, pole_inertia=I_p, gravity=g)


def double_pendulum() -> fw.Model:
    (m1, m2), (l1, l2) = numbered("m", 2), numbered("l", 2)
    return fw.robots.double_pendulum(length1=l1, mass1=m1, length2=l2, mass2=m2, gravity=g)


def planar_arm(n: int = 3) -> fw.Model:
    """Rods, each hanging from the end of the one before."""
    builder = fw.Builder(f"planar{n}", gravity=(0, 0, -g))
    for k, (mass, length, moment) in enumerate(zip(numbered("m", n), numbered("l", n), numbered("I", n), strict=True)):
        builder.add_body(
            f"link{k + 1}",
            parent=f"link{k}" if k else "world",
            joint=Revolute("y"),
            placement=fw.Placement((0, 0, -numbered("l", n)[k - 1] if k else 0)),
            inertia=fw.Inertia(mass, (0, 0, -length / 2), (moment, moment, 0)),
        )
    return builder.build()


def skew_arm() -> fw.Model:
    """Two links whose axes are neither parallel nor at a right angle, nor do they meet."""
    (m1, m2), (d, c) = numbered("m", 2), sympy.symbols("d c", positive=True)
    a, b, e = sympy.symbols("A B E", positive=True)
    return (
        fw.Builder("skew", gravity=(0, 0, -g))
        .add_body("first", joint=Revolute("z"), inertia=fw.Inertia(m1, (L, 0, 0), (a, b, e)))
        .add_body(
            "second",
            parent="first",
            joint=Revolute((0.6, 0.0, 0.8)),
            placement=fw.Placement((d, 0, L)),
            inertia=fw.Inertia(m2, (0, c, 0), (e, a, b)),
        )
        .build()
    )


def top() -> fw.Model:
    """A heavy symmetric top on a ball joint."""
    a, c = sympy.symbols("A C", positive=True)
    return (
        fw.Builder("top", gravity=(0, 0, -g))
        .add_body("top", joint=Spherical(), inertia=fw.Inertia(m, (0, 0, l), (a, a, c)))
        .build()
    )


def free_body() -> fw.Model:
    a, b, c = sympy.symbols("A B C", positive=True)
    return (
        fw.Builder("free", gravity=(0, 0, -g))
        .add_body("body", joint=Free(), inertia=fw.Inertia(m, (0, 0, l), (a, b, c)))
        .build()
    )


def six_axes() -> fw.Model:
    """An arm of the usual kind with a spherical wrist: numbers, offsets, full inertia matrices, armature."""
    axes = ["z", "y", "y", "x", "y", "x"]
    places = [(0, 0, 0.4), (0.1, 0.02, 0), (0, 0, 0.6), (0.3, 0, 0.1), (0.25, 0, 0), (0.08, 0, 0)]
    builder = fw.Builder("six_axes")
    for k, (axis, place) in enumerate(zip(axes, places, strict=True), start=1):
        size = 8.0 / k
        moment = [[0.05 * size, 0.001, 0.002], [0.001, 0.06 * size, -0.003], [0.002, -0.003, 0.04 * size]]
        builder.add_body(
            f"link{k}",
            parent=f"link{k - 1}" if k > 1 else "world",
            joint=Revolute(axis),
            placement=fw.Placement(place),
            inertia=fw.Inertia(size, (0.05, 0.01 * k, 0.1 / k), moment),
            armature=0.01 * k,
        )
    return builder.build()


def floating_leg() -> fw.Model:
    """A free body with a prismatic and a universal joint, a spinning rotor, and everything that joints may have."""
    rotor = fw.Rotor(6.0, fw.Inertia(0.05, (0, 0, 0), (3e-4, 3e-4, 6e-4)), axis="z")
    return (
        fw.Builder("floating_leg")
        .add_body("base", joint=Free(), inertia=fw.Inertia(3.0, (0.01, 0.0, 0.02), (0.02, 0.03, 0.04)))
        .add_body(
            "hip",
            parent="base",
            joint=Revolute((0, 0.6, 0.8)),
            placement=fw.Placement((0.1, 0.05, 0.0)),
            inertia=fw.Inertia(1.0, (0, 0, -0.1), (0.01, 0.01, 0.002)),
            rotor=rotor,
            damping=0.2,
            stiffness=1.5,
            rest=0.3,
        )
        .add_body(
            "ankle",
            parent="hip",
            joint=Universal("x", (0.0, 0.8, 0.6)),
            placement=fw.Placement((0, 0, -0.3)),
            inertia=fw.Inertia(0.3, (0, 0.01, -0.02), (0.001, 0.002, 0.001)),
            armature=0.01,
            friction=0.1,
        )
        .add_body(
            "slide",
            parent="base",
            joint=Prismatic("x"),
            placement=fw.Placement((0, 0, 0.1), rpy=(0.0, 0.0, 1.5707963267948966)),
            inertia=fw.Inertia.sphere(0.5, 0.1),
        )
        .build()
    )


SYMBOLIC = {f.__name__: f for f in (pendulum, cartpole, double_pendulum, planar_arm, skew_arm, top, free_body)}
NUMERIC = {f.__name__: f for f in (six_axes, floating_leg)}
