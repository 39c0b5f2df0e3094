"""One contact, or one row of a joint, by itself: its laws, recomputed with dense algebra on plain numbers."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.constraints.cone import Cone, ConeProblem
from featherweight.constraints.interval import Interval, IntervalProblem

CASES = range(60)


def entries(A: np.ndarray) -> list[float]:
    return [A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2]]


def scene(seed: int) -> tuple[ConeProblem, np.ndarray, np.ndarray]:
    """A contact whose normal and tangents are coupled, its mobility G, and the velocity b that it has without an
    impulse; friction below where it could jam."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3)) + 1.5 * np.eye(3)
    G, b = A @ A.T, rng.normal(size=3)
    b[0] -= 1.0
    mu = min(rng.uniform(0.2, 1.0), 0.7 * G[0, 0] / np.linalg.norm(G[0, 1:]))
    nothing = [[], [], []]
    inverse = entries(np.linalg.inv(G))
    return ConeProblem(nothing, nothing, entries(G), inverse, 0.0, b.tolist(), (), Cone(mu)), G, b


def solution(seed: int) -> tuple[ConeProblem, np.ndarray, np.ndarray, np.ndarray]:
    contact, G, b = scene(seed)
    impulse = np.zeros(3)
    for _ in range(30):
        impulse = np.array(contact.solved(impulse, b + G @ impulse))
    return contact, G, b, impulse


def kind_of(contact: ConeProblem, impulse: np.ndarray) -> str:
    if impulse[0] == 0:
        return "open"
    return "sticking" if np.hypot(*impulse[1:]) < contact.law.friction * impulse[0] * (1 - 1e-9) else "sliding"


@pytest.mark.parametrize("seed", CASES)
def test_a_contact_is_solved_as_open_sticking_or_sliding(seed: int) -> None:
    contact, G, b, impulse = solution(seed)
    w = b + G @ impulse
    assert contact.velocity(impulse.tolist()) == pytest.approx((G @ impulse).tolist())
    match kind_of(contact, impulse):
        case "open":
            assert not impulse.any()
            assert w[0] >= 0
        case "sticking":
            assert impulse[0] > 0
            assert np.abs(w).max() <= 1e-12
        case "sliding":
            assert abs(w[0]) <= 1e-12
            friction = -contact.law.friction * impulse[0] * w[1:] / np.linalg.norm(w[1:])
            assert np.abs(impulse[1:] - friction).max() <= 1e-11 * impulse[0]


def test_all_three_happen() -> None:
    assert {kind_of(*solution(seed)[::3]) for seed in CASES} == {"open", "sticking", "sliding"}


@pytest.mark.parametrize("seed", CASES)
def test_near_its_solution_a_slide_converges_quadratically(seed: int) -> None:
    """Two Newton steps for the direction: an angle φ off, it comes to about φ⁴."""
    contact, G, b, impulse = solution(seed)
    if kind_of(contact, impulse) != "sliding":
        return
    c, s = np.cos(0.02), np.sin(0.02)
    off = np.array([impulse[0], c * impulse[1] - s * impulse[2], s * impulse[1] + c * impulse[2]])
    again = np.array(contact.solved(off, b + G @ off))
    assert np.abs(again - impulse).max() <= 2e-5 * impulse[0]


@pytest.mark.parametrize("seed", CASES)
def test_a_newton_step_by_the_linearised_law_leads_to_the_solution(seed: int) -> None:
    """Δλ = a - H G Δλ; where the law holds it asks for no change and has no error."""
    contact, G, b, impulse = solution(seed)
    w = b + G @ impulse
    there = contact.linearised(impulse, w)
    assert np.abs(there.a).max() <= 1e-5 * contact.mass
    assert there.error <= 1e-20
    if kind_of(contact, impulse) == "open":
        return
    near = impulse + 1e-4 * impulse[0] * np.random.default_rng(seed).normal(size=3)
    law = contact.linearised(near, b + G @ near)
    step = np.linalg.solve(np.eye(3) + np.array(law.H) @ G, law.a)
    assert law.error > 0
    assert np.abs(near + step - impulse).max() <= 2e-2 * np.abs(near - impulse).max()


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", CASES)
def test_a_change_of_an_impulse_ends_at_the_edge_of_its_cone(seed: int, size: float) -> None:
    """All of it, or what leads to the edge or to no normal impulse at all; for light robots as for heavy ones."""
    contact, *_ = scene(seed)
    rng = np.random.default_rng(seed)
    own = size * np.array([1.0, *(rng.uniform(-0.6, 0.6, 2) * contact.law.friction)])
    change = size * rng.normal(size=3) * rng.uniform(0.1, 3.0)

    def room(impulse: np.ndarray) -> float:
        return (contact.law.friction * impulse[0] - np.hypot(*impulse[1:])) / size

    part = contact.reach(own, change)
    if room(own + change) > 0:
        assert part == 1
    else:
        assert 0 < part <= 1
        end = own + part * change
        assert min(abs(room(end)), abs(end[0]) / size) <= 1e-9


def test_a_change_of_an_impulse_ends_at_the_bounds_of_its_row() -> None:
    row = IntervalProblem([[]], [[]], 1.0, [0.0], 0.0, 0.0, (), Interval(-2.0, 3.0))
    changes = {-1.0: 1.0, -3.0: 1.0, -6.0: 0.5, 1.0: 1.0, 2.0: 1.0, 8.0: 0.25}
    assert {change: row.reach([1.0], [change]) for change in changes} == changes


@pytest.mark.parametrize("seed", CASES)
def test_a_point_that_moves_along_one_line_only_is_held(seed: int) -> None:
    """G = u uᵀ has one direction with a mobility; impulses along it stop the point if friction may be as steep."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=3) * [1.0, 0.5, 0.5] * 10.0 ** rng.uniform(-2, 2)
    u[0] = abs(u[0])
    mu = 1.5 * float(np.hypot(*u[1:]) / u[0])
    rows = [[float(x)] for x in u]
    contact = Cone(mu).problem((0,), rows, rows, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    w = np.array(-u)  # the speed along the line is -1 before
    impulse = contact.solved([0.0, 0.0, 0.0], w.tolist())
    after = w + u * (u @ impulse)
    assert impulse[0] > 0
    assert np.abs(after).max() <= 1e-5 * np.abs(w).max()
    after = after + np.array(
        contact.velocity([x - y for x, y in zip(contact.solved(impulse, after), impulse, strict=True)])
    )
    assert np.abs(after).max() <= 1e-10 * np.abs(w).max()
