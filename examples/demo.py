"""What featherweight does, in a minute. Run by `make demo`; the same as `featherweight demo`."""

import sys

from featherweight.cli.commands import app

if __name__ == "__main__":
    app(["demo", *sys.argv[1:]])
