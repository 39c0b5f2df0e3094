"""Calling convention of compiled code: memory layout of a call, status bits, block sizes for threads."""

from __future__ import annotations

import ctypes

COUNT, STATUS, ARRAYS = 0, 1, 2  # words of a call: rows, status; then pointer, stride of each array
STEPS, EVERY, RECORDED_STEP, MADE, STRIDES = range(5)  # of a loop, behind its arrays: see `Call`
BAD_INPUT, BAD_RESULT, BAD_CHECK = 1, 2, 4  # bits of a row's status
BLOCK = 16  # rows; a thread takes one part of so many of the blocks that are left, and one block at least:
PARTS, LOOP_PARTS = 8, 1 << 32  # of a function, and of a loop, whose blocks take long
WORTH_A_THREAD = 1_000_000  # operations; about 50 us
OFF = ctypes.c_int64()  # while it is not zero, entry points decline
ctypes.pythonapi.Py_IncRef(ctypes.py_object(OFF))  # for good: compiled code reads it
LARGE = 32 << 20  # bytes of a result whose memory is kept and used again
