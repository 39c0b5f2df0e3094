"""What all commands share: the application, its two consoles, how a model is named, how a command fails."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

import featherweight as fw
from featherweight.model import Model

app = typer.Typer(
    name="featherweight",
    help="Articulated rigid-body dynamics: look at robots, check their files, simulate, measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out, err = Console(), Console(stderr=True)
BUILT_IN: dict[str, Callable[[], Model]] = {
    "pendulum": fw.robots.pendulum,
    "double_pendulum": fw.robots.double_pendulum,
    "cartpole": fw.robots.cartpole,
    "chain": lambda: fw.robots.chain(10),
    "mini_cheetah": fw.robots.mini_cheetah,
    "humanoid": fw.robots.humanoid,
}
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="a URDF file, or a built-in name like mini_cheetah")
]
Base = Annotated[str, typer.Option(help="fixed or free")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for scripts")]
Roots = Annotated[list[Path] | None, typer.Option("--root", help="folder where meshes may be, beside the file's own")]


def fail(message: object) -> typer.Exit:
    """One line on the error stream; raise what this returns."""
    err.print(f"[bold red]featherweight:[/] {escape(str(message))}", soft_wrap=True, highlight=False)
    return typer.Exit(2)


@contextmanager
def told_in_one_line(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds become one clear line and status 2."""
    try:
        yield
    except kinds as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise fail(text) from None


def model_named(name: str, base: str, policy: str = "warn", roots: list[Path] | None = None) -> Model:
    """A built-in model or one from a file."""
    if name in BUILT_IN and not Path(name).exists():
        return BUILT_IN[name]()
    if not Path(name).exists():
        raise fail(f"there is no file {name!r} and no built-in model of that name ({', '.join(BUILT_IN)})")
    with told_in_one_line(fw.ModelError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `lint` is for those
        return fw.load(name, base=base, policy=policy, roots=roots or ())
