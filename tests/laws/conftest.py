"""Laws run on NumPy, line by line; that compiled code gives the same is a law of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import featherweight as fw


@pytest.fixture
def interpreted() -> Iterator[None]:
    with fw.interpret():
        yield
