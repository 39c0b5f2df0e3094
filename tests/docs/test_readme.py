"""What the README says is run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_ten_lines_run() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.parametrize("page", ["how-to/simulate.md", "how-to/contact.md", "how-to/control.md", "tutorials/trot.md"])
def test_the_pages_about_simulation_run(page: str) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S))
    exec(compile(code, page, "exec"), {})


def test_the_links_lead_somewhere() -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
            assert target.startswith("https://") or (ROOT / target).exists(), f"{page}: {target}"


def test_the_demo_runs() -> None:
    result = subprocess.run([sys.executable, ROOT / "examples/demo.py"], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert "forward_dynamics" in result.stdout


def test_the_example_of_many_robots_runs() -> None:
    code = (ROOT / "examples/randomised.py").read_text()
    short = code.replace("4096, 10_000, 1e-3", "64, 1000, 1e-3")
    assert short != code
    exec(compile(short, "randomised.py", "exec"), {})
