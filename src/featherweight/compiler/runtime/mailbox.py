"""Native hand-over of work between threads: no interpreter and no interpreter lock on the way.

Each worker has a box. The caller fills the boxes, does its own part, and then takes back what nobody has
begun: a worker that sleeps or comes late costs speed, never a result. It comes back to Python when nobody writes any
more, and not before: an exception of a signal handler finds all of the work done, or none.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from dataclasses import dataclass
from typing import Any

from featherweight.compiler.native.target import host
from featherweight.compiler.runtime.shared import load

BUSY = -1  # what `team` returns instead of a number of bad packs
IDLE, POSTED, RUNNING = 0, 1, 2  # states of a box
BOX_WORDS = 16  # two cache lines: state, run, call, workspace, taken, k, n, result
DESK_WORDS = 16  # of a pool: is it in use?
LOOKS = 200_000  # of the caller at a worker's last block, about 10 ms; from then on it sleeps between them


@dataclass(frozen=True)
class Handover:
    """The native functions, as ctypes calls that release the interpreter lock."""

    serve: Any  # serve(box, looks): do what is posted; return after so many looks at an idle box
    team: Any  # team(desk, boxes, n, run, call, workspaces, taken, sleep): all n parts
    sleep: int  # address of a function of the C library for `team`


@functools.cache
def handover() -> Handover:
    """Loaded once in a process."""
    library = load("handover", host(), lambda: emit_handover(host().arch))
    word, pointer = ctypes.c_int64, ctypes.c_void_p
    return Handover(
        ctypes.CFUNCTYPE(None, pointer, word)(library["serve"]),
        ctypes.CFUNCTYPE(word, pointer, pointer, word, *[pointer] * 5)(library["team"]),
        ctypes.cast(_sleep(), pointer).value or 0,
    )


def _sleep() -> Any:
    """Sleeps for so many microseconds; on Windows, which has no such function, it only lets others go first."""
    if sys.platform == "win32":
        return ctypes.windll.kernel32.SwitchToThread
    return ctypes.CDLL(None).usleep


def emit_handover(arch: str) -> str:
    """IR text with `@serve` and `@team`."""
    arm = arch == "arm"
    pause = "call void @llvm.aarch64.hint(i32 1)" if arm else "call void @llvm.x86.sse2.pause()"
    declare = "declare void @llvm.aarch64.hint(i32)" if arm else "declare void @llvm.x86.sse2.pause()"
    return f"{declare}\n" + _do() + _serve(pause) + _wait(pause) + _team()


def _field(name: str, word: int, kind: str = "ptr") -> str:
    return f"%{name}p = getelementptr i64, ptr %box, i64 {word}\n  %{name} = load {kind}, ptr %{name}p"


def _do() -> str:
    """`@do(box)`: if something is posted in it and nobody has begun, do that."""
    return f"""
define internal void @do(ptr %box) nounwind {{
entry:
  %swap = cmpxchg ptr %box, i64 {POSTED}, i64 {RUNNING} acq_rel acquire
  %mine = extractvalue {{i64, i1}} %swap, 1
  br i1 %mine, label %work, label %end
work:
  {_field("run", 1)}
  {_field("call", 2)}
  {_field("ws", 3)}
  {_field("taken", 4)}
  {_field("k", 5, "i64")}
  {_field("n", 6, "i64")}
  %bad = call i64 %run(ptr %call, ptr %ws, ptr %taken, i64 %k, i64 %n)
  %resultp = getelementptr i64, ptr %box, i64 7
  store i64 %bad, ptr %resultp
  store atomic i64 {IDLE}, ptr %box release, align 8
  br label %end
end:
  ret void
}}
"""


def _serve(pause: str) -> str:
    return f"""
define void @serve(ptr %box, i64 %looks) nounwind {{
entry:
  br label %look
look:
  %left = phi i64 [%looks, %entry], [%left1, %wait], [%looks, %work]
  %state = load atomic i64, ptr %box acquire, align 8
  %posted = icmp eq i64 %state, {POSTED}
  br i1 %posted, label %work, label %idle
work:
  call void @do(ptr %box)
  br label %look
idle:
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %wait, label %end
wait:
  {pause}
  %left1 = sub i64 %left, 1
  br label %look
end:
  ret void
}}
"""


def _team() -> str:
    stores = "\n  ".join(
        f"%{name}to = getelementptr i64, ptr %box, i64 {word}\n  store {kind} %{name}, ptr %{name}to"
        for word, (kind, name) in enumerate(
            [("ptr", "run"), ("ptr", "call"), ("ptr", "ws"), ("ptr", "taken"), ("i64", "k"), ("i64", "n")], start=1
        )
    )
    return f"""
define i64 @team(ptr %desk, ptr %boxes, i64 %n, ptr %run, ptr %call, ptr %wss, ptr %taken, ptr %sleep) nounwind {{
entry:
  %swap = cmpxchg ptr %desk, i64 0, i64 1 acq_rel acquire
  %free = extractvalue {{i64, i1}} %swap, 1
  br i1 %free, label %clear, label %busy
busy:
  ret i64 {BUSY}
clear:
  %j = phi i64 [0, %entry], [%j1, %clear]
  %takenj = getelementptr i64, ptr %taken, i64 %j
  store i64 0, ptr %takenj
  %j1 = add i64 %j, 1
  %morej = icmp slt i64 %j1, %n
  br i1 %morej, label %clear, label %posts
posts:
  %k = phi i64 [1, %clear], [%k1, %post]
  %others = icmp slt i64 %k, %n
  br i1 %others, label %post, label %own
post:
  %before = sub i64 %k, 1
  %boxp = getelementptr ptr, ptr %boxes, i64 %before
  %box = load ptr, ptr %boxp
  %wsp = getelementptr ptr, ptr %wss, i64 %k
  %ws = load ptr, ptr %wsp
  {stores}
  store atomic i64 {POSTED}, ptr %box release, align 8
  %k1 = add i64 %k, 1
  br label %posts
own:
  %ws0 = load ptr, ptr %wss
  %bad = call i64 %run(ptr %call, ptr %ws0, ptr %taken, i64 0, i64 %n)
  %all = call i64 @wait(ptr %boxes, i64 %n, i64 %bad, ptr %sleep)
  store atomic i64 0, ptr %desk release, align 8
  ret i64 %all
}}
"""


def _wait(pause: str) -> str:
    """`@wait(boxes, n, bad, sleep)`: do what nobody has begun, then wait for the others; all bad packs."""
    return f"""
define internal i64 @wait(ptr %boxes, i64 %n, i64 %bad, ptr %sleep) nounwind {{
entry:
  br label %next
next:
  %k = phi i64 [1, %entry], [%k1, %done]
  %sum = phi i64 [%bad, %entry], [%sum1, %done]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %one, label %end
one:
  %before = sub i64 %k, 1
  %boxp = getelementptr ptr, ptr %boxes, i64 %before
  %box = load ptr, ptr %boxp
  call void @do(ptr %box)
  br label %look
look:
  %left = phi i64 [{LOOKS}, %one], [%left1, %wait], [0, %rest]
  %state = load atomic i64, ptr %box acquire, align 8
  %idle = icmp eq i64 %state, {IDLE}
  br i1 %idle, label %done, label %still
still:
  %awake = icmp sgt i64 %left, 0
  br i1 %awake, label %wait, label %rest
wait:
  {pause}
  %left1 = sub i64 %left, 1
  br label %look
rest:
  %slept = call i32 %sleep(i32 50)
  br label %look
done:
  %resultp = getelementptr i64, ptr %box, i64 7
  %result = load i64, ptr %resultp
  %sum1 = add i64 %sum, %result
  %k1 = add i64 %k, 1
  br label %next
end:
  ret i64 %sum
}}
"""
