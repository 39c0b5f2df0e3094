"""What this core can do at most: fused multiply-adds a second, and bytes filled a second."""

from __future__ import annotations

import ctypes
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from featherweight.compiler.native.library import Library
from featherweight.compiler.native.target import host

CHAINS = 16  # independent, enough to cover the latency of two units
ROUNDS = 20_000


def _ir(width: int) -> str:
    T = f"<{width} x double>"
    starts = "\n".join(f"  %a{k} = phi {T} [zeroinitializer, %entry], [%b{k}, %loop]" for k in range(CHAINS))
    steps = "\n".join(f"  %b{k} = call {T} @llvm.fma.v{width}f64({T} %a{k}, {T} %x, {T} %x)" for k in range(CHAINS))
    sums, total = [], "%b0"
    for k in range(1, CHAINS):
        sums.append(f"  %s{k} = fadd {T} {total}, %b{k}")
        total = f"%s{k}"
    joined = "\n".join(sums)
    return f"""
declare {T} @llvm.fma.v{width}f64({T}, {T}, {T})
define void @peak(ptr %p, i64 %n) #0 {{
entry:
  %x = load {T}, ptr %p
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
{starts}
{steps}
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %loop, label %end
end:
{joined}
  store {T} {total}, ptr %p
  ret void
}}
attributes #0 = {{ "prefer-vector-width"="512" "min-legal-vector-width"="512" }}
"""


class Peak:
    """Of vectors as wide as the machine's, or of so many numbers. Measure again whenever the clock may have changed."""

    def __init__(self, width: int | None = None) -> None:
        target = host()
        self._width = width or target.width
        self._library = Library([target.object_code(_ir(self._width))], ("peak",))
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self._library["peak"])
        self._data = np.full(16, 0.5)
        self.address = self._data.ctypes.data + (-self._data.ctypes.data % 64)

    def fma_per_second(self, repeat: int = 20) -> float:
        """Scalar fused multiply-adds a second on one core (two floating-point operations each)."""
        best = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            self.run(self.address, ROUNDS)
            best = min(best, time.perf_counter() - start)
        return CHAINS * self._width * ROUNDS / best


def two_cores(seconds: float = 0.5) -> float:
    """How much more arithmetic two cores do than one, both kept busy: what two threads can reach here."""

    def rate(peak: Peak, result: list[float]) -> None:
        address, rounds, start = peak.address, 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            peak.run(address, ROUNDS)
            rounds += 1
        result.append(rounds / (time.perf_counter() - start))

    alone: list[float] = []
    rate(Peak(), alone)
    together: list[float] = []
    threads = [threading.Thread(target=rate, args=(Peak(), together)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(together) / alone[0]


def fill_bytes_per_second(shape: tuple[int, ...], repeat: int = 10) -> float:
    """Filling a fresh array of this shape: what a function that returns one can reach at most."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        array = np.empty(shape)
        array.fill(1.0)
        best = min(best, time.perf_counter() - start)
    return array.nbytes / best


def two_fills(megabytes: int = 40, rounds: int = 15) -> float:
    """The same for memory: how much faster two threads fill an array than one, in place."""
    data, half = np.ones(megabytes * 125_000), megabytes * 62_500
    best = {1: float("inf"), 2: float("inf")}
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            for n in (1, 2):
                parts = [data] if n == 1 else [data[:half], data[half:]]
                start = time.perf_counter()
                list(pool.map(lambda part: part.fill(1.0), parts))
                best[n] = min(best[n], time.perf_counter() - start)
    return best[1] / best[2]
