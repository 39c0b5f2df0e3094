"""Errors of featherweight's own."""

from __future__ import annotations


class ModelError(ValueError):
    """A robot description is wrong: what, where, and how to mend it."""
