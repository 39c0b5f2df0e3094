"""LLVM IR as text: the functions of a plan, the drivers around them, the entry points from Python."""
