"""The plan: fused sums, functions of bounded size, and a place in the workspace for every value."""
