"""Tests keep their compiled code in a folder of their own: they neither read nor fill the user's cache."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share the folder of the process that started them
    _folder = tempfile.mkdtemp(prefix="featherweight-tests-")
    os.environ["FEATHERWEIGHT_CACHE"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
