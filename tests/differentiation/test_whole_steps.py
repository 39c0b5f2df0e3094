"""A whole step of a simulation, solver and searches included, is a program: both modes go through it."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import pytest

import featherweight as fw
from differentiation.exactly import program_of
from featherweight.compiler import Argument, Kernel
from featherweight.contact import Impulse, SpringDamper
from featherweight.differentiation import pulled_back, pushed_forward, replayed
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import _make, carry_of, constants_of

DT = 1e-3


def hopper() -> fw.Model:
    """A leg of two links on a rail, with a round foot."""
    builder = fw.Builder("hopper")
    link = fw.Inertia.box(1.0, (0.05, 0.05, 0.3), (0, 0, -0.15))
    builder.add_body(
        "body", parent="world", joint=fw.joints.Prismatic("z"), inertia=fw.Inertia.box(3.0, (0.1, 0.1, 0.1))
    )
    builder.add_body("thigh", parent="body", joint=fw.joints.Revolute("y"), inertia=link)
    knee = fw.Placement((0, 0, -0.3))
    builder.add_body("shank", parent="thigh", joint=fw.joints.Revolute("y"), inertia=link, placement=knee)
    builder.add_contact_point("foot", parent="shank", position=(0, 0, -0.3), radius=0.02)
    return builder.build()


MODEL = hopper()
BENT = np.array([0.0, 0.5, -1.1])
HEIGHT = 0.02 - fw.frame_pose(MODEL, BENT, "foot").position[2]


def program(integrator, contact):
    """The step of a model as a program of all that it takes, with their values: q, v, then τ, then the rest."""
    options = StepOptions(integrator, given=True, contact=contact)
    arguments = [*carry_of(MODEL, options), Argument("tau", (MODEL.nv,), "nv"), *constants_of(MODEL, options)]
    sizes = [prod(a.shape) for a in arguments]
    function = _make(MODEL, options).kernel.function

    def stepped(x):
        ends = np.cumsum([0, *sizes])
        scalars = [x[a:b] for a, b in pairwise(ends)]
        graph = x[0].graph
        results, _ = function(scalars, graph.model_constant, graph.mark)
        return [*results[0], *results[1]]

    known = {"dt": [DT], "numbers": options.numbers}
    values = [known.get(a.name, np.zeros(n)) for a, n in zip(arguments, sizes, strict=True)]
    names = [a.name for a in arguments]
    return program_of(stepped, sum(sizes)), names, values


@pytest.mark.parametrize(
    ("integrator", "contact", "depth"),
    [
        ("semi_implicit", Impulse(tolerance=1e-13), 1e-4),
        ("semi_implicit", SpringDamper(), 1e-3),
        ("variational", None, 0.0),
        ("rk4", None, 0.0),
    ],
)
def test_steps(integrator, contact, depth):
    rng = np.random.default_rng(2)
    method = {"semi_implicit": "SemiImplicit", "variational": "Variational", "rk4": "RK4"}[integrator]
    step, names, values = program(getattr(fw.integrators, method)(), contact)
    q, v, tau = BENT + np.array([HEIGHT - depth, 0.0, 0.0]), np.array([-0.3, 0.2, -0.1]), rng.normal(size=3)
    d, w = rng.normal(size=(3, 3)), rng.normal(size=6)

    def with_state(q, v, tau):
        given = {"q": q, "v": v, "tau": tau}
        return [np.float64(x) for name, own in zip(names, values, strict=True) for x in given.get(name, own)]

    flat = with_state(q, v, tau)
    n, along = len(flat), dict(zip(range(len(flat)), with_state(*d), strict=True))
    moves = [k for k, name in enumerate(np.repeat(names, [len(x) for x in values])) if name in ("q", "v", "tau")]
    tangents = [{0: float(along[k])} if k in moves else {} for k in range(n)]
    forward = program_of(lambda x: [t.get(0, 0.0) for t in pushed_forward(step, x, tangents)[1]], n)

    def backward(x):
        return pulled_back(step, x, list(w), [k in moves for k in range(n)])[1]

    back = program_of(backward, n)
    kernel = Kernel("back", [Argument("x", (n,), "n")], [(n,)], lambda x, *_: ([backward(x[0])], 0), lambda _: "")
    assert kernel.plan.operations  # its regions can be put in order
    eps = 1e-7
    with np.errstate(all="ignore"):
        found = np.array(replayed(forward, flat), dtype=float)
        cotangents = np.array(replayed(back, flat), dtype=float)
        ends = [replayed(step, with_state(q + s * d[0], v + s * d[1], tau + s * d[2])) for s in (eps, -eps)]
        here = np.array(replayed(step, flat), dtype=float)
    expected = (np.array(ends[0], dtype=float) - np.array(ends[1], dtype=float)) / (2 * eps)
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()
    assert abs(w @ found - sum(cotangents[k] * along[k] for k in moves)) <= 1e-10 * np.abs(found).max()
    with fw.interpret():
        run = fw.rollout(MODEL, q, v, steps=1, dt=DT, tau=tau[None], contact=contact, integrator=integrator)
    assert np.allclose(here, [*run.q[-1], *run.v[-1]], rtol=0, atol=1e-13)
