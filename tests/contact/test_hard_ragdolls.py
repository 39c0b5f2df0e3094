"""Hard steps, recorded, and their laws by NumPy: limp humanoids on stairs, and what jams (faces of stacks and of boxes
thrown in long steps, random worlds, a ball that is wedged)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from contact.test_slots import Chains
from featherweight.constraints import Cone
from featherweight.constraints.interval import Stop
from featherweight.constraints.law import LocalProblem
from featherweight.constraints.solve.coupling import Coupling
from featherweight.constraints.solve.newton import Iterate, newton_step
from featherweight.constraints.solve.search import MOST_ROOM, search
from featherweight.constraints.solve.system import AllBlocks

RECORDED = {name: np.load(Path(__file__).parent / f"hard_{name}.npz") for name in ("ragdolls", "jams")}
CASES = [(name, k) for name, file in RECORDED.items() for k in range(len(file.files) // 5)]
TOLERANCE = 1e-8


def recorded(name: str, k: int) -> Coupling:
    """A problem: contacts first, then stops of joints."""
    T, Y, e, friction = (RECORDED[name][f"{array}{k}"] for array in ("T", "Y", "e", "friction"))
    ends = 3 * np.arange(len(friction) + 1)
    starts = [*ends, *range(ends[-1] + 1, len(e) + 1)]
    problems: list[LocalProblem] = []
    for n, (i, j) in enumerate(pairwise(starts)):
        law = Cone(float(friction[n])) if n < len(friction) else Stop()
        dofs = tuple(np.flatnonzero((T[i:j] != 0).any(axis=0)).tolist())
        rows = (x[i:j][:, list(dofs)].tolist() for x in (T, Y))
        problems.append(law.problem(dofs, *rows, e[i:j].tolist(), [0.0] * (j - i)))
    coupling = Coupling(Chains(), problems, [True] * len(problems), range(T.shape[1]))  # type: ignore[arg-type]
    coupling.eases = RECORDED[name][f"eases{k}"].tolist()
    return coupling


@pytest.mark.parametrize(("name", "k"), CASES)
def test_a_step_where_exact_laws_go_round_is_solved(name: str, k: int) -> None:
    """Exact laws alone came no nearer than 1e-4 m/s in 400 turns, small weights of splitting than 2e-8 m/s in 1500
    on what jams, weights of 4, 16, 64, 1e6 and 4e6 than 5e-8 m/s on the last ragdoll; the last two jams (a rolling
    ball wedged between a box and the ground is one) they solved only where contacts might close by 1e-4 m/s."""
    coupling = recorded(name, k)
    begin = Iterate([[0.0] * part.law.size for part in coupling.problems], 1.0, 0.0)
    found = search(coupling, begin, TOLERANCE, 1500)
    assert found.error <= TOLERANCE**2

    # the laws, by dense algebra; what recovers from depth may be left out, and then there may be room
    T, Y, e, friction = (RECORDED[name][f"{array}{k}"] for array in ("T", "Y", "e", "friction"))
    impulses = np.concatenate(found.impulses)
    G = T @ Y.T
    w, count = e + G @ impulses, len(friction)
    mobility, normal = np.diag(G), np.r_[3 * np.arange(count), 3 * count : len(e)]
    eases = RECORDED[name][f"eases{k}"]
    least = -eases - (MOST_ROOM if eases.any() else 0.0) - 2 * TOLERANCE
    assert (impulses[normal] >= 0).all()
    assert (w[normal] >= least).all()
    assert (np.minimum(w[normal], impulses[normal] * mobility[normal]) <= 2 * TOLERANCE).all()
    along, slip = (x[: 3 * count].reshape(-1, 3)[:, 1:] for x in (impulses, w))
    bound = friction * impulses[: 3 * count : 3]
    assert (np.linalg.norm(along, axis=1) <= bound * (1 + 1e-12)).all()
    size, mobility = np.linalg.norm(along, axis=1), mobility[: 3 * count : 3]
    unit = along / np.maximum(size, 1e-300)[:, None]
    onwards, across = (slip * unit).sum(axis=1), slip[:, 0] * unit[:, 1] - slip[:, 1] * unit[:, 0]
    assert (np.minimum((bound - size) * mobility, np.linalg.norm(slip, axis=1)) <= 2 * TOLERANCE).all()
    assert (onwards <= 2 * TOLERANCE).all()
    assert (np.abs(across) <= 2 * TOLERANCE).all()  # what slides does so against friction


def test_newton_steps_stay_where_they_would_only_lead_away() -> None:
    """Below the tolerance; without that they leave by a hundred thousand times the error."""
    coupling = recorded("jams", 4)
    blocks = AllBlocks(coupling)
    found = replace(search(coupling, Iterate(blocks.nothing(), 1.0, 0.0), TOLERANCE, 1500), turns=0.0)
    stays = newton_step(blocks, found, False, near=TOLERANCE**2)
    assert stays.stays == 1.0
    assert stays.impulses == found.impulses
    assert newton_step(blocks, found, False).error > 1e10 * found.error
