"""The command line: `featherweight`, or `fw` for short."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without its libraries, say how to get them."""
    try:
        from featherweight.cli import derive  # noqa: F401  (adds its command)
        from featherweight.cli.commands import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(f"featherweight: the command line needs {error.name}: pip install featherweight[cli]", file=sys.stderr)
        sys.exit(2)
    app()
