"""Names that the command line takes: what was meant by one that is none, and what the shell completes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import featherweight as fw
from featherweight.errors import nearest
from featherweight.io import catalogue
from featherweight.model import Model

BUILT_IN: dict[str, Callable[[], Model]] = {
    "pendulum": fw.robots.pendulum,
    "double_pendulum": fw.robots.double_pendulum,
    "cartpole": fw.robots.cartpole,
    "chain": lambda: fw.robots.chain(10),
    "mini_cheetah": fw.robots.mini_cheetah,
    "humanoid": fw.robots.humanoid,
}
MODELS = (".urdf", ".xml", ".xacro")  # endings of robots' files; all others are trajectories
RUNS = (".fw",)


def unknown_robot(name: str) -> str:
    """That there is no such robot, and which may have been meant: a built-in one, one of a package, a file."""
    text = f"there is no file {name!r} and no built-in model of that name"
    short = {known.partition(":")[2]: known for known in catalogue.names()}
    if name in short:
        return f"{text}; a package has one: {short[name]}"
    folder = Path(name).parent
    files = [str(path) for path in folder.iterdir() if path.suffix in MODELS] if folder.is_dir() else []
    near = nearest(name, [*BUILT_IN, *files, *short])
    if near:
        return f"{text}; did you mean {short.get(near[0], near[0])!r}?"
    return f"{text} ({', '.join(BUILT_IN)})"


def robots(incomplete: str) -> list[str]:
    """Robots that begin like this: built-in ones, those of packages once their name is begun, and files."""
    sources = [f"{source}:" for source in catalogue.SOURCES]
    known = catalogue.names() if any(incomplete.startswith(source) for source in sources) else sources
    return [*_begin(incomplete, [*BUILT_IN, *known]), *_files(incomplete, MODELS)]


def robots_and_runs(incomplete: str) -> list[str]:
    """The same, and files of trajectories."""
    return [*robots(incomplete), *_files(incomplete, RUNS)]


def one_of(names: Iterable[str]) -> Callable[[str], list[str]]:
    """A completion among these."""

    def completed(incomplete: str) -> list[str]:
        return list(_begin(incomplete, names))

    return completed


def _begin(incomplete: str, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name.startswith(incomplete))


def _files(incomplete: str, endings: tuple[str, ...]) -> Iterator[str]:
    """Files of these endings, and folders on the way to them."""
    folder, _, begun = incomplete.rpartition("/")
    place = Path(f"{folder}/" if "/" in incomplete else ".")
    if not place.is_dir():
        return
    for path in sorted(place.iterdir()):
        if path.name.startswith(begun) and (begun.startswith(".") or not path.name.startswith(".")):
            name = f"{folder}/{path.name}" if "/" in incomplete else path.name
            if path.is_dir():
                yield f"{name}/"
            elif path.suffix in endings:
                yield name
