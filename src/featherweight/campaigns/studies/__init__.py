"""Studies that come with featherweight: files like those of users, which `featherweight sweep NAME` runs."""

from __future__ import annotations

from pathlib import Path

STUDIES = {
    "pushes": "pushes that a standing humanoid survives, over direction and impulse",
    "payload": "a quadruped that trots with a payload, over its mass and the speed that is asked for",
}


def text_of(name: str) -> tuple[str, str]:
    """A study's text, and its file."""
    file = Path(__file__).with_name(f"{name}.py")
    return file.read_text(encoding="utf-8"), str(file)
