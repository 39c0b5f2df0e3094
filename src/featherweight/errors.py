"""The errors that featherweight raises beside ValueError and TypeError."""

from __future__ import annotations


class ModelError(ValueError):
    """A robot description is wrong: what, where, and how to mend it."""
