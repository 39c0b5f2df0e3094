"""What is drawn of robots: a folder of switches that every page of the viewer has."""

from __future__ import annotations

from typing import Any

from featherweight.viewer.play import Play
from featherweight.viewer.server import set_theme
from featherweight.viewer.tags import NONE


def add_looks(server: Any, play: Play, *, forces: bool = True) -> None:
    """Contact forces, centre of mass, names, frames, and one frame by name, of all robots of a play; light or dark."""
    gui, stages = server.gui, play.stages
    with gui.add_folder("show", expand_by_default=False):
        if forces and any(motion.points.size for motion in play.motions):
            _switch(gui, "contact forces", True, [stage.show_forces for stage in stages])
        _switch(gui, "centre of mass", False, [stage.show_com for stage in stages])
        _switch(gui, "names", False, [stage.tags.show_names for stage in stages])
        _switch(gui, "frames", False, [stage.tags.show_frames for stage in stages])
        model = play.motions[0].model
        names = tuple(name for name in model.frame_names if model.frame(name).body)
        one = gui.add_dropdown("frame", options=(NONE, *names), initial_value=NONE, hint="x red, y green, z blue")
        _switch(gui, "dark", False, [lambda dark: set_theme(server, dark=dark), play.show_dark])

        @one.on_update
        def _(_: Any) -> None:
            for stage in stages:
                if one.value in (NONE, *stage.actor.motion.model.frame_names):
                    stage.tags.show_frame(one.value)

    if play.tile is not None:
        gui.add_markdown(f"Tiles of {play.tile:g} m.")


def _switch(gui: Any, name: str, first: bool, functions: Any) -> None:
    box = gui.add_checkbox(name, first)

    @box.on_update
    def _(_: Any) -> None:
        for function in functions:
            function(box.value)
