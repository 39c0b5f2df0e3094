"""A step that was traced, written as plain data and read again, is the same program: the same bits, nothing traced."""

import json

import numpy as np
import pytest

import featherweight as fw
from featherweight import scalar
from featherweight.simulation.problem import laid_out, step_options
from featherweight.simulation.python_run import run_of
from featherweight.simulation.running import drive
from featherweight.simulation.traced_step import TracedStep

TABLE = np.linspace(-1.0, 1.0, 5)
WEIGHTS = np.random.default_rng(0).normal(size=(6, 4))


def by_all_means(t, q, v, x, p):
    """Loops, arrays, tables, products with matrices, random numbers, and functions that are lowered late."""
    summed = scalar.repeat(lambda c: [c[0] + 0.5, c[1] * 0.9], [q[0], v[0]], until=lambda c: c[0] > 1.0, at_most=7)
    memory = scalar.array([v[0], v[1], 0.0])
    (total,) = scalar.count(3, lambda k, c: [c[0] + memory[k]], [0.0])
    looked_up = scalar.lookup(TABLE, 2.0 + q[1])
    product = WEIGHTS @ np.concatenate([q, v])
    noise = scalar.random(p[0], t / 1e-3, 1.0)
    return np.array([summed[1] + scalar.tanh(product[0]) - p[1] * v[0], total + looked_up + 0.1 * noise]), x + t


def step_of(model, **arguments):
    usual = {"control": None, "contact": None, "integrator": "semi_implicit", "actuators": None, "limits": True}
    usual |= {"forces": (), "constraints": ()}
    return TracedStep.of(model, step_options(model, False, False, **{**usual, **arguments}))


def in_another_process(step):
    facts, arrays = step.to_plain()
    return TracedStep.from_plain(json.loads(json.dumps(facts)), {n: np.array(a) for n, a in arrays.items()})


def rolled_out(step, q, v, **more):
    run = run_of(laid_out(step, q, v, 20, 1e-3, 5, None, **more))
    drive(run, False, None)
    return run.trajectory()


def cases():
    control = fw.compiled(by_all_means, state=[0.0], parameters=[3.0, 0.4])
    yield fw.robots.chain(2), {"control": control, "integrator": "rk4", "limits": False}
    scene = fw.scenes.trot()
    yield scene.model, {"control": scene.control, "contact": scene.contact, "actuators": scene.actuators}


@pytest.mark.parametrize(("model", "means"), list(cases()), ids=["everything", "trot"])
def test_a_step_that_was_written_and_read_has_the_same_bits(model, means):
    rng = np.random.default_rng(1)
    q = np.tile(fw.scenes.crouched(model) if model.nq == 19 else model.neutral() + 0.3, (5, 1))
    v = 0.1 * rng.normal(size=(5, model.nv))
    expected = fw.rollout(model, q, v, steps=20, dt=1e-3, record_every=5, **means)
    own = step_of(model, **means)
    read = in_another_process(own)
    assert read.loop.program() == own.loop.program()
    graph, _ = read.loop.kernel._write()  # what would be compiled with a cold cache; raises if it is another program
    assert len(graph.op) > 50
    run = rolled_out(read, q, v)
    for name in ("q", "v", "x", "tau", "contact_force", "status"):
        assert np.array_equal(getattr(run, name), getattr(expected, name)), name


def test_other_parameters_of_a_controller_are_inputs_of_a_step_that_was_read():
    model, means = next(cases())
    p = np.array([[3.0, 0.4], [3.0, 0.9]])
    expected = fw.rollout(model, model.neutral(), np.ones(2), steps=20, dt=1e-3, record_every=5, **{
        **means, "control": means["control"].with_parameters(p)})  # fmt: skip
    run = rolled_out(in_another_process(step_of(model, **means)), model.neutral(), np.ones(2), control_parameters=p)
    assert np.array_equal(run.q, expected.q)
    assert not np.array_equal(run.q[0], run.q[1])


def test_a_trace_that_was_changed_on_its_way_is_not_compiled():
    facts, arrays = step_of(fw.robots.chain(2)).to_plain()
    arrays["trace arguments"] = arrays["trace arguments"][::-1].copy()
    with pytest.raises(ValueError, match="not the one it says it is"):
        TracedStep.from_plain(facts, arrays).loop.kernel._write()


def test_operations_that_are_not_known_here_are_named():
    facts, arrays = step_of(fw.robots.chain(2)).to_plain()
    arrays["trace operations"] = np.frombuffer(b"bogus\n" + arrays["trace operations"].tobytes()[4:], dtype=np.uint8)
    with pytest.raises(ValueError, match="not known here: bogus"):
        TracedStep.from_plain(facts, arrays).loop.kernel._write()
