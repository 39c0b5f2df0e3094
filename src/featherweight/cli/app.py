"""What all commands share: the application, its two consoles, how a model is named, how a command fails."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from errno import EACCES, EISDIR, ENOENT
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.segment import Segment

import featherweight as fw
from featherweight.cli import names
from featherweight.cli.bases import usual_base
from featherweight.endings import check_ending
from featherweight.io.catalogue import is_name
from featherweight.model import Model
from featherweight.texts import printable

app = typer.Typer(
    name="featherweight",
    help="Articulated rigid-body dynamics: look at robots, check their files, simulate, measure.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"featherweight {fw.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version, and end")
    ] = False,
) -> None:
    """Articulated rigid-body dynamics: look at robots, check their files, simulate, measure."""


class _Console(Console):
    """A console whose terminal obeys nothing that stands in a text: names come from files of others."""

    def render(self, *given: Any, **options: Any) -> Iterable[Segment]:
        """Everything that is printed goes through here."""
        for segment in super().render(*given, **options):
            yield segment if segment.control else segment._replace(text=printable(segment.text, keep="\n\t"))


out, err = _Console(), _Console(stderr=True)
ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="a URDF file, a name like mini_cheetah or robot_descriptions:go2",
        autocompletion=names.robots,
    ),
]
BASES = ("auto", "fixed", "free")
BASE_HELP = "fixed to the world, or free to float; auto: free if it stands on limbs (files only)"
Base = Annotated[str, typer.Option(help=BASE_HELP, autocompletion=names.one_of(BASES))]
POLICIES = ("warn", "repair", "strict")
POLICY_HELP = f"{', '.join(POLICIES)}: what to do with what cannot be"
Policy = Annotated[str, typer.Option(help=POLICY_HELP, autocompletion=names.one_of(POLICIES))]
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
        text: object = error
        if isinstance(error, KeyError) and error.args:
            text = error.args[0]
        elif isinstance(error, OSError) and error.filename:
            text = f"{error.filename}: {error.strerror}"
        raise fail(text) from None


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings become lines of text, without the place in our source where they were raised."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        err.print(f"[yellow]{escape(str(message))}[/]", soft_wrap=True, highlight=False)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield


def can_be_written(option: str, path: Path | None, endings: Collection[str]) -> None:
    """OSError, or ValueError for its ending, if a file cannot be, before hours are spent on what should be in it."""
    if path is None:
        return
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "expected a file, got a folder: name a file in it", str(path))
    check_ending(option, path, endings)
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, f"there is no folder {str(path.parent)!r}; make it first", str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(EACCES, "it may not be written there", str(path))


def check_base(base: str) -> None:
    """Exit if it is none."""
    if base not in BASES:
        raise fail(f"--base: expected {', '.join(BASES[:-1])} or {BASES[-1]}, got {base!r}")


def model_named(
    name: str, base: str, policy: str = "warn", roots: list[Path] | None = None, feet: str | None = None
) -> Model:
    """A built-in model, which has its own base, or one from a file; feet: links with contact points, "A,B,…"."""
    check_base(base)
    if policy not in POLICIES:
        raise fail(f"--policy: expected {', '.join(POLICIES)}, got {policy!r}")
    if is_built_in(name):
        if feet is not None:
            raise fail(f"--feet: expected a robot of a file; {name!r} is built in, with contact points of its own")
        return names.BUILT_IN[name]()
    if not Path(name).exists() and not is_name(name):
        raise fail(names.unknown_robot(name))
    if Path(name).suffix == ".fw":
        raise fail(f"{name!r} is a trajectory, expected a robot; `featherweight view {name}` shows it")
    with told_in_one_line(fw.ModelError), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options: dict[str, Any] = {"policy": policy, "roots": roots or ()}
        if feet is not None:
            options["contact"] = [foot.strip() for foot in feet.split(",")]
        model = fw.load(name, base="fixed" if base == "auto" else base, **options)
        if base == "auto" and usual_base(model) == "free":
            caught.clear()
            model = fw.load(name, base="free", **options)
    for warning in caught:
        err.print(f"[yellow]{escape(str(warning.message))}[/]", soft_wrap=True, highlight=False)
    return model


def is_built_in(name: str) -> bool:
    """Is it one of ours? A file of that name comes first."""
    return name in names.BUILT_IN and not Path(name).exists()
