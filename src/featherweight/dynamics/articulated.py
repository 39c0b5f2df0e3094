"""What the articulated-body algorithm computes on its way: articulated inertias and propagators, for teaching."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.dynamics.evaluate import (
    Parameters,
    Quantity,
    Results,
    Scalars,
    as_columns,
    divides,
    evaluate,
    flat,
    linear_first,
)
from featherweight.dynamics.fast_path import fast_path
from featherweight.model import Model, Tree
from featherweight.spatial import Matrix, Motion, Vector

UNITS = [Motion(Vector.zero(), e) for e in Matrix.identity()] + [Motion(e, Vector.zero()) for e in Matrix.identity()]
WORLD = [0.0] * 36


class ArticulatedInertias(NamedTuple):
    """I^A (…, nb+1, 6, 6) of every body, U (…, 6, nv) and D (…, nv, nv) of every joint; linear first."""

    I_A: np.ndarray
    U: np.ndarray
    D: np.ndarray


def _articulated(model: Model, tree: Tree, x: Scalars) -> Results:
    IA, U, D = algorithms.articulated_inertia(tree, x["q"])
    inertias = [as_columns([linear_first(I @ unit) for unit in UNITS]) for I in IA[1:]]
    return [[*WORLD, *flat(inertias)], as_columns([linear_first(u) for u in U]), flat(D)], []


def _propagator(model: Model, tree: Tree, x: Scalars) -> Results:
    moved = algorithms.propagated(tree, x["q"], UNITS)
    return [[*WORLD, *flat([as_columns([linear_first(a) for a in columns]) for columns in moved[1:]])]], []


ARTICULATED_INERTIA = Quantity(
    "articulated_inertia",
    ("q",),
    lambda model: [(model.nb + 1, 6, 6), (6, model.nv), (model.nv, model.nv)],
    _articulated,
    pivots=divides,
)
PROPAGATOR = Quantity("propagator", ("q",), lambda model: [(model.nb + 1, 6, 6)], _propagator, pivots=divides)


@fast_path(ARTICULATED_INERTIA, returned=ArticulatedInertias._make)
def articulated_inertia(model: Model, q: ArrayLike, *, parameters: Parameters = None) -> ArticulatedInertias:
    """The articulated-body inertias I^A, and U = I^A S and D = Sᵀ U of the joints: the inertias of forward dynamics.

    I^A of a body is the wrench per acceleration of the body with all it carries, its joints beyond free. Through its
    own free joint its parent feels I^a = I^A - U D⁻¹ Uᵀ. D has the armature; with a rotor, U has the momentum that the
    rotor gives to the parent. Mimic joints and their leaders count as one joint with several bodies, each of which has
    its I^A without the others.

    Returns:
        `I_A` (…, nb+1, 6, 6), each in its body's frame, row 0, the world's, zero; `U` (…, 6, nv), a column for each
        coordinate, in the frame of the body that its joint moves; `D` (…, nv, nv), zero but for the joints' blocks.
        Rows and columns of six are linear, then angular.

    >>> import featherweight as fw
    >>> cartpole = fw.robots.cartpole(cart_mass=1.0, pole_mass=2.0, length=0.5)
    >>> I_A, U, D = fw.articulated_inertia(cartpole, [0.0, 0.0])
    >>> [float(x) for x in I_A[1].diagonal()[:3]]  # of the cart: the pole yields sideways, not up and down
    [1.0, 3.0, 3.0]
    """
    return ArticulatedInertias(*evaluate(ARTICULATED_INERTIA, model, {"q": q}, None, (), parameters))


@fast_path(PROPAGATOR)
def propagator(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The propagators χ = X - S D⁻¹ Uᵀ X: what is carried through a free joint.

    χ a_λ is the acceleration of a body when its parent accelerates with a_λ and nothing else acts; χᵀ f is what the
    parent feels of a wrench f on the body. The parent of bodies on joints that share coordinates (mimic joints) is the
    body that carries them all.

    Returns:
        χ, shape (…, nb+1, 6, 6), from the parent's frame to the body's; row 0, the world's, is zero. Rows and columns
        are linear, then angular.

    >>> import featherweight as fw
    >>> chi = fw.propagator(fw.robots.cartpole(), [0.0, 0.0])
    >>> [float(x) for x in chi[2, 3:] @ [1.0, 0, 0, 0, 0, 0]]  # push the cart: the pole lags behind, by 1 / L
    [0.0, 2.0, 0.0]
    """
    return evaluate(PROPAGATOR, model, {"q": q}, out, (), parameters)[0]
