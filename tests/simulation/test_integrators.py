"""Integrators against closed forms, conservation laws and their own order."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from laws.random_trees import inertia, placement
from simulation.measured import order_of

J = fw.joints


def heavy_top() -> fw.Model:
    moment = (0.234375, 0.46875, 0.234375)
    return fw.Builder("top").add_body("top", joint=J.Spherical(), inertia=fw.Inertia(15.0, (0, 1, 0), moment)).build()


def floating_tree(gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> fw.Model:
    """A free body that carries every other kind of joint."""
    rng = np.random.default_rng(4)
    kinds = [
        J.Free(), J.Revolute((1, 2, 2)), J.Prismatic("x"), J.Helical("y", 0.2), J.Cylindrical("z"),
        J.Universal("x", "y"), J.Planar(), J.Spherical(),
    ]  # fmt: skip
    builder = fw.Builder("tree", gravity=gravity)
    for k, (kind, parent) in enumerate(zip(kinds, (0, 1, 1, 2, 3, 1, 4, 2), strict=True), start=1):
        builder.add_body(
            f"body{k}",
            parent=f"body{parent}" if parent else "world",
            joint=kind,
            placement=placement(rng) if parent else None,
            inertia=inertia(rng),
        )
    return builder.build()


def slow(model: fw.Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return model.random(rng), rng.normal(size=model.nv) * 0.5


def cases() -> dict[str, tuple[fw.Model, np.ndarray, np.ndarray]]:
    top, chain, tree = heavy_top(), fw.robots.chain(3), floating_tree((0.0, 0.0, -9.81))
    return {
        "pendulum": (fw.robots.pendulum(), np.array([1.0]), np.array([0.5])),
        "chain": (chain, np.array([0.5, -0.3, 0.2]), np.array([0.1, 0.2, -0.4])),
        "top": (top, top.neutral(), np.array([0.5, 15.0, -1.0])),
        "tree": (tree, *slow(tree)),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("method", "order", "steps"), [("semi_implicit", 1, 512), ("rk4", 4, 64)])
def test_order_on_the_trajectory(name: str, method: str, order: int, steps: int) -> None:
    model, q, v = CASES[name]
    assert abs(order_of(method, model, q, v, time=0.5, steps=steps, finest=4096) - order) <= 0.1


def test_the_pendulum_of_the_benchmark_library() -> None:
    """A01: released at (-1, 0), where it is after ten seconds."""
    model = fw.robots.pendulum()
    end = fw.simulate(model, [np.pi / 2], [0.0], duration=10.0, dt=5e-4, integrator="rk4", record_every=20000)
    position = np.array([-np.sin(end.q[-1, 0]), -np.cos(end.q[-1, 0])])
    assert np.abs(position - (-0.275087462576, -0.961419205099)).max() <= 1e-8


def test_the_heavy_top() -> None:
    model = heavy_top()
    end = fw.simulate(
        model, model.neutral(), [0.0, 150.0, -4.61538], duration=0.2, dt=2e-5, integrator="rk4", record_every=10000
    )
    com = fw.center_of_mass(model, end.q[-1])
    assert np.abs(com - (0.605550561, 0.598957682, -0.523983027)).max() <= 1e-8
    assert np.abs(end.v[-1] - (-2.69159091, 150.0, 4.91726099)).max() <= 1e-6


@pytest.mark.parametrize(("method", "tolerance"), [("rk4", 1e-10), ("semi_implicit", 2e-3)])
def test_a_floating_tree_keeps_its_momentum(method: str, tolerance: float) -> None:
    model = floating_tree()
    q, v = slow(model)
    run = fw.simulate(model, q, v, duration=0.5, dt=2.5e-4, integrator=method, record_every=100)
    h = fw.momentum(model, run.q, run.v)
    assert np.abs(h - h[0]).max() <= tolerance * np.abs(h[0]).max()


def test_a_spinning_body_keeps_its_speed() -> None:
    """In the body's turning axes, plain Euler would multiply its speed by 1 + (hω)²/2 a step."""
    ball = fw.Builder(gravity=(0, 0, 0)).add_body("ball", joint=J.Free(), inertia=fw.Inertia.sphere(1, 0.1)).build()
    disc = fw.Builder(gravity=(0, 0, 0)).add_body("disc", joint=J.Planar(), inertia=fw.Inertia.sphere(1, 0.1)).build()
    for model, v in ((ball, [1.0, 0, 0, 0, 0, 10.0]), (disc, [1.0, 0, 10.0])):
        run = fw.simulate(model, model.neutral(), v, duration=1.0, dt=1e-3)
        assert np.abs(np.linalg.norm(run.v[:, :2], axis=1) - 1.0).max() <= 1e-12
        assert np.abs(run.q[-1, :2] - (1.0, 0.0)).max() <= 1e-12


def test_energy_of_a_pushed_quadruped() -> None:
    """Free fall of the Mini Cheetah with moving legs: RK4 keeps its energy."""
    model = fw.robots.mini_cheetah(damping=0.0, friction=0.0)
    q, v = slow(model)
    run = fw.simulate(model, q, v, duration=0.5, dt=1e-3, integrator="rk4")
    assert np.ptp(run.energy()) <= 1e-8 * np.abs(run.energy()).max()


def test_damping_friction_and_springs_act() -> None:
    builder = fw.Builder(gravity=(0, 0, 0))
    for k, extra in enumerate(({"damping": 0.7}, {"friction": 0.5}, {"stiffness": 4.0, "rest": 0.3})):
        builder.add_body(f"b{k}", joint=J.Revolute("z"), inertia=fw.Inertia(1, (0, 0, 0), 1.0), **extra)
    model = builder.build()
    run = fw.simulate(model, [0.0, 0.0, 1.3], [1.0, 1.0, 0.0], duration=1.0, dt=1e-3, integrator="rk4")
    assert run.v[-1, 0] == pytest.approx(np.exp(-0.7), rel=1e-9)
    assert run.v[-1, 1] == pytest.approx(0.5, rel=1e-9)
    assert run.q[-1, 2] == pytest.approx(0.3 + np.cos(2.0), rel=1e-9)


def test_damping_too_stiff_for_an_explicit_method_is_told() -> None:
    bob = fw.Inertia.point(0.1, (0, 0, -0.1))
    model = fw.Builder().add_body("bob", joint=fw.joints.Revolute("y"), inertia=bob, damping=50.0).build()
    options = {"duration": 5e-3, "dt": 1e-3}
    with pytest.warns(UserWarning, match=r"joint 'bob_joint': its damping is too stiff for RK4\(\) with dt = 0.001 s"):
        fw.simulate(model, [0.1], [1.0], **options, integrator="rk4")
    run = fw.simulate(model, [0.1], [1.0], **options)
    assert (np.abs(run.v[2:, 0]) <= 3e-4).all()  # gravity over damping
