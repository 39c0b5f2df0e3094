"""What can touch: the collision shapes of a model, each with a name, its place on a body, and its coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from featherweight import shapes
from featherweight.errors import unknown_name
from featherweight.model.cache import once_per_model
from featherweight.model.pieces import Geometry
from featherweight.spatial import Transform

if TYPE_CHECKING:
    from featherweight.model.model import Model


@dataclass(frozen=True)
class CollisionShape:
    """A solid that is fixed to a body and touches others.

    Args:
        name: of this shape alone: the one that was given, or that of its link, with a number from the second on.
        link: name of the link or frame that it was added to.
        body: number of the body; 0 is the world.
        shape: the solid, in a frame of its own.
        X: from the body's coordinates to the shape's: X.r is its place in the body.
        friction: coefficient μ of Coulomb's law; None: that of the contact model.
        restitution: e from 0 to 1; None: that of the contact model.
        ground: touches the ground as a shape; if not, points stand for it, or nothing does. The world's never do.
        group: with which of the models that were added it came; 0: none.
    """

    name: str
    link: str
    body: int
    shape: shapes.Shape
    X: Transform
    friction: float | None = None
    restitution: float | None = None
    ground: bool = False
    group: int = 0


def size_of(shape: shapes.Shape) -> tuple[float, ...]:
    """The numbers of a solid, as `Geometry.size` has them."""
    if isinstance(shape, shapes.Sphere):
        return (shape.radius,)
    if isinstance(shape, (shapes.Capsule, shapes.Cylinder)):
        return (shape.radius, shape.length)
    if isinstance(shape, shapes.Box):
        return tuple(shape.sizes)
    if isinstance(shape, shapes.Convex):
        return tuple(x for point in shape.points for x in point)
    raise TypeError(f"shape: expected one of featherweight.shapes, got {type(shape).__name__}")


def solid_of(kind: str, size: tuple[float, ...]) -> shapes.Shape | None:
    """The solid of a geometry; None of a mesh, and of what has no volume, as files may have it."""
    try:
        if kind == "sphere" or (kind == "capsule" and size[1] == 0):
            return shapes.Sphere(size[0])
        if kind == "capsule":
            return shapes.Capsule(*size)
        if kind == "cylinder":
            return shapes.Cylinder(*size)
        if kind == "box":
            return shapes.Box(size)
        return shapes.Convex([size[k : k + 3] for k in range(0, len(size), 3)]) if kind == "convex" else None
    except ValueError:
        return None


@once_per_model
def collision_shapes(model: Model) -> tuple[CollisionShape, ...]:
    """All of them, in the order of `model.geometry`; meshes as their convex hulls, whose files are read now."""
    return _named(with_hulls(model).geometry)


@once_per_model
def ground_shapes(model: Model) -> tuple[CollisionShape, ...]:
    """Those that touch the ground as shapes; no file is read for them."""
    return tuple(shape for shape in _named(model.geometry) if shape.ground)


@once_per_model
def with_hulls(model: Model) -> Model:
    """The model with convex hulls in place of the meshes that it touches with: itself if there are none.

    What touches is part of a model then, and goes with it into files. A mesh that cannot be used is told in `notes`.
    """
    if not any(g.role == "collision" and g.kind == "mesh" for g in model.geometry):
        return model
    hulled: Model = import_module("featherweight.io.hulls").hulled(model)  # it stands above
    return hulled


def unknown_shape(what: str, model: Model, name: object, known: Iterable[str]) -> KeyError:
    """For a name that no shape has: with names that are near, and the first mesh that could not be used; raise it."""
    error = unknown_name(what, name, known)
    lost = [note for note in with_hulls(model).notes if note not in model.notes]
    more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    return KeyError(f"{error.args[0]}; {lost[0]}{more}") if lost else error


def _named(geometry: Iterable[Geometry]) -> tuple[CollisionShape, ...]:
    """Names that are given come first; a mesh keeps the name that its hull has."""
    own = [g for g in geometry if g.role == "collision"]
    names: dict[int, str] = {}
    taken: set[str] = set()
    for given in (True, False):
        for k, g in enumerate(own):
            if bool(g.name) is given:
                names[k] = _unique(g.name or g.link, taken)
    solids = [(names[k], g, solid_of(g.kind, g.size)) for k, g in enumerate(own)]
    return tuple(
        CollisionShape(name, g.link, g.body, solid, g.X, g.friction, g.restitution, g.ground and g.body > 0, g.group)
        for name, g, solid in solids
        if solid is not None
    )


def _unique(name: str, taken: set[str]) -> str:
    """The name, with a number from the second on."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found
