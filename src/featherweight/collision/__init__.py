"""Collision detection between two shapes (the narrow phase): where they touch, over any scalar."""

from featherweight.collision.detection import may_be_within, touch_count, touches
from featherweight.collision.ground import ground_touch_count, ground_touches
from featherweight.collision.nearest import Witnesses, nearest_points
from featherweight.collision.touch import FAR, Placed, Touch

__all__ = [
    "FAR", "Placed", "Touch", "Witnesses", "ground_touch_count", "ground_touches", "may_be_within", "nearest_points",
    "touch_count", "touches",
]  # fmt: skip
