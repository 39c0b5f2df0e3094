"""Keys of the keyboard, through viser's commands: they act while they are held down, as the keyboard repeats them.

viser moves its camera by W A S D, Q E and the arrows, so these are taken. Ctrl-K (⌘K) lists all commands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TAKEN = frozenset(("W", "A", "S", "D", "Q", "E", "arrowup", "arrowdown", "arrowleft", "arrowright"))


def on_key(gui: Any, key: str, label: str, action: Callable[[], None]) -> None:
    """Do this when a key is pressed on the page; it is in viser's list of commands under a label."""

    @gui.add_command(label, hotkey=key).on_trigger
    def _(_: Any) -> None:
        action()
