"""What there is to see of a robot, the ground and a trajectory, as plain arrays: for the viewer and for pictures."""

from featherweight.visuals.creases import creased
from featherweight.visuals.failure import Failure, good_part
from featherweight.visuals.motion import Frames, bounds, motion_of
from featherweight.visuals.segments import Segments
from featherweight.visuals.several import several
from featherweight.visuals.shapes import DrawnShape, shapes_of
from featherweight.visuals.solids import Mesh, ball, capsule, cylinder
from featherweight.visuals.terrain import terrain_of
from featherweight.visuals.trails import Trail, trails_of
from featherweight.visuals.viewpoint import Viewpoint, camera_axes, fitted, viewpoint_of

__all__ = [
    "DrawnShape",
    "Failure",
    "Frames",
    "Mesh",
    "Segments",
    "Trail",
    "Viewpoint",
    "ball",
    "bounds",
    "camera_axes",
    "capsule",
    "creased",
    "cylinder",
    "fitted",
    "good_part",
    "motion_of",
    "several",
    "shapes_of",
    "terrain_of",
    "trails_of",
    "viewpoint_of",
]
