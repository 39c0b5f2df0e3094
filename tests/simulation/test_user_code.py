"""Integrators, actuators, surfaces and joints of users: each object gets the code of its own numbers, and what cannot
be saved or drawn says so."""

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse, Plane, SpringDamper, Surface
from featherweight.integrators import Integrator, SemiImplicit
from featherweight.simulation import options, step
from featherweight.spatial import Matrix, Motion, Transform, Vector


def ball():
    build = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    return build.add_contact_point("p", parent="ball", radius=0.1).build()


class Drift(Integrator):
    def __init__(self, speed):
        self.speed = speed

    def step(self, tree, q, v, h, acceleration):
        return [x + h * self.speed for x in q], list(v)


class Push(fw.actuators.Actuators):
    def __init__(self, k):
        self.k = k

    def forces(self, model, v, tau):
        return [self.k for _ in tau]


@dataclass(frozen=True)
class Floor(Surface):
    level: float = 0.0

    def height(self, p):
        return p.z - self.level, Vector(0.0, 0.0, 1.0)


class Slider(fw.joints.Joint):
    nq = nv = 1

    def __init__(self, slope):
        object.__setattr__(self, "slope", slope)

    def transform(self, q):
        return Transform(Matrix.identity(), Vector(1.0, 0.0, self.slope) * q[0])

    def subspace(self, q):
        return (Motion(Vector.zero(), Vector(1.0, 0.0, self.slope)),)

    def random(self, rng):
        return rng.uniform(-1, 1, 1)


PENDULUM = fw.robots.pendulum()
BALL = ball()


def test_each_integrator_has_its_own_numbers():
    method = Drift(1.0)
    for speed in (1.0, 2.0):
        run = fw.simulate(PENDULUM, [0.0], [0.0], duration=1.0, dt=0.1, integrator=Drift(speed))
        np.testing.assert_allclose(run.q[-1, 0], speed)
        method.speed = speed  # even if it is changed where it is
        run = fw.simulate(PENDULUM, [0.0], [0.0], duration=1.0, dt=0.1, integrator=method)
        np.testing.assert_allclose(run.q[-1, 0], speed)


def test_each_actuator_has_its_own_numbers():
    for k in (1.0, 5.0):
        run = fw.simulate(PENDULUM, [0.0], [0.0], duration=0.1, dt=0.1, actuators=Push(k))
        np.testing.assert_array_equal(run.tau, k)


def test_each_surface_has_its_own_numbers():
    for level in (0.0, -0.5):
        run = fw.simulate(BALL, _at(0.1), np.zeros(6), duration=1.0, dt=1e-3, contact=Impulse(Floor(level)))
        np.testing.assert_allclose(run.q[-1, 2], level + 0.1, atol=1e-5)


def test_a_controller_follows_what_it_refers_to():
    gains = [1.0]
    control = fw.compiled(lambda t, q, v, x, p: (gains[0] * np.ones(1), x))
    for gain in (1.0, 3.0):
        gains[0] = gain
        run = fw.simulate(PENDULUM, [0.0], [0.0], duration=0.1, dt=0.1, control=control)
        np.testing.assert_array_equal(run.tau, gain)


def test_loops_of_users_do_not_pile_up():
    model = fw.robots.pendulum()
    for speed in range(2 * step.MOST_TRACED):
        step.step_loop(model, options.StepOptions(Drift(float(speed))))
    assert len([key for key in model.cache.kernels if key[0] == "loop"]) == step.MOST_TRACED


def test_each_joint_has_its_own_numbers():
    for slope in (0.0, 1.0):
        for module in (__name__, "featherweight.joints.slider"):  # the last as if it stood in the package
            kind = type("Slider", (Slider,), {"__module__": module})
            build = fw.Builder("s").add_body("b", joint=kind(slope), inertia=fw.Inertia.sphere(1.0, 0.1))
            np.testing.assert_allclose(fw.gravity_force(build.build(), [0.0]), [9.81 * slope])


@pytest.mark.parametrize("contact", [None, SpringDamper(), Impulse()])
def test_a_step_of_a_user_is_never_ignored(contact):
    class Frozen(SemiImplicit):
        def step(self, tree, q, v, h, acceleration):
            return list(q), list(v)

    run = fw.simulate(BALL, _at(10.0), np.zeros(6), duration=0.1, dt=1e-4, integrator=Frozen(), contact=contact)
    assert run.q[-1, 2] == 10.0


def test_a_subclass_that_changes_no_step_is_taken():
    class Named(SemiImplicit):
        title = "mine"

    kwargs = {"duration": 0.1, "dt": 1e-3, "contact": Impulse()}
    run = fw.simulate(BALL, _at(0.2), np.zeros(6), integrator=Named(), **kwargs)
    same = fw.simulate(BALL, _at(0.2), np.zeros(6), **kwargs)
    np.testing.assert_array_equal(run.q, same.q)


def _at(z):
    q = BALL.neutral()
    q[2] = z
    return q


MODULE = """
import featherweight as fw
from featherweight.spatial import Vector
from featherweight.contact import Surface
class Step(Surface):
    def height(self, p):
        return p.z - {level}, Vector(0.0, 0.0, 1.0)
class Geared(fw.joints.Revolute):
    def transform(self, q): return super().transform([{factor} * q[0]])
    def subspace(self, q): return tuple(s * {factor} for s in super().subspace(q))
"""
MAIN = """
import numpy as np, featherweight as fw, mine
ball = (fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    .add_contact_point("c", parent="ball", radius=0.1).build())
q = ball.neutral(); q[2] = 0.2
print(fw.simulate(ball, q, np.zeros(6), duration=1.0, dt=1e-2, contact=fw.contact.Impulse(mine.Step())).q[-1, 2])
m = (fw.Builder("g").add_body("a", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(1.0, 0.1))
    .add_body("b", parent="a", joint=fw.joints.Mimic(mine.Geared("y"), "a_joint", 1.0, 0.0),
              inertia=fw.Inertia.sphere(1.0, 0.1)).build())
R = fw.forward_kinematics(m, np.array([0.1])).rotation[2]
print(np.arctan2(R[0, 2], R[0, 0]))
"""


def test_code_that_changed_between_processes_is_not_found_in_the_cache(tmp_path):
    found = {}
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    for level, factor in ((0.0, 1.0), (-0.5, 2.0)):
        (tmp_path / "mine.py").write_text(MODULE.format(level=level, factor=factor))
        done = subprocess.run(
            [sys.executable, "-c", MAIN], env=environment, capture_output=True, text=True, timeout=120, check=True
        )
        found[level] = [float(line) for line in done.stdout.split()]
    np.testing.assert_allclose(found[0.0], [0.1, 0.2], atol=1e-5)
    np.testing.assert_allclose(found[-0.5], [-0.4, 0.3], atol=1e-5)


# ---- what cannot be saved or drawn


@pytest.fixture(scope="module")
def run():
    return fw.simulate(BALL, _at(0.2), np.zeros(6), duration=0.1, dt=1e-2, contact=Impulse([Floor(), Plane()]))


def test_a_surface_that_cannot_be_saved_says_so(run, tmp_path):
    with pytest.warns(UserWarning, match="the ground is not written into the file: Floor is not a surface of"):
        run.save(tmp_path / "run.fw")
    again = fw.Trajectory.load(tmp_path / "run.fw")
    assert again.ground == ()
    np.testing.assert_array_equal(again.q, run.q)


def test_a_robot_that_cannot_be_saved_says_so(tmp_path):
    model = fw.Builder("s").add_body("b", joint=Slider(0.0), inertia=fw.Inertia.sphere(1.0, 0.1)).build()
    run = fw.simulate(model, [0.0], [0.0], duration=0.1, dt=1e-2)
    with pytest.warns(UserWarning, match="the robot 's' is not written into the file: it has a joint of another"):
        run.save(tmp_path / "run.fw")
    assert fw.Trajectory.load(tmp_path / "run.fw").model is None


def test_a_surface_that_cannot_be_drawn_says_so(run, tmp_path):
    with pytest.warns(UserWarning, match="ground: Floor cannot be drawn and is left out"):
        fw.viewer.export(run, tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 1000
    with pytest.warns(UserWarning, match="ground: Floor cannot be drawn and is left out"):
        fw.plot.movie(run, tmp_path / "run.gif")
