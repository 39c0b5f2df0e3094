"""The fast path of public functions: plain arrays go straight to native code.

A public function is written for any arguments: array-likes of any batch, every check with its message. `@fast_path`
puts a few lines before it, which try the native entry point that an earlier call has left in the model's cache:

    def jacobian(model, q, frame, in_, *, out, parameters):
        if out is None and parameters is None:
            try:
                result = model.cache.entries["jacobian"][frame][in_](q)
                if result is None:  # no single state: a batch?
                    result = model.cache.entries["jacobian of batches"][frame][in_](q)
                if result is not None:
                    return result
            except NO_FAST_PATH:
                pass
        return function(model, q, frame, in_, out=out, parameters=parameters)

An entry point returns None for arguments that are not plain arrays. A call of one state takes 0.2 to 0.7 us, of which a
wrapper with `*args` would be a fifth: so these lines are generated for each signature, as `dataclass` generates
`__init__`.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar

from featherweight.dynamics.docstrings import documented

if TYPE_CHECKING:
    from featherweight.dynamics.evaluate import Quantity
    from featherweight.model import Model

Function = TypeVar("Function", bound=Callable[..., Any])

# what looking up and calling an entry point raises where there is none: no call before, no model, an option that cannot
# be one. The function itself says what is wrong.
NO_FAST_PATH = (KeyError, AttributeError, TypeError)

TEMPLATE = """\
def generate(function, name, of_batches, returned, NO_FAST_PATH, {converters}):
    def fast({signature}):
        if {usual}:
            try:
                result = model.cache.entries[name]{options}({inputs})
                if result is None:
                    result = model.cache.entries[of_batches]{options}({inputs})
                if result is not None:
                    return {result}
            except NO_FAST_PATH:
                pass
        return function({arguments})
    return fast
"""


def fast_path(
    quantity: Quantity,
    *,
    returned: Callable[[Any], Any] | None = None,
    convert: Mapping[str, Callable[[Any], Any]] | None = None,
) -> Callable[[Function], Function]:
    """Put the fast path of a quantity before its public function, and complete its docstring.

    Arguments with the default None must be left out for it; those that are no inputs of the quantity are its options,
    in their order. `convert` has functions for arguments that are not taken as they are, by name; `returned` makes the
    function's result of the quantity's.
    """
    converters = dict(convert or {})

    def decorate(function: Function) -> Function:
        plain: Any = function
        text = _source(quantity, plain.__code__, _optional(plain), converters, returned is not None)
        scope: dict[str, Any] = {}
        exec(_compiled(text), plain.__globals__, scope)
        fast: Any = scope["generate"](
            plain, quantity.name, of_batches(quantity.name), returned, NO_FAST_PATH, *converters.values()
        )
        functools.update_wrapper(fast, plain)
        fast.__code__ = fast.__code__.replace(co_name=quantity.name)
        fast.__defaults__, fast.__kwdefaults__ = plain.__defaults__, plain.__kwdefaults__
        return documented(fast)

    return decorate


@functools.cache
def _compiled(text: str) -> CodeType:
    """Code of a generated text: one for all functions with the same arguments. Tracebacks show its lines."""
    filename = f"{__file__} ({len(linecache.cache)})"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    return compile(text, filename, "exec")


def _optional(function: Any) -> list[str]:
    """The arguments whose default is None."""
    places = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    by_place = zip(places[len(places) - len(defaults) :], defaults, strict=True)
    return [name for name, default in (*by_place, *(function.__kwdefaults__ or {}).items()) if default is None]


def _source(quantity: Quantity, code: CodeType, optional: list[str], converters: Mapping[str, Any], wrap: bool) -> str:
    """The text of the function with its fast path; `code` is that of the function alone."""
    places = code.co_varnames[: code.co_argcount]
    by_name = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    def value(name: str) -> str:
        return f"convert_{name}({name})" if name in converters else name

    options = [name for name in places[1:] if name not in quantity.inputs and name not in optional]
    return TEMPLATE.format(
        converters=", ".join(f"convert_{name}" for name in converters),
        signature=", ".join((*places, "*", *by_name)),
        usual=" and ".join(f"{name} is None" for name in optional),
        options="".join(f"[{value(name)}]" for name in options),
        inputs=", ".join(map(value, quantity.inputs)),
        result="returned(result)" if wrap else "result",
        arguments=", ".join((*places, *(f"{name}={name}" for name in by_name))),
    )


def of_batches(name: str) -> str:
    """Where the entry point of a quantity for batches is kept."""
    return f"{name} of batches"


def keep_entry(model: Model, path: tuple[Any, ...], entry: Any) -> None:
    """Leave an entry point where the fast path looks for it: under the quantity's name, then option by option."""
    shelf = model.cache.entries
    for key in path[:-1]:
        shelf = shelf.setdefault(key, {})
    shelf[path[-1]] = entry
