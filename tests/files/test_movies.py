"""Movies that other programs play: ffprobe counts their pictures, ffmpeg decodes them, and they show the robot."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.files import video

pytest.importorskip("PIL")
imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")


@pytest.fixture(scope="module")
def swing() -> fw.Trajectory:
    return fw.simulate(fw.robots.double_pendulum(), [1.0, 0.5], [0.0, 0.0], duration=0.5, dt=1e-2)


def decoded(path: Path, width: int, height: int) -> np.ndarray:
    """All pictures, (n, height, width, 3), by ffmpeg."""
    command = [video.encoder(path.suffix), "-loglevel", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)


@pytest.mark.parametrize(("ending", "codec"), [(".mp4", "h264"), (".webm", "vp9")])
def test_a_movie_has_its_pictures_and_lasts_as_long_as_the_run(
    ending: str, codec: str, swing: fw.Trajectory, tmp_path: Path
) -> None:
    path = tmp_path / f"swing{ending}"
    fw.plot.movie(swing, path, rate=20, size=(161, 121))  # odd: both formats want even sizes
    pictures = decoded(path, 162, 122)
    assert len(pictures) == 11
    change = np.abs(np.diff(pictures.astype(int), axis=0)).max(axis=(1, 2, 3))
    assert change.min() > 60  # it moves in every picture
    if shutil.which("ffprobe"):
        ask = ["ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", path]
        said = json.loads(subprocess.run(ask, capture_output=True, check=True, timeout=60).stdout)
        (stream,) = said["streams"]
        assert (stream["codec_name"], stream["width"], stream["height"]) == (codec, 162, 122)
        assert stream["avg_frame_rate"] == "20/1"
        assert float(said["format"]["duration"]) == pytest.approx(0.55, abs=0.01)


def test_a_movie_shows_what_the_still_shows(swing: fw.Trajectory, tmp_path: Path) -> None:
    """The codec loses a little of each pixel, not the robot."""
    fw.plot.movie(swing, tmp_path / "swing.mp4", rate=10, size=(160, 120))
    fw.plot.movie(swing, tmp_path / "swing.gif", rate=10, size=(160, 120))
    from PIL import Image

    shown = decoded(tmp_path / "swing.mp4", 160, 120)
    with Image.open(tmp_path / "swing.gif") as movie:
        assert movie.n_frames == len(shown)
        for k, picture in enumerate(shown):
            movie.seek(k)
            assert np.abs(np.asarray(movie.convert("RGB"), dtype=int) - picture).mean() < 3.0


def test_without_ffmpeg_on_the_path_that_of_imageio_is_used(
    swing: fw.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert video.encoder(".mp4") == imageio_ffmpeg.get_ffmpeg_exe()
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    wanted = r'\.webm need ffmpeg: .*apt install ffmpeg.* or imageio_ffmpeg: pip install "featherweight\[video\]"'
    with pytest.raises(ModuleNotFoundError, match=wanted):
        fw.plot.movie(swing, tmp_path / "no.webm")
    assert list(tmp_path.iterdir()) == []


def test_an_encoder_that_fails_is_quoted(swing: fw.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(video.CODECS, ".mp4", ("-c:v", "no_such_codec"))
    with pytest.raises(OSError, match=r"no\.mp4: ffmpeg failed with status .*: "):
        fw.plot.movie(swing, tmp_path / "no.mp4", rate=5, size=(80, 60))
    assert list(tmp_path.iterdir()) == []


def test_the_rate_is_that_which_the_format_can_have(swing: fw.Trajectory, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"rate: expected a number > 0, and up to 240 for \.mp4, got 1000"):
        fw.plot.movie(swing, tmp_path / "no.mp4", rate=1000)
