"""`python -m featherweight`: the command line."""

from featherweight.cli import main

main()
