"""What `Builder.add_geometry` is given, as shapes of a description: both ways of calling it."""

from __future__ import annotations

from collections.abc import Sequence

from featherweight import shapes
from featherweight.errors import ModelError
from featherweight.model.collision_shapes import size_of
from featherweight.model.description import Shape
from featherweight.model.placement import Placement

ROLES = {"collision": ("collision",), "visual": ("visual",), "both": ("visual", "collision")}


def solid_shapes(
    shape: shapes.Shape,
    placement: Placement | None = None,
    role: str = "collision",
    *,
    friction: float | None = None,
    restitution: float | None = None,
    name: str | None = None,
    color: Sequence[float] = (),
) -> list[Shape]:
    """A solid, in one role or two; what touches, touches the ground too."""
    if role not in ROLES:
        raise ModelError(f"role: expected one of {', '.join(ROLES)}, got {role!r}")
    if name is not None and (not isinstance(name, str) or not name):
        raise ModelError(f"name: expected a name, got {name!r}")
    if role == "visual" and (friction, restitution) != (None, None):
        raise ModelError('friction, restitution: what is only seen touches nothing; give role="collision" or "both"')
    seen = Shape("visual", placement, shape.kind, size_of(shape), color=color, name=name or "")
    touching = Shape(
        "collision", placement, shape.kind, size_of(shape), color=color, name=name or "", friction=friction,
        restitution=restitution, ground=True,
    )  # fmt: skip
    return [touching if own == "collision" else seen for own in ROLES[role]]


def described_shapes(
    role: str,
    kind: str,
    size: Sequence[float],
    placement: Placement | None = None,
    mesh: str = "",
    color: Sequence[float] = (),
    path: str | None = None,
) -> list[Shape]:
    """A shape as files have it."""
    return [Shape(role, placement, kind, size, mesh, color, path=path)]
