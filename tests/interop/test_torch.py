"""featherweight inside of PyTorch: values, derivatives against differences, vmap, training, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import featherweight as fw
from featherweight.interop import torch as fwt
from featherweight.interop.operators import Operator, Slot
from featherweight.interop.torch_function import applied
from interop.models import FLOATING, SLIDES, close, cost, final, on_the_ground, slope, two_hinges

N = FLOATING.nv
RNG = np.random.default_rng(1)
func = torch.func
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def tensors(*arrays: Any, grad: bool = False) -> list[torch.Tensor]:
    return [torch.tensor(a, dtype=torch.float64, requires_grad=grad) for a in arrays]


def state() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return FLOATING.random(RNG), *RNG.normal(size=(2, N))


# ---- values and first derivatives


def test_values_are_those_of_the_library() -> None:
    q, v, tau = state()
    found = fwt.forward_dynamics(FLOATING)(*tensors(q, v, tau))
    assert close(found, fw.forward_dynamics(FLOATING, q, v, tau))
    pose = fwt.frame_pose(FLOATING, frame="arm")(q)
    assert isinstance(pose, fw.Pose)
    assert isinstance(pose.position, torch.Tensor)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
def test_gradients_are_those_of_differences(name: str) -> None:
    q, v, third = state()
    w, (d, dv, da) = RNG.normal(size=N), RNG.normal(size=(3, N))
    f, arguments = getattr(fwt, name)(FLOATING), tensors(q, v, third, grad=True)
    (torch.tensor(w) * f(*arguments)).sum().backward()
    dq = slope(lambda h: fw.integrate(FLOATING, q, d, h))
    own = getattr(fw, name)
    along = slope(lambda h: own(FLOATING, fw.integrate(FLOATING, q, d, h), v + h * dv, third + h * da))
    total = sum(x.grad.numpy() @ t for x, t in zip(arguments, (dq, dv, da), strict=True))  # type: ignore[union-attr]
    assert abs(total - w @ along) <= 1e-6 * max(1.0, np.abs(along).max())
    _, pushed = func.jvp(f, tuple(tensors(q, v, third)), tuple(tensors(dq, dv, da)))
    assert np.abs(pushed.numpy() - along).max() <= 1e-6 * max(1.0, np.abs(along).max())


def test_torch_itself_finds_the_derivatives_right() -> None:
    """gradcheck and gradgradcheck, for plain coordinates: with quaternions differences leave the manifold."""
    arm = two_hinges()
    f = fwt.forward_dynamics(arm, parameters=("hand.mass",))
    arguments = tensors(*RNG.normal(size=(3, 4, 2)), np.array(0.7), grad=True)
    assert torch.autograd.gradcheck(f, arguments, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, arguments, check_fwd_over_rev=True)


def test_the_chain_rule_through_integrate_and_normalised_quaternions() -> None:
    q, v, x = state()
    energy, integrate = fwt.potential_energy(FLOATING), fwt.integrate(FLOATING)

    def through_integrate(d: Any) -> Any:
        return energy(integrate(q, d, 1.0))

    g = func.grad(through_integrate)(torch.tensor(x)).numpy()
    assert abs(g @ v - slope(lambda h: through_integrate(x + h * v))) <= 1e-7 * np.abs(g).max()

    def normalised(y: Any) -> Any:
        y = torch.as_tensor(y)
        parts = y[:3], y[3:7] / torch.linalg.norm(y[3:7]), y[7:11] / torch.linalg.norm(y[7:11]), y[11:]
        return energy(torch.cat(parts))

    y, d = 1.7 * q, RNG.normal(size=q.size)
    g = func.grad(normalised)(torch.tensor(y)).numpy()
    assert abs(g @ d - slope(lambda h: normalised(y + h * d))) <= 1e-7 * np.abs(g).max()
    h = func.jvp(func.grad(normalised), (torch.tensor(y),), (torch.tensor(d),))[1].numpy()
    assert np.abs(h - slope(lambda s: func.grad(normalised)(torch.tensor(y + s * d)))).max() <= 1e-6 * np.abs(h).max()


def test_functions_of_users_with_several_results() -> None:
    f = fwt.wrap(fw.function(lambda x, p: {"a": p * x @ x, "b": np.sin(x)}, inputs={"x": 2, "p": ()}))
    (x,) = tensors([0.3, 0.4], grad=True)
    found = f(x, 2.0)
    (g,) = torch.autograd.grad(found["a"], x)
    assert np.allclose(g, [1.2, 1.6])
    H = func.hessian(lambda x: f(x, 2.0)["b"].sum())(x.detach())
    assert np.allclose(H, np.diag(-np.sin([0.3, 0.4])))


# ---- batches


class Spy(Operator):
    """Twice its argument; it keeps the array that it gets, and the one that it gives."""

    name, inputs, outputs = "spy", (Slot("x", (2,)),), ((2,),)

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        self.given, self.result = arrays[0], 2 * arrays[0]
        return (self.result,)


def test_batches_are_not_copied() -> None:
    spy = Spy()
    x = torch.ones(1000, 2, dtype=torch.float64)
    (y,) = applied(spy, [x])
    assert np.shares_memory(spy.given, x.numpy())
    assert np.shares_memory(spy.result, y.numpy())
    applied(spy, [x[::2].t().t()])
    assert np.shares_memory(spy.given, x.numpy())
    func.vmap(lambda row: applied(spy, [row])[0])(x)
    assert spy.given.shape == (1000, 2)  # one call for all
    assert np.shares_memory(spy.given, x.numpy())


def test_mapped_axes_become_ours() -> None:
    f = fwt.forward_dynamics(FLOATING)
    q, v, tau = np.stack([FLOATING.random(RNG) for _ in range(12)]), RNG.normal(size=(N, 12)), RNG.normal(size=N)
    expected = fw.forward_dynamics(FLOATING, q, v.T, tau)
    Q, V, T = tensors(q, v, tau)
    assert close(func.vmap(f, in_dims=(0, 1, None))(Q, V, T), expected)
    nested = func.vmap(func.vmap(f, in_dims=(0, 0, None)), in_dims=(0, 0, None))
    found = nested(Q.reshape(3, 4, -1), V.t().reshape(3, 4, -1), T)
    assert close(found.reshape(12, N), expected)
    inner = func.vmap(f, in_dims=(0, None, 0))(Q[:3], V.t()[:4], torch.stack([T] * 3))
    assert close(inner, fw.forward_dynamics(FLOATING, q[:3, None], v.T[:4], tau))


def test_gradients_of_batches_and_batches_of_gradients() -> None:
    f, w = fwt.forward_dynamics(FLOATING), torch.tensor(RNG.normal(size=N))
    q, v, tau = tensors(np.stack([FLOATING.random(RNG) for _ in range(5)]), RNG.normal(size=(5, N)), RNG.normal(size=N))
    own = func.grad(lambda *a: (w * f(*a)).sum(), argnums=(0, 2))
    single = [own(q[k], v[k], tau) for k in range(5)]
    each = func.vmap(own, in_dims=(0, 0, None))(q, v, tau)
    broadcast = own(q, v, tau)
    for k in range(5):
        assert torch.allclose(each[0][k], single[k][0], rtol=1e-12, atol=1e-12)
        assert torch.allclose(each[1][k], single[k][1], rtol=1e-12, atol=1e-12)
    assert broadcast[1].shape == (N,)
    assert torch.allclose(broadcast[0], each[0], rtol=1e-12, atol=1e-12)
    assert torch.allclose(broadcast[1], each[1].sum(dim=0), rtol=1e-11, atol=1e-11)


# ---- steps and rollouts


def test_steps_in_a_loop_have_the_gradient_of_the_rollout() -> None:
    q, v, _ = on_the_ground()
    plan = RNG.normal(size=(10, N))
    step = fwt.step(FLOATING, dt=2e-3, contact=SLIDES)
    whole = fwt.rollout_cost(cost, FLOATING, steps=10, dt=2e-3, final=final, contact=SLIDES)
    arguments, again = tensors(q, v, plan, grad=True), tensors(q, v, plan, grad=True)
    whole(*arguments).backward()
    now, speed, tau = again
    total: Any = 0.0
    for k in range(10):
        total = total + cost(2e-3 * k, now, speed, tau[k], None)
        now, speed = step(now, speed, tau[k])
    (total + final(now, speed, None)).backward()
    for x, y in zip(arguments, again, strict=True):
        assert (x.grad - y.grad).abs().max() <= 1e-6 * y.grad.abs().max()  # type: ignore[operator,union-attr]
    d = RNG.normal(size=N)
    along = slope(lambda h: whole(fw.integrate(FLOATING, q, d, h), v, plan), 1e-7)
    dq = slope(lambda h: fw.integrate(FLOATING, q, d, h))
    assert abs(arguments[0].grad.numpy() @ dq - along) <= 1e-5 * np.abs(along)  # type: ignore[union-attr]


def test_training_a_network_that_pushes_makes_its_cost_fall() -> None:
    """A policy in PyTorch around steps of featherweight, a batch of robots, and PyTorch's own optimiser."""
    torch.manual_seed(0)
    step = fwt.step(FLOATING, dt=5e-3, contact=SLIDES)
    starts = [on_the_ground(k) for k in range(8)]
    q0, v0 = tensors(*(np.stack([s[k] for s in starts]) for k in (0, 1)))
    policy = torch.nn.Sequential(torch.nn.Linear(N, 8), torch.nn.Tanh(), torch.nn.Linear(8, N)).double()
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.03)
    values = []
    for _ in range(25):
        q, v, loss = q0, v0, torch.zeros((), dtype=torch.float64)
        for _ in range(10):
            tau = policy(v)
            q, v = step(q, v, tau)
            loss = loss + (v**2).sum(dim=-1).mean() + 1e-3 * (tau**2).sum(dim=-1).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        values.append(loss.item())
    assert values[-1] < 0.8 * values[0]


def test_training_finds_masses() -> None:
    arm = two_hinges()
    q, v, a = RNG.normal(size=(3, 100, 2))
    measured = fw.inverse_dynamics(arm, q, v, a, parameters={"upper.mass": 1.4, "hand.mass": 0.6})
    inverse = fwt.inverse_dynamics(arm, parameters=("upper.mass", "hand.mass"))
    masses = torch.ones(2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([masses], lr=0.05)
    for _ in range(150):
        loss = ((inverse(q, v, a, masses[0], masses[1]) - torch.tensor(measured)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert np.allclose(masses.detach(), [1.4, 0.6], atol=1e-3)


# ---- what is refused


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda f, q, v, t: f(q, v), TypeError, r"expected 3 arguments \(q, v, tau\), got 2"),
        (lambda f, q, v, t: f(q, v[:-1], t), ValueError, r"forward_dynamics: v: expected shape \(…, 10\), got \(9,\)"),
        (lambda f, q, v, t: f(torch.stack([q] * 3), torch.stack([v] * 2), t), ValueError, "do not broadcast together"),
        (lambda f, q, v, t: f(q.float(), v, t), TypeError, r"q: expected float64, got torch.float32; use .double\(\)"),
        (lambda f, q, v, t: f(q, v, t * 1j), TypeError, "tau: expected real numbers"),
        (lambda f, q, v, t: f(q, v, "tau"), TypeError, "tau: expected a tensor, got str"),
        (lambda f, q, v, t: f(q, v, t > 0), TypeError, "tau: expected real numbers"),
        (lambda f, q, v, t: f(q, v, t.to("meta")), ValueError, "tau: expected a tensor on the CPU, got one on meta"),
        (lambda f, q, v, t: f(2 * q, v, t), ValueError, "q: joint 'base_joint': the quaternion .* has length 2"),
        (lambda f, q, v, t: f(q, v * torch.nan, t), ValueError, "v.* is nan; expected finite numbers"),
        (lambda f, q, v, t: fwt.wrap(len), TypeError, "f: expected a function made by fw.function"),
        (lambda f, q, v, t: fwt.mass_matrix(FLOATING, convert=1), TypeError, "convert: expected True or False"),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(fwt.forward_dynamics(FLOATING), *tensors(*state()))


def test_second_derivatives_of_steps_are_refused() -> None:
    step = fwt.step(FLOATING, dt=2e-3)
    with pytest.raises(NotImplementedError, match="second derivatives"):
        func.hessian(lambda v: step(FLOATING.neutral(), v, np.zeros(N))[1].sum())(torch.zeros(N, dtype=torch.float64))


def test_single_precision_is_converted_if_asked() -> None:
    q, v, tau = state()
    f = fwt.forward_dynamics(FLOATING, convert=True)
    halves = [torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in (q, v, tau)]
    found = f(*halves)
    found.sum().backward()
    assert found.dtype == torch.float32
    assert [x.grad.dtype for x in halves] == [torch.float32] * 3  # type: ignore[union-attr]
    expected = fw.forward_dynamics(FLOATING, q, v, tau)
    assert np.abs(found.detach().numpy() - expected).max() <= 1e-4 * np.abs(expected).max()
    assert f(q, halves[1].detach(), tau).dtype == torch.float64


def test_arrays_that_are_read_only_are_taken_without_a_warning() -> None:
    q, v, tau = state()
    q.flags.writeable = False
    assert close(fwt.forward_dynamics(FLOATING)(q, v, tau), fw.forward_dynamics(FLOATING, q, v, tau))
