"""What the ending of a file's name means: one rule for all that is written."""

from __future__ import annotations

import os
from collections.abc import Collection

PAGE = ("", ".html", ".htm")
RUN = ("", ".fw")
TABLES = (".npz", ".csv", ".parquet")  # a run for other programs
VIDEOS = (".mp4", ".webm")
MOVIES = ("", ".gif", *VIDEOS)
SCENES = (".glb",)  # a run for other viewers, with its robot


def check_ending(argument: str, path: str | bytes | os.PathLike[str], known: Collection[str]) -> str:
    """The ending of a path, in small letters. ValueError if what would be written there is none of the `known` ones;
    "" among them stands for a name without an ending.

    >>> check_ending("path", "run.GIF", (".gif",))
    '.gif'
    >>> check_ending("path", "run.mp4", ("", ".gif"))
    Traceback (most recent call last):
    ...
    ValueError: path: expected a name that ends in .gif, got 'run.mp4'; there is no other format
    """
    name = os.fsdecode(path)
    ending = os.path.splitext(name)[1].lower()
    if ending not in known:
        *others, last = filter(None, known)
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{argument}: expected a name that ends in {listed}, got {name!r}; there is no other format")
    return ending
