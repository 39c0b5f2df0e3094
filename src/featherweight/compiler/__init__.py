"""From a function of scalars to SIMD machine code. Knows no dynamics; nothing above it knows LLVM."""

from featherweight.compiler.graph import Graph
from featherweight.compiler.interpretation import interpret, interpreting
from featherweight.compiler.kernel import Argument, Kernel
from featherweight.compiler.lanes import Lanes, plain
from featherweight.compiler.lock import compiling
from featherweight.compiler.node import Condition, Node
from featherweight.compiler.pool import thread_count, threads
from featherweight.compiler.python import check_python

check_python()

__all__ = [
    "Argument", "Condition", "Graph", "Kernel", "Lanes", "Node", "compiling", "interpret", "interpreting", "plain",
    "thread_count", "threads",
]  # fmt: skip
