"""The tutorial is run, and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/tutorials/equations.md"


def test_the_tutorial_runs_and_prints_what_it_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.S)), PAGE.name, "exec"), {})
    said = " ".join(re.findall(r"```text\n(.*?)```", text, re.S))
    assert printed.getvalue().replace("-0.0,", "0.0,").split() == said.split()
