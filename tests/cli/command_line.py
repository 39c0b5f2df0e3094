"""The command line, in a process of its own or in this one, which has loaded all that it needs."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import featherweight as fw
from featherweight.cli import main

Result = subprocess.CompletedProcess[str]


def run(*arguments: object) -> Result:
    """As users do."""
    command = [sys.executable, "-m", "featherweight", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


def call(*arguments: object) -> Result:
    """In this process: exit status and all that is printed are what they are in one of its own. The log goes to the
    error stream, not to pytest. An error that no command expects fails the test, and so does a window, which would wait
    for somebody to close it."""
    out, err = io.StringIO(), io.StringIO()
    command = ["__main__.py", *map(str, arguments)]
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.object(sys, "argv", command),
        mock.patch.object(sys.modules["__main__"], "__package__", "featherweight"),  # `python -m featherweight`
        mock.patch.object(sys, "excepthook", sys.excepthook),  # typer sets its own
        mock.patch.object(logging.root, "handlers", []),
        mock.patch.object(fw.viewer, "show", side_effect=AssertionError("a window would be opened")),
    ):
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())
