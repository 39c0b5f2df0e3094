"""What the README and the pages say is run, and leads somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import webbrowser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITH_JAX_AND_PYTORCH = "docs/how-to/jax-and-pytorch.md"  # `make interop` runs its code
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md"))


def code_of(page: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S))


def test_the_ten_lines_run() -> None:
    exec(compile(code_of("README.md"), "README.md", "exec"), {})


@pytest.mark.parametrize("page", [page for page in PAGES if code_of(page) and page != WITH_JAX_AND_PYTORCH])
def test_the_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As at a prompt, where `show` does not wait, in a folder of its own, without a browser."""
    if "go2.urdf" in code_of(page):
        shutil.copy(go2(), tmp_path)
    if "example-robot-data:" in code_of(page):
        go2()
    if "viewer" in code_of(page):
        pytest.importorskip("viser")
    if "plot" in code_of(page):
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    exec(compile(code_of(page), page, "exec"), {})


def go2() -> Path:
    prefix = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
    path = prefix / "go2_description/urdf/go2.urdf"
    if not path.is_file():
        pytest.skip("example-robot-data is not installed")
    return path


def test_pages_with_code_are_found() -> None:
    assert {"docs/tutorials/student.md", "docs/how-to/contact.md"} <= {page for page in PAGES if code_of(page)}


@pytest.mark.parametrize(
    "page", ["README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md", "CHANGELOG.md", *PAGES]
)
def test_the_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert target.startswith("https://") or ((ROOT / page).parent / target).exists(), f"{page}: {target}"


def test_the_demo_compares_and_writes_its_pages(tmp_path: Path) -> None:
    pytest.importorskip("viser")
    command = [sys.executable, ROOT / "examples/demo.py", "--folder", tmp_path / "demo", "--no-browser"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    for text in ("Mini Cheetah", "impulses, 1 ms", "springs, 0.25 ms", "variational", "Open "):
        assert text in result.stdout
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"mini_cheetah.html", "mini_cheetah-3d.html", "gripper.html", "chain.html", "chain-3d.html"} <= written


def test_the_example_of_a_robot_built_by_hand_runs() -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "examples/quadruped.py"], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert "forward_dynamics" in result.stdout


def test_the_example_of_many_robots_runs() -> None:
    code = (ROOT / "examples/randomised.py").read_text()
    short = code.replace("4096, 10_000, 1e-3", "64, 1000, 1e-3")
    assert short != code
    exec(compile(short, "randomised.py", "exec"), {})


def test_every_tutorial_is_among_the_pages() -> None:
    index = (ROOT / "docs/index.md").read_text()
    for page in (ROOT / "docs/tutorials").glob("*.md"):
        assert f"\ntutorials/{page.stem}\n" in index, f"docs/index.md: {page.name} is in no list"
