"""From a function of scalars to SIMD machine code. Knows no dynamics; nothing above it knows LLVM."""

from featherweight.compiler.graph import Graph, Node
from featherweight.compiler.kernel import Argument, Kernel, interpret
from featherweight.compiler.threads import thread_count, threads

__all__ = ["Argument", "Graph", "Kernel", "Node", "interpret", "thread_count", "threads"]
