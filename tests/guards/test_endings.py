"""A name that ends in another format's ending is refused by all that write files, before anything is computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.endings import check_ending
from featherweight.report import write_report

typer_testing = pytest.importorskip("typer.testing")
pytest.importorskip("PIL")
pytest.importorskip("matplotlib")
pytest.importorskip("viser")
pytest.importorskip("pyarrow")
pytest.importorskip("imageio_ffmpeg")
MODEL = fw.robots.double_pendulum()
RUN = fw.simulate(MODEL, [1.0, 0.5], [0.0, 0.0], duration=0.02, dt=1e-3)
STATE = np.zeros((1, 2))
WRITERS = {  # every public function that writes a file, with endings it knows
    "Trajectory.save": (lambda path: RUN.save(path), (".fw", "", ".npz", ".csv", ".parquet")),
    "simulate": (lambda path: fw.simulate(MODEL, *STATE, *STATE, duration=0.01, dt=1e-3, file=path), (".fw", "")),
    "rollout": (lambda path: fw.rollout(MODEL, STATE, STATE, steps=3, dt=1e-3, file=path), (".fw", "")),
    "plot": (lambda path: fw.plot.plot(RUN, path=path), (".png", ".svg", ".pdf")),
    "Trajectory.plot": (lambda path: RUN.plot(path=path), (".png", ".svg", ".pdf")),
    "movie": (lambda path: fw.plot.movie(RUN, path), (".gif", "", ".mp4", ".webm")),
    "still": (lambda path: fw.plot.still(MODEL, path=path), (".png", ".jpg", ".webp")),
    "export": (lambda path: fw.viewer.export(RUN, path), (".html", ".HTM", "", ".glb")),
    "write_report": (lambda path: write_report({"run": RUN}, path, title="run"), (".html", "")),
    "save": (lambda path: fw.save(MODEL, path), (".urdf", ".URDF")),
    "save_urdf": (lambda path: fw.save_urdf(MODEL, path), (".urdf", ".xml", "")),
}
FIRST = {  # how the files begin
    ".fw": b"featherweight recording", ".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".gif": b"GIF8",
    ".jpg": b"\xff\xd8", ".webp": b"RIFF", ".html": b"<!doctype html>", ".HTM": b"<!doctype html>", ".xml": b"<",
    ".urdf": b"<", ".md": b"#", ".tex": b"%", ".npz": b"PK", ".csv": b"t,q.", ".parquet": b"PAR1", ".glb": b"glTF",
    ".webm": b"\x1a\x45\xdf\xa3",
}  # fmt: skip
OTHERS = (".mp4", ".glb", ".npz", ".csv", ".docx", ".fw.gz")  # of other writers, or of none


@pytest.mark.parametrize("name", WRITERS)
def test_only_the_endings_that_are_meant_are_written(name: str, tmp_path: Path) -> None:
    write, known = WRITERS[name]
    for ending in set(OTHERS) - set(known):
        with pytest.raises(ValueError, match=f"(path|file): expected a name that ends in .*got '.*{ending}'"):
            write(tmp_path / f"x{ending}")
    assert list(tmp_path.iterdir()) == []
    for ending in known:
        path = tmp_path / f"written{ending}"
        write(path)
        assert path.read_bytes().lower().startswith(FIRST.get(ending, b"").lower())


@pytest.mark.parametrize(
    ("command", "known"),
    [
        (("simulate", "pendulum", "--duration", "0.01", "--output"), (".fw", ".npz", ".csv")),
        (("simulate", "pendulum", "--duration", "0.01", "--report"), (".html",)),
        (("view", "RUN", "--export"), (".html", ".glb", ".gif", ".mp4")),
        (("derive", "pendulum", "--method", "lagrange", "--output"), (".html", ".md", ".tex")),
    ],
)
def test_the_same_holds_for_commands(command: tuple[str, ...], known: tuple[str, ...], tmp_path: Path) -> None:
    from featherweight.cli import derive  # noqa: F401  (adds its command)
    from featherweight.cli.commands import app

    RUN.save(tmp_path / "run.fw")
    arguments = [str(tmp_path / "run.fw") if word == "RUN" else word for word in command]
    runner = typer_testing.CliRunner()
    for ending in set(OTHERS) - set(known):
        result = runner.invoke(app, [*arguments, str(tmp_path / f"x{ending}")])
        assert result.exit_code == 2
        assert f"{command[-1]}: expected a name that ends in {known[0]}" in result.output.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["run.fw"]
    for ending in known:
        assert runner.invoke(app, [*arguments, str(tmp_path / f"x{ending}")]).exit_code == 0
        assert (tmp_path / f"x{ending}").read_bytes().lower().startswith(FIRST.get(ending, b"").lower())


def test_names_may_be_bytes_and_in_capitals() -> None:
    assert check_ending("path", b"a.b/run.FW", (".fw",)) == ".fw"
    assert check_ending("path", Path("a.b/run"), ("", ".fw")) == ""
    with pytest.raises(ValueError, match=r"ends in \.a, \.b or \.c, got 'x'"):
        check_ending("path", "x", (".a", ".b", ".c"))
