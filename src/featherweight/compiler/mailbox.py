"""Native hand-over of work between threads: no interpreter and no interpreter lock on the way.

Each worker has a box. The caller fills the boxes, does its own part, and then takes back what nobody has
begun: a worker that sleeps or comes late costs speed, never a result.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

from featherweight.compiler.shared import load
from featherweight.compiler.target import host

BUSY, NOT_DONE = -1, -2  # what `team` and `finish` return instead of a number of bad packs
IDLE, POSTED, RUNNING = 0, 1, 2  # states of a box
BOX_WORDS = 16  # two cache lines: state, run, call, workspace, taken, k, n, result
DESK_WORDS = 16  # of a pool: whose call it is (0: nobody's), the caller's own result


@dataclass(frozen=True)
class Handover:
    """The native functions, as ctypes calls that release the interpreter lock."""

    serve: Any  # serve(box, looks): do what is posted; return after so many looks at an idle box
    team: Any  # team(desk, me, boxes, n, run, call, workspaces, taken, looks): all n parts
    finish: Any  # finish(desk, me, boxes, n, looks): wait on for what `team` left


@functools.cache
def handover() -> Handover:
    """Loaded once in a process."""
    library = load("handover", host(), lambda: emit_handover(host().arch))
    word, pointer = ctypes.c_int64, ctypes.c_void_p
    return Handover(
        ctypes.CFUNCTYPE(None, pointer, word)(library["serve"]),
        ctypes.CFUNCTYPE(word, pointer, word, pointer, word, *[pointer] * 4, word)(library["team"]),
        ctypes.CFUNCTYPE(word, pointer, word, pointer, word, word)(library["finish"]),
    )


def emit_handover(arch: str) -> str:
    """IR text with `@serve`, `@team` and `@finish`."""
    arm = arch == "arm"
    pause = "call void @llvm.aarch64.hint(i32 1)" if arm else "call void @llvm.x86.sse2.pause()"
    declare = "declare void @llvm.aarch64.hint(i32)" if arm else "declare void @llvm.x86.sse2.pause()"
    return f"{declare}\n" + _do() + _serve(pause) + _team() + _finish(pause)


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
define i64 @team(ptr %desk, i64 %me, ptr %boxes, i64 %n,
                 ptr %run, ptr %call, ptr %wss, ptr %taken, i64 %looks) nounwind {{
entry:
  %swap = cmpxchg ptr %desk, i64 0, i64 %me acq_rel acquire
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
  %badp = getelementptr i64, ptr %desk, i64 1
  store i64 %bad, ptr %badp
  %all = call i64 @finish(ptr %desk, i64 %me, ptr %boxes, i64 %n, i64 %looks)
  ret i64 %all
}}
"""


def _finish(pause: str) -> str:
    """Nothing is left to wait for if the desk is not mine."""
    return f"""
define i64 @finish(ptr %desk, i64 %me, ptr %boxes, i64 %n, i64 %looks) nounwind {{
entry:
  %whose = load atomic i64, ptr %desk acquire, align 8
  %mine = icmp eq i64 %whose, %me
  %badp = getelementptr i64, ptr %desk, i64 1
  %own = load i64, ptr %badp
  br i1 %mine, label %next, label %gone
gone:
  ret i64 0
next:
  %k = phi i64 [1, %entry], [%k1, %done]
  %sum = phi i64 [%own, %entry], [%sum1, %done]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %one, label %end
one:
  %before = sub i64 %k, 1
  %boxp = getelementptr ptr, ptr %boxes, i64 %before
  %box = load ptr, ptr %boxp
  call void @do(ptr %box)
  br label %look
look:
  %left = phi i64 [%looks, %one], [%left1, %wait]
  %state = load atomic i64, ptr %box acquire, align 8
  %idle = icmp eq i64 %state, {IDLE}
  br i1 %idle, label %done, label %still
still:
  %again = icmp sgt i64 %left, 0
  br i1 %again, label %wait, label %late
wait:
  {pause}
  %left1 = sub i64 %left, 1
  br label %look
late:
  ret i64 {NOT_DONE}
done:
  %resultp = getelementptr i64, ptr %box, i64 7
  %result = load i64, ptr %resultp
  %sum1 = add i64 %sum, %result
  %k1 = add i64 %k, 1
  br label %next
end:
  store atomic i64 0, ptr %desk release, align 8
  ret i64 %sum
}}
"""
