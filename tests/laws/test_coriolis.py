"""The Coriolis matrix: C v + g = c, and dM/dt - 2C is skew, rotors included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import along, close, law, rate
from laws.random_trees import ONE_DOF, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


@law
@given(trees(mimic=True))
def test_coriolis_matrix_and_gravity_make_the_bias(model: fw.Model) -> None:
    q, v, _ = states(model, 5)
    bias = np.einsum("bij,bj->bi", fw.coriolis_matrix(model, q, v), v) + fw.gravity_force(model, q)
    close(bias, fw.bias_force(model, q, v))


@law
@given(trees(mimic=True))
def test_mass_matrix_rate_minus_twice_coriolis_is_skew(model: fw.Model) -> None:
    """dM/dt = C + Cᵀ."""
    q, v, _ = state(model)
    M_dot = rate(lambda t: fw.mass_matrix(model, along(model, q, v)(t)))
    C = fw.coriolis_matrix(model, q, v)
    close(M_dot, C + C.T, 1e-9)


@law
@given(trees(mimic=True))
def test_coriolis_matrix_is_linear_in_velocity(model: fw.Model) -> None:
    q, v, w = states(model, 5)
    C = fw.coriolis_matrix(model, q, 2 * v - w)
    close(C, 2 * fw.coriolis_matrix(model, q, v) - fw.coriolis_matrix(model, q, w))


@law
@given(trees(kinds=ONE_DOF))
def test_coriolis_matrix_is_that_of_the_christoffel_symbols(model: fw.Model) -> None:
    """Of all C with the laws above it is the one whose symbols Γ_ijk are symmetric in j and k, where v = dq/dt: then
    C(q, v) w = C(q, w) v."""
    q, v, w = states(model, 5)
    C_v, C_w = fw.coriolis_matrix(model, q, v), fw.coriolis_matrix(model, q, w)
    close(np.einsum("bij,bj->bi", C_v, w), np.einsum("bij,bj->bi", C_w, v))
