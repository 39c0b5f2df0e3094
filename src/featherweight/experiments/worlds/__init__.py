"""Worlds to see: scenes in which things touch each other, for experiments and the documentation. One a file."""
