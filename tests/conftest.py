"""Tests keep their compiled code in a folder of their own: they neither read nor fill the user's cache.

Nor do they wait for what is the same again and again: processes that they start find the bytecode of this package, and
Python does not look for garbage in all the modules that were imported.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share the folder of the process that started them
    _folder = tempfile.mkdtemp(prefix="featherweight-tests-")
    os.environ["FEATHERWEIGHT_CACHE"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
