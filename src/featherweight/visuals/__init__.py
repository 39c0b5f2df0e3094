"""What there is to see of a robot, the ground and a trajectory, as plain arrays: for the viewer and for pictures."""

from featherweight.visuals.creases import creased
from featherweight.visuals.failure import Failure, good_part
from featherweight.visuals.motion import Frames, bounds, motion_of
from featherweight.visuals.segments import Segments
from featherweight.visuals.shapes import DrawnShape, shapes_of
from featherweight.visuals.solids import Mesh, ball, capsule, cylinder
from featherweight.visuals.terrain import terrain_of

__all__ = [
    "DrawnShape",
    "Failure",
    "Frames",
    "Mesh",
    "Segments",
    "ball",
    "bounds",
    "capsule",
    "creased",
    "cylinder",
    "good_part",
    "motion_of",
    "shapes_of",
    "terrain_of",
]
