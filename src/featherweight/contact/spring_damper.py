"""Contact by springs and dampers: forces that grow with depth, and a deflection along the surface that sticks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.collision import Placed, ground_touches
from featherweight.compiler import Lanes, plain
from featherweight.compiler.runtime.arguments import as_array, batch_shape
from featherweight.contact.contact_model import ContactModel
from featherweight.contact.pair import Pair
from featherweight.contact.soft_contact import SoftContact
from featherweight.contact.surfaces import Surface
from featherweight.dynamics.evaluate import parameter_values
from featherweight.forces import ForceElement
from featherweight.inputs import Numbers, with_fields
from featherweight.model import Model
from featherweight.model.collision_shapes import CollisionShape
from featherweight.spatial import Vector

UP = Vector(0.0, 0.0, 1.0)
BOUNCE = "how they bounce follows from `stiffness` and `damping`; featherweight.contact.Impulse has restitution"


@dataclass(frozen=True)
class SpringDamper(ContactModel):
    """Soft contact; `ground`, `friction` and `pairs` are those of any `ContactModel`.

    With z < 0 the height of a point inside a surface and r = 1 ("linear") or r = √-z ("hertz"), the normal force is
    f_n = max(0, r (-K z - D ż)). Along the surface a deflection u is carried. While the point sticks, u̇ = v_t and
    f_t = -r (K u + D v_t). Where that is more than μ f_n the point slips: f_t is scaled back to μ f_n, and
    u̇ = -(f_t + K r u) / (D r). Where f_n = 0, and off the ground, u̇ = -(K / D) u.

    A step of h takes f_t with u + h v_t. It leaves u⁺ = u + h v_t where the point sticks, u / (1 + h K / D) off the
    ground, and (u - h f_t / (D r)) / (1 + h K / D) where it slips: stable for any h K / D. u is a vector in the world;
    its part along the surface acts. With every integrator u moves once a step, so friction is of first order in h.

    Args:
        law: "linear" or "hertz".
        stiffness: K [N/m], or [N/m^1.5] for "hertz".
        damping: D [N s/m], or [N s/m^1.5].
    """

    law: str = "hertz"
    stiffness: float = 5e5
    damping: float = 5e3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.restitution:
            raise ValueError(f"restitution: expected none with springs and dampers, got {self.restitution!r}; {BOUNCE}")
        given: list[Surface | Pair] = [*self.surfaces, *(self.allowed if isinstance(self.allowed, tuple) else ())]
        for one in given:
            if one.restitution:
                what = f"{type(one).__name__}: its restitution of {one.restitution:g} does not act"
                warnings.warn(f"{what} with springs and dampers; {BOUNCE}", stacklevel=3)
        if self.law not in ("linear", "hertz"):
            raise ValueError(f"law: expected 'linear' or 'hertz', got {self.law!r}")
        for name in ("stiffness", "damping"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise ValueError(f"{name}: expected a number > 0, got {value!r}")

    def over(self, numbers: Numbers) -> SpringDamper:
        own = {name: numbers.number(getattr(self, name)) for name in ("stiffness", "damping")}
        return with_fields(super().over(numbers), **own)  # type: ignore[return-value]

    def elements(self) -> tuple[ForceElement, ...]:
        return (SoftContact(self._ground(), self.law, self.stiffness, self.damping, self.allowed),)

    def stable_dt(self, model: Model, q: ArrayLike, parameters: Mapping[str, ArrayLike] | None = None) -> float:
        """The longest step [s] for which semi-implicit steps near q are stable, with all points at a depth of 1 mm.

        Of a spring and damper on the smallest mass that points move, those of shapes and round ones where they are
        lowest: h < 2 / (ω √(1 + ζ²) + ω ζ). Deeper points of "hertz" springs are stiffer. Shapes that may touch each
        other have half that mass. Of several q, or values of declared `parameters`, the worst counts.
        """
        return self._stable_dt(_lightest(model, q, parameters, self._shapes(model)))

    def _shapes(self, model: Model) -> tuple[list[CollisionShape], bool]:
        """Shapes that may touch, of bodies that move; and whether any two of them may touch each other."""
        pairs = self.touching(model)
        found = [shape for pair in pairs for shape in (pair.a, pair.b) if isinstance(shape, CollisionShape)]
        each_other = any(not isinstance(pair.b, int) for pair in pairs)
        return [shape for shape in dict.fromkeys(found) if shape.body], each_other

    def _stable_dt(self, lightest: float) -> float:
        r, slope = (math.sqrt(1e-3), 1.5) if self.law == "hertz" else (1.0, 1.0)  # -z r has the slope 1.5 r
        k, d = slope * self.stiffness * r * lightest, self.damping * r * lightest  # ω², 2 ζ ω
        return 4.0 / (d + math.sqrt(d * d + 4.0 * k))

    def longest_step(self, model: Model, q: ArrayLike) -> float:
        facts, shapes = model.cache.facts, self._shapes(model)
        key = (_lightest, tuple(shapes[0]), shapes[1])
        if key not in facts:
            facts[key] = _lightest(model, q, None, shapes)
        return self._stable_dt(facts[key])

    def warn_if_ignored(self, model: Model) -> None:
        shapes = dict.fromkeys(shape for pair in self.touching(model) for shape in (pair.a, pair.b))
        if names := [repr(shape.name) for shape in shapes if not isinstance(shape, int) and shape.restitution]:
            what = f"shapes {', '.join(names)}: their restitution does not act"
            warnings.warn(f"contact: {what} with springs and dampers; {BOUNCE}", stacklevel=5)

    def warn_if_stiff(self, model: Model, q: ArrayLike, dt: float) -> None:
        longest = self.longest_step(model, q)
        if dt > longest:
            warnings.warn(
                f"contact: dt = {dt:g} s is too long for {self.law} springs of this stiffness and damping; stable "
                f"below {longest:.2g} s, or use featherweight.contact.Impulse",
                stacklevel=5,
            )


def _lightest(
    model: Model,
    q: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None,
    shapes: tuple[Sequence[CollisionShape], bool],
) -> float:
    """1/m [1/kg] of the smallest mass that any forces at the contact points move, at q or any row of it. With shapes
    that may touch each other, half of it: two may be pushed apart.

    On NumPy: it is asked once for a robot, and native code for it takes as long to compile as a step.
    """
    arrays = [as_array("q", q, (model.nq,), "nq"), *parameter_values(model, parameters)]
    ranks = [1, *(len(parameter.shape) for parameter in model.parameters.values())]
    batch = batch_shape(["q", *model.parameters], arrays, ranks)
    columns = [  # of each array, its numbers as vectors over the batch
        list(np.broadcast_to(x, (*batch, *x.shape[x.ndim - rank :])).reshape(prod(batch), -1).T)
        for x, rank in zip(arrays, ranks, strict=True)
    ]
    given = dict(zip(model.parameters, columns[1:], strict=True))
    tree = model.over(float, lambda: None, given) if given else model.over_floats
    points = _lowest(model, columns[0], given, shapes[0])
    with np.errstate(all="ignore"):  # what is not finite is told below
        G = algorithms.delassus(tree, columns[0], points)
    blocks = np.array([[np.broadcast_to(x, prod(batch)) for x in row] for row in G])
    if not (np.isfinite(arrays[0]).all() and np.isfinite(blocks).all()):
        raise ValueError(
            f"contact: how {model.name!r} gives way to forces at its contact points is not finite at this q; q is too "
            f"large or not finite, or the mass matrix is singular there"
        )
    return float(np.linalg.eigvalsh(np.moveaxis(blocks, -1, 0))[:, -1].max()) * (2.0 if shapes[1] else 1.0)


def _lowest(
    model: Model, q: Sequence[np.ndarray], given: Mapping[str, Sequence[np.ndarray]], shapes: Sequence[CollisionShape]
) -> list[tuple[int, Vector]]:
    """Where points and shapes touch level ground below them, with the numbers of their bodies, in their frames."""
    found = []
    lanes, *values = ([Lanes(np.ascontiguousarray(x)) for x in columns] for columns in (q, *given.values()))
    own = dict(zip(given, values, strict=True))
    pose = algorithms.forward_kinematics(model.over(float, lambda: None, own) if own else model.over_floats, lanes)
    for point in model.contact_points:
        up = pose[point.body].E @ UP
        found.append((point.body, Vector(*point.position) - up * point.radius))
    for shape in shapes:
        X = pose[shape.body]
        for touch in ground_touches(Placed(shape.shape, shape.X @ X), lambda p: (p.z, UP)):
            found.append((shape.body, X.E @ (touch.point + UP * (0.5 * touch.gap) - X.r)))
    return [(body, Vector(*map(plain, place))) for body, place in found]
