"""`show`: open a page on a trajectory, on several side by side, on a robot, or on a simulation to play with."""

from __future__ import annotations

import html
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.model import Model
from featherweight.scenes import Scene
from featherweight.simulation import Stepper, Trajectory
from featherweight.viewer import server as web
from featherweight.viewer.holding import stepper_at
from featherweight.viewer.interactive import Interactive
from featherweight.viewer.knobs import Knob
from featherweight.viewer.pose import PoseSliders
from featherweight.viewer.reach import how_to_reach, in_notebook
from featherweight.viewer.replay import Replay

FRAME = 480  # pixels of a page's height in a notebook


class Viewer(web.Served):
    """A page that is being served: `url`, `wait()` until Ctrl-C, `close()`. It ends with the program."""

    def __init__(self, server: Any, url: str, content: PoseSliders | Replay | Interactive) -> None:
        self.server, self.url, self.content = server, url, content
        self._closed = threading.Event()

    def wait(self) -> None:
        """Go on until Ctrl-C."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End it."""
        if not self._closed.is_set():
            self._closed.set()
            self.content.close()
            web.stop(self.server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Viewer: {self.url}{', closed' if self._closed.is_set() else ''}>"

    def _repr_html_(self) -> str:
        """In notebooks: the page in a frame, and what to forward if the notebook runs elsewhere."""
        if self._closed.is_set():
            return html.escape(repr(self))
        note = html.escape(how_to_reach(self.url, notebook=True))
        frame = f'<iframe src="{self.url}" style="width:100%;height:{FRAME}px;border:1px solid #8884"></iframe>'
        return f'{frame}<p><a href="{self.url}" target="_blank">{self.url}</a>. {note}</p>'


def show(
    what: Trajectory | Model | Stepper | Scene | Sequence[Trajectory],
    *,
    labels: Sequence[str] = (),
    knobs: Sequence[Knob] | None = None,
    host: str = web.LOOPBACK,
    port: int | None = None,
    browser: bool = True,
    block: bool | None = None,
) -> Viewer:
    """Open the viewer.

    A stepper or a scene is simulated live: drag the robot to pull it, steer it by sliders and keys, pause, step, reset.
    The stepper is the viewer's until it is closed.

    Args:
        what: a trajectory, several to be seen side by side, a model to be posed by hand, or what is simulated live: a
            `Stepper` of one robot, or a scene of `fw.scenes`.
        labels: what to write above each trajectory.
        knobs: numbers of a live simulation that sliders and keys change; if not given, the velocity of a trot, the
            targets of `joint_pd`, and the parameters that the model declares.
        host: address to listen at. This machine alone if not given; "0.0.0.0" for all who can reach it.
        port: where to listen, OSError if it is in use; one that is free from 8080 on if not given.
        browser: open a browser, if there is a display.
        block: wait until Ctrl-C; if not given, in scripts but not at a prompt or in a notebook.

    Returns:
        The `Viewer`, whose `url` is the page's address; notebooks show the page itself.
    """
    what = _checked(what)
    server = web.start(host, port)
    viewer = Viewer(server, web.address(server, host), None)  # type: ignore[arg-type]
    try:
        viewer.content = _content(viewer, what, labels, knobs)
    except BaseException:
        web.stop(server)
        raise
    opened = browser and web.open_browser(viewer.url)
    if block is None:
        block = not (hasattr(sys, "ps1") or in_notebook())
    if block:
        print(f"{'opened' if opened else 'open'} {viewer.url}  (Ctrl-C ends it)", flush=True)
        note = "" if opened else how_to_reach(viewer.url)
        if note:
            print(note, flush=True)
        viewer.wait()
    return viewer


def _checked(what: Any) -> Any:
    if isinstance(what, Trajectory):
        return [what]
    if isinstance(what, Model | Stepper):
        return what
    if isinstance(what, Scene):
        q, v = (np.atleast_2d(x)[0] for x in (what.q, what.v))
        return Stepper(what.model, q, v, f_ext=np.zeros((what.model.nb + 1, 6)), **what.means)
    several = list(what)
    for one in several:
        if not isinstance(one, Trajectory):
            expected = "a trajectory, several, a model, a stepper or a scene"
            raise TypeError(f"what: expected {expected}, got {type(one).__name__}")
    return several


def _content(
    viewer: Viewer, what: Any, labels: Sequence[str], knobs: Sequence[Knob] | None
) -> PoseSliders | Replay | Interactive:
    if isinstance(what, Stepper):
        return Interactive(viewer.server, what, knobs)
    if knobs is not None:
        raise TypeError(f"knobs: expected a stepper or a scene with them, got {type(what).__name__}")
    if isinstance(what, Model):
        return PoseSliders(viewer.server, what, simulate=lambda q, limp: _simulate(viewer, what, q, limp))
    return Replay(viewer.server, what, labels)


def _simulate(viewer: Viewer, model: Model, q: np.ndarray, limp: bool) -> None:
    """From a pose to a simulation on the same page."""
    server = viewer.server
    for client in server.get_clients().values():
        client.add_notification("simulation", "compiling, once for this robot …", loading=True, auto_close_seconds=3.0)
    sim = stepper_at(model, q, limp=limp)
    viewer.content.close()
    server.gui.reset()
    server.scene.reset()
    web.arrange(server)
    viewer.content = Interactive(server, sim)
