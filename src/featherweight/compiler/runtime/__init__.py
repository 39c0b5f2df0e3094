"""Kernels and loops at work: arguments, results, memory, threads."""
