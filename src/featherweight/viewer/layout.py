"""Who stands where: robots side by side, their ground, the camera. In metres, for whatever draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featherweight.contact import Plane, Surface
from featherweight.identity import identity
from featherweight.simulation import Trajectory
from featherweight.visuals import DrawnShape, Frames, bounds, motion_of, shapes_of
from featherweight.visuals.shapes import FACES
from featherweight.visuals.terrain import Terrain, terrain_of

LONGEST = 1.0  # arrow, in robots' sizes
MOST_FACES = 60_000  # triangles of meshes, of all robots together
FAINT = 0.004  # arrows below this share of the robot's size are not drawn


@dataclass(frozen=True, eq=False)
class Actor:
    """One robot: its frames, what it looks like, surfaces of its own, all of it moved by `offset` [m]."""

    motion: Frames
    shapes: tuple[DrawnShape, ...]
    surfaces: tuple[Surface, ...]
    ground: tuple[Terrain, ...]
    offset: np.ndarray
    label: str
    label_place: np.ndarray

    def tips(self, size: float) -> np.ndarray:
        """Where arrows end that stand for the contact forces (F, nc, 3) [m]: at their point if they are too faint."""
        newtons = max(self.motion.model.weight, 1e-9) / (0.4 * size)  # for each metre of an arrow
        arrows = self.motion.force / newtons
        length = np.linalg.norm(arrows, axis=-1, keepdims=True)
        short = arrows / np.maximum(1.0, length / (LONGEST * size))
        return self.motion.points + np.where(length > FAINT * size, short, 0.0)

    def below(self) -> np.ndarray:
        """The place straight below the centre of mass (F, 3): on the ground's plane, or as low as a contact point."""
        com, points = self.motion.com, self.motion.points
        floor = next((surface for surface in self.surfaces if isinstance(surface, Plane)), None)
        if floor is not None and abs(floor.normal[2]) > 1e-6:
            n, p = np.array(floor.normal), np.array(floor.point)
            height = p[2] - (com[:, :2] - p[:2]) @ n[:2] / n[2]
        else:
            height = points[..., 2].min(axis=1) if points.size else com[:, 2]
        return np.column_stack([com[:, :2], height])


@dataclass(frozen=True, eq=False)
class Layout:
    """Everybody, the ground they share, a robot's size [m], and where the camera is and looks [m]."""

    actors: tuple[Actor, ...]
    ground: tuple[Terrain, ...]
    size: float
    camera: np.ndarray
    look_at: np.ndarray

    @property
    def width(self) -> float:
        """From the camera to what it looks at."""
        return float(np.linalg.norm(self.camera - self.look_at))

    @property
    def duration(self) -> float:
        """Of the longest [s]."""
        return max(float(actor.motion.t[-1]) for actor in self.actors)

    @property
    def title(self) -> str:
        """Labels, or the robot's name if there are none."""
        first = self.actors[0]
        if len(self.actors) == 1 and first.label == first.motion.failure:
            return ": ".join(filter(None, (first.motion.model.name, first.label)))
        return " | ".join(actor.label for actor in self.actors if actor.label) or first.motion.model.name


def layout_of(trajectories: Sequence[Trajectory], labels: Sequence[str], rate: float) -> Layout:
    """Robots in a row along y if they are several."""
    if not trajectories:
        raise ValueError("trajectories: expected one or more, got none")
    motions = [motion_of(one, rate=rate) for one in trajectories]
    looks = [tuple(shapes_of(motion.model, min(FACES, MOST_FACES // len(motions)))) for motion in motions]
    spans = [bounds(motion, look) for motion, look in zip(motions, looks, strict=True)]
    extents = [high - low for low, high in spans]
    way = max(float(np.median([extent.max() for extent in extents])), 1e-3)
    size = max(float(np.median([_size(*one) for one in zip(motions, looks, strict=True)])), 1e-3)
    pitch = 1.15 * max(float(extent[1]) for extent in extents) + 0.3 * size
    actors = []
    for k, (motion, look, one) in enumerate(zip(motions, looks, trajectories, strict=True)):
        own = [surface for surface in one.ground if not _is_level(surface)]
        ground = tuple(terrain_of(own, motion.com[0], 3 * way))
        above = np.array([*motion.com[0][:2], spans[k][1][2] + 0.12 * size])
        label = ": ".join(filter(None, (*labels[k : k + 1], motion.failure)))
        offset = np.array([0.0, -k * pitch, 0.0])
        actors.append(Actor(motion, look, tuple(one.ground), ground, offset, label, above))
    low = np.min([low for low, _ in spans], axis=0) - [0, pitch * (len(spans) - 1), 0]
    high = np.max([high for _, high in spans], axis=0)
    middle, width = (low + high) / 2, float(np.linalg.norm(high - low))
    level = {identity(surface): surface for one in trajectories for surface in one.ground if _is_level(surface)}
    shared = tuple(terrain_of(list(level.values()), middle, 3 * width))
    return Layout(tuple(actors), shared, size, middle + 0.8 * width * _direction(high - low), middle)


def _direction(extent: np.ndarray) -> np.ndarray:
    """Towards the camera: in front, a little to the side; across the plane of what is flat."""
    direction = np.array([1.0, -1.0, 0.5])
    if extent[0] < 0.2 * extent.max():
        direction = np.array([1.0, -0.2, 0.15])
    elif extent[1] < 0.2 * extent.max():
        direction = np.array([0.2, -1.0, 0.15])
    return direction / np.linalg.norm(direction)


def _is_level(surface: Surface) -> bool:
    """Is it a plane that looks the same from everywhere on it? Robots beside each other can share it."""
    return type(surface) is Plane and tuple(surface.normal) == (0.0, 0.0, 1.0)


def _size(motion: Frames, look: Sequence[DrawnShape]) -> float:
    """The longest edge of a robot's box as it begins [m]."""
    low, high = bounds(motion.start(), look)
    return float(np.max(high - low))
