"""`show`: open a page on a trajectory, on several side by side, or on a robot."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

from featherweight.model import Model
from featherweight.simulation import Trajectory
from featherweight.viewer import server as web
from featherweight.viewer.pose import PoseSliders
from featherweight.viewer.replay import Replay


class Viewer(web.Served):
    """A page that is being served: `url`, `wait()` until Ctrl-C, `close()`. It ends with the program."""

    def __init__(self, server: Any, url: str, content: PoseSliders | Replay) -> None:
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


def show(
    what: Trajectory | Model | Sequence[Trajectory],
    *,
    labels: Sequence[str] = (),
    host: str = web.LOOPBACK,
    port: int | None = None,
    browser: bool = True,
    block: bool | None = None,
) -> Viewer:
    """Open the viewer.

    Args:
        what: a trajectory, several to be seen side by side, or a model to be posed by hand.
        labels: what to write above each trajectory.
        host: address to listen at. This machine alone if not given; "0.0.0.0" for all who can reach it.
        port: where to listen, OSError if it is in use; one that is free from 8080 on if not given.
        browser: open a browser, if there is a display.
        block: wait until Ctrl-C; if not given, in scripts but not at a prompt or in a notebook.

    Returns:
        The `Viewer`, whose `url` is the page's address.
    """
    several = [what] if isinstance(what, Trajectory) else what
    if not isinstance(several, Model):
        several = list(several)
        for one in several:
            if not isinstance(one, Trajectory):
                raise TypeError(f"what: expected a trajectory, several, or a model, got {type(one).__name__}")
    server = web.start(host, port)
    try:
        content = PoseSliders(server, several) if isinstance(several, Model) else Replay(server, several, labels)
    except BaseException:
        web.stop(server)
        raise
    viewer = Viewer(server, web.address(server, host), content)
    opened = browser and web.open_browser(viewer.url)
    if block is None:
        block = not (hasattr(sys, "ps1") or "ipykernel" in sys.modules)
    if block:
        print(f"{'opened' if opened else 'open'} {viewer.url}  (Ctrl-C ends it)", flush=True)
        viewer.wait()
    return viewer
