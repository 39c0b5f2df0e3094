"""`export`: what a viewer shows, as a file. A page for browsers, or a glTF scene for other programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.endings import PAGE, SCENES, check_ending
from featherweight.files.glb import Moving, glb
from featherweight.recording.files import write_whole
from featherweight.simulation import Trajectory
from featherweight.viewer import page
from featherweight.viewer.layout import Layout, layout_of
from featherweight.visuals import several


def export(
    trajectory: Trajectory | Sequence[Trajectory],
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] = (),
    rate: float = page.RATE,
    **options: Any,
) -> None:
    """Write a page with a moving robot, or several side by side, that opens in any browser without a network; or a
    glTF scene with animation, for Blender, three.js and others.

    Args:
        trajectory: what to show; of a batch, the first robot.
        path: the file, a name that ends in .html or .glb.
        labels: what to write above each; of a scene, names of its nodes.
        rate: frames a second.
        options: further ones of pages, `featherweight.viewer.page.export`.
    """
    if check_ending("path", path, (*PAGE, *SCENES)) not in SCENES:
        return page.export(trajectory, path, labels=labels, rate=rate, **options)
    if options:
        raise TypeError(f"export: a .glb takes labels and rate, got {', '.join(options)}")
    write_whole(path, [_scene(layout_of(*several(trajectory, labels), rate))])


def _scene(layout: Layout) -> bytes:
    ground = [(piece, np.zeros(3)) for piece in layout.ground]
    ground += [(piece, actor.offset) for actor in layout.actors for piece in actor.ground]
    robots = [
        Moving(actor.label or actor.motion.model.name, actor.shapes, actor.motion, actor.offset)
        for actor in layout.actors
    ]
    return glb(robots, ground)
