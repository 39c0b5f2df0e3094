"""What the arguments of public functions mean, said once: `documented` completes a docstring's section Args."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

ARGUMENTS = {
    "model": "the robot.",
    "q": "configuration, shape (…, nq).",
    "v": "velocity, shape (…, nv).",
    "a": "acceleration, shape (…, nv).",
    "tau": "joint forces [N m or N], shape (…, nv).",
    "f_ext": "wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).",
    "frame": "name of a link, joint or contact point.",
    "in_": 'coordinates of the result: "body" (the frame\'s own), "world" (at the world\'s origin) or\n'
    "        \"world_aligned\" (at the frame's origin, in the world's axes).",
    "point": "name of a frame or contact point, or (body, xyz) with xyz [m] in the body's frame.",
    "out": "array for the result; what it holds after an error is undefined.",
    "parameters": "arrays (…) for constants that were declared when the model was built, by name.",
}
OWN = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def documented(function: Function) -> Function:
    """The function with all its arguments in its docstring, described by itself or by `ARGUMENTS`."""
    if function.__doc__ is None:  # python -OO
        return function
    before, returns, after = inspect.cleandoc(function.__doc__).partition("Returns:\n")
    summary, _, own = before.partition("Args:\n")
    meaning = ARGUMENTS | dict(OWN.findall(own))
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    lines = "".join(f"    {name}: {meaning[name]}\n" for name in names)
    function.__doc__ = f"{summary}Args:\n{lines}\n{returns}{after}"
    return function
