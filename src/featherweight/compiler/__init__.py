"""From a function of scalars to SIMD machine code. Knows no dynamics; nothing above it knows LLVM."""

from featherweight.compiler.graph import Condition, Graph, Node
from featherweight.compiler.kernel import Argument, Kernel, interpret
from featherweight.compiler.pool import thread_count, threads

__all__ = ["Argument", "Condition", "Graph", "Kernel", "Node", "interpret", "thread_count", "threads"]
