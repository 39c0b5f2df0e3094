"""Experiments: what the sources of this library describe, run and measured, one file each."""
