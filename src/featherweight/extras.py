"""Libraries that are only needed for a part of featherweight, imported when that part is used."""

from __future__ import annotations

import importlib
from typing import Any


def needed(module: str, extra: str, who: str) -> Any:
    """Import a library; without it, one line that says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        package = module.partition(".")[0]
        raise ModuleNotFoundError(f'{who} {package}: pip install "featherweight[{extra}]"', name=package) from None
