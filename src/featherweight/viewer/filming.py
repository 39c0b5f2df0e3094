"""Videos of what a page shows: frame by frame from the browser that asked, as seen by its own camera.

Each frame is set, drawn by that browser, sent here and encoded: no frame is lost on a slow machine, and a second of the
video is a second of the motion. ffmpeg makes MP4; without it, Pillow makes a GIF.
"""

from __future__ import annotations

import io
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from featherweight.extras import needed
from featherweight.files.video import encoder, write_video

RATE = 30.0  # frames a second
GIF_RATE = 20.0
LARGEST = 720  # pixels of a frame's height
PATIENCE = 30.0  # s to wait for one frame


class Filming:
    """A button that makes a video; `show(t)` sets the scene to a time, `times` gives the first and last [s]."""

    def __init__(self, gui: Any, name: str, show: Callable[[float], None], speed: Callable[[], float]) -> None:
        self._show, self._name, self._speed = show, name, speed
        self._busy = threading.Lock()
        self._bar = gui.add_progress_bar(0.0, visible=False)

    def film(self, client: Any, begin: float, end: float) -> None:
        """Make the video and hand it to the browser as a download; one at a time."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            self._bar.value, self._bar.visible = 0.0, True
            data, name, note = self._made(client, begin, end)
            client.send_file_download(name, data, save_immediately=True)
            client.add_notification("video", f"{name}, {len(data) / 1e6:.1f} MB{note}", auto_close_seconds=15.0)
        except Exception as error:  # a browser that left, a full disk: told on the page, if there is one still
            client.add_notification("no video", f"{type(error).__name__}: {error}", color="red")
        finally:
            self._bar.visible = False
            self._busy.release()

    def _made(self, client: Any, begin: float, end: float) -> tuple[bytes, str, str]:
        """The file, its name, and what to say of it."""
        try:
            encoder(".mp4")
            ending, rate, note = ".mp4", RATE, ""
        except ModuleNotFoundError:
            ending, rate, note = ".gif", GIF_RATE, '. For MP4: pip install "featherweight[video]"'
        frames = self._frames(client, begin, end, rate)
        if ending == ".gif":
            return _gif(frames, rate), self._name + ending, note
        with tempfile.TemporaryDirectory(prefix="featherweight-") as folder:
            path = Path(folder) / f"film{ending}"
            write_video(frames, path, ending, rate)
            return path.read_bytes(), self._name + ending, note

    def _frames(self, client: Any, begin: float, end: float, rate: float) -> Iterator[Any]:
        image = needed("PIL.Image", "plot", "videos need")
        high = min(LARGEST, client.camera.image_height)
        wide = round(high * client.camera.aspect / 2) * 2
        step = self._speed() / rate
        count = max(1, int((end - begin) / step + 1e-9) + 1)
        self._show(begin)
        client.get_render(high, wide, timeout=PATIENCE)  # thrown away: a page that has just come may be empty
        for k in range(count):
            self._show(min(begin + k * step, end))
            yield image.fromarray(client.get_render(high, wide, timeout=PATIENCE)[..., :3])
            self._bar.value = 100.0 * (k + 1) / count


def _gif(frames: Iterator[Any], rate: float) -> bytes:
    first, *others = [frame.quantize(64) for frame in frames]
    data = io.BytesIO()
    first.save(data, "GIF", save_all=True, append_images=others, duration=round(1000 / rate), loop=0)
    return data.getvalue()
