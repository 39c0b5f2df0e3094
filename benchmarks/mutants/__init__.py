"""Seeded faults: do the tests see them? `python -m benchmarks.mutants`, in `__main__.py`."""
