"""The trace: a graph of scalar operations, written down while an algorithm runs on nodes."""
