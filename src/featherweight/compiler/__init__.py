"""From a function of scalars to SIMD machine code. Knows no dynamics; nothing above it knows LLVM."""

from featherweight.compiler.native.lock import compiling, uncollected
from featherweight.compiler.runtime.interpretation import interpret, interpreting
from featherweight.compiler.runtime.kernel import Argument, Kernel
from featherweight.compiler.runtime.pool import thread_count, threads
from featherweight.compiler.runtime.python import check_python
from featherweight.compiler.trace.graph import Graph
from featherweight.compiler.trace.lanes import Lanes, plain
from featherweight.compiler.trace.misuse import explained
from featherweight.compiler.trace.node import Condition, Node
from featherweight.compiler.trace.numpy_functions import NodeArray, elementwise, traced_array

check_python()

__all__ = [
    "Argument", "Condition", "Graph", "Kernel", "Lanes", "Node", "NodeArray", "compiling", "elementwise", "explained",
    "interpret", "interpreting", "plain", "thread_count", "threads", "traced_array", "uncollected",
]  # fmt: skip
