"""MP4 (H.264) and WebM (VP9): pictures piped to ffmpeg, the system's or the one that imageio-ffmpeg brings."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from typing import Any

from featherweight.extras import needed
from featherweight.recording.files import write_whole

CODECS = {
    ".mp4": ("-c:v", "libx264", "-crf", "20", "-preset", "medium", "-movflags", "+faststart"),
    ".webm": ("-c:v", "libvpx-vp9", "-crf", "32", "-b:v", "0", "-deadline", "good", "-cpu-used", "4"),
}
EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white"  # both code colours for squares of four pixels
MOST_RATE = 240  # pictures a second that players show


def encoder(ending: str) -> str:
    """Where ffmpeg is; ModuleNotFoundError with what to install if it is nowhere."""
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    who = f"movies that end in {ending} need ffmpeg: install it (apt install ffmpeg, brew install ffmpeg), or"
    return str(needed("imageio_ffmpeg", "video", who).get_ffmpeg_exe())


def write_video(pictures: Iterable[Any], path: str | os.PathLike[str], ending: str, rate: float) -> None:
    """Write Pillow images of one size, `rate` a second; they are encoded as they come, and never all in memory."""
    program, pictures = encoder(ending), iter(pictures)
    first = next(pictures).convert("RGB")
    with tempfile.TemporaryDirectory(prefix="featherweight-") as folder, tempfile.TemporaryFile() as said:
        made = os.path.join(folder, f"movie{ending}")
        command = [
            program, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{first.width}x{first.height}",
            "-r", f"{rate:.12g}", "-i", "-", "-an", "-vf", EVEN, *CODECS[ending], "-pix_fmt", "yuv420p", made,
        ]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said) as process:
            try:
                _send(process, first, pictures)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            said.seek(0)
            reason = (said.read().decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            raise OSError(f"{os.fspath(path)}: ffmpeg failed with status {process.returncode}: {reason}")
        with open(made, "rb") as file:
            write_whole(path, iter(lambda: file.read(1 << 20), b""))


def _send(process: subprocess.Popen[bytes], first: Any, pictures: Iterable[Any]) -> None:
    """All pictures; if the encoder has gone, its status tells why."""
    pipe = process.stdin
    if pipe is None:
        raise OSError("ffmpeg has no input")
    try:
        pipe.write(first.tobytes())
        for picture in pictures:
            pipe.write(picture.convert("RGB").tobytes())
        pipe.close()
    except BrokenPipeError:
        pass
