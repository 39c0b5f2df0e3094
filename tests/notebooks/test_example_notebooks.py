"""The example notebooks run from top to bottom, and tell nothing on the error stream but what is compiled."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pyarrow")
ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
SHOWN = {  # what the output of some cell must have
    "1-first-steps": "data:image/png;base64,",
    "2-simulate": "<iframe sandbox=",
    "3-contact": "impulses:",
    "4-equations": "\\begin{aligned}",
    "5-thousands": "1024 lanes, 0 failed",
    "6-files": "run.parquet",
}


def test_there_are_six() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel of its own, in an empty folder, which it leaves empty."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("MPLBACKEND", "agg")
    folder = tmp_path / "cwd"
    folder.mkdir()
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    said = "".join(output.text for output in outputs if output.get("name") == "stderr")
    expected = re.compile(r"featherweight: compiling .* … \(once\) [0-9.]+ s|.*compiled in .*|")  # what takes long
    assert not [line for line in said.splitlines() if not expected.fullmatch(line)]
    assert SHOWN[path.stem] in "".join(map(str, outputs))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    """They would be old, large, and of somebody's machine."""
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
