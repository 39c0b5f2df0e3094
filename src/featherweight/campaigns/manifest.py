"""The manifest of a sweep: all that its chunks follow from, in one file that is never changed.

Robot and step are in it as plain data (`simulation/traced_step.py`), `sample` and `reduce` as text. Its digest is the
key of the random generator: a chunk is a function of the manifest's digest and the chunk's number, of nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import featherweight
from featherweight import recording
from featherweight.campaigns.store import OWN, Column, Store
from featherweight.campaigns.study import Functions, from_text
from featherweight.compiler.native.cache import PACKAGE_DIGEST
from featherweight.recording.files import publish
from featherweight.simulation.traced_step import TracedStep

FILE = f"{OWN}/manifest.fw"
GIVEN = "given "  # names of what `sample` is given begin with it
FORMAT = {"format": "featherweight sweep", "version": 1}


class OtherLibrary(RuntimeError):
    """The manifest is of another version of featherweight, of Python or of NumPy."""


def library() -> dict[str, str]:
    """What computes here: versions, and a digest of this package's text and of Python's version."""
    numpy = ".".join(np.__version__.split(".")[:2])  # what its generators draw may change with it
    return {"featherweight": featherweight.__version__, "numpy": numpy, "text": PACKAGE_DIGEST or ""}


@dataclass(frozen=True)
class Settings:
    """Numbers of a sweep."""

    lanes: int
    chunk: int
    seed: int
    steps: int
    dt: float
    record_every: int
    record: str


@dataclass(frozen=True, eq=False)
class Manifest:
    """What a sweep computes."""

    step: TracedStep
    settings: Settings
    functions: Functions
    facts: dict[str, Any]  # what the digest is made of
    given: dict[str, np.ndarray]  # further arguments of `sample`
    columns: dict[str, Column] | None = None
    first_sample: str = ""  # digest of the first numbers that were drawn, to see that they are drawn alike everywhere

    @property
    def digest(self) -> str:
        """The key of all chunks."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()

    def store(self, path: str | os.PathLike[str]) -> Store:
        """Where results are."""
        return Store(path, self.digest, self.settings.lanes, self.settings.chunk)

    @classmethod
    def of(
        cls, step: TracedStep, settings: Settings, functions: Functions, given: Mapping[str, np.ndarray]
    ) -> Manifest:
        """A new one."""
        facts, arrays = step.to_plain()
        arrays |= {f"{GIVEN}{name}": values for name, values in given.items()}
        whole = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for name, values in sorted(arrays.items()):
            whole.update(f"{name} {values.dtype.str} {values.shape}".encode() + values.tobytes())
        known = {"library": library(), "step": whole.hexdigest(), "study": functions.digest, **vars(settings)}
        return cls(step, settings, functions, known, dict(given))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Publish it: whole, or not at all. FileExistsError if there is one."""
        target = Path(path) / FILE
        target.parent.mkdir(parents=True, exist_ok=True)
        study = {"text": self.functions.text, "names": self.functions.names, "stays": self.functions.stays}
        columns = {name: list(column) for name, column in (self.columns or {}).items()}
        whole = {
            **FORMAT, "digest": self.digest, "facts": self.facts, "settings": vars(self.settings), "study": study,
            "columns": columns, "parameters": list(self.step.model.parameters), "first_sample": self.first_sample,
        }  # fmt: skip
        temporary = target.with_name(f".featherweight-{os.urandom(8).hex()}.tmp")
        try:
            facts, arrays = self.step.to_plain()
            arrays |= {f"{GIVEN}{name}": values for name, values in self.given.items()}
            recording.write(temporary, whole, [(facts, arrays)])
            publish(str(temporary), str(target))
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()


def head(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a manifest says, without its step. FileNotFoundError if there is none; ValueError if it is no manifest."""
    with recording.Recording.open(Path(path) / FILE) as file:
        return _checked(path, file.facts)


def read(path: str | os.PathLike[str], functions: Functions | None = None) -> Manifest:
    """The manifest of a folder, with the functions that are given or those of its text.

    OtherLibrary if what would compute here is not what it was made with."""
    contents = recording.read(Path(path) / FILE)
    said = _checked(path, contents.facts)
    check_library(said["facts"]["library"])
    ((facts, arrays),) = contents.chunks
    study = said["study"]
    if functions is None:
        if study["text"] is None:
            raise ValueError(f"{path}: {study['stays']}, for its text to be in the manifest")
        functions = from_text(study["text"], study["names"])
    step, settings = TracedStep.from_plain(facts, arrays), Settings(**said["settings"])
    given = {name.removeprefix(GIVEN): values for name, values in arrays.items() if name.startswith(GIVEN)}
    return Manifest(step, settings, functions, said["facts"], given, columns_in(said), said["first_sample"])


def columns_in(said: Mapping[str, Any]) -> dict[str, Column]:
    """The arrays of a result, by name."""
    return {name: Column(dtype, tuple(shape), tuple(axes)) for name, (dtype, shape, axes) in said["columns"].items()}


def check_library(wanted: Mapping[str, str]) -> None:
    """OtherLibrary if what computes here is another."""
    here = library()
    for name, title in (("featherweight", "featherweight"), ("numpy", "NumPy"), ("text", "featherweight's text")):
        if wanted.get(name) != here[name]:
            raise OtherLibrary(
                f"the sweep began with {title} {str(wanted.get(name))[:12]}, here is {here[name][:12]}: other versions "
                "may give other bits; go on with that one (and its Python), or begin in another folder"
            )


def check_same(path: str | os.PathLike[str], wanted: Manifest) -> dict[str, Any]:
    """What the manifest of a folder says, if it is of this very sweep; else ValueError that says what differs."""
    said = head(path)
    check_library(said["facts"]["library"])
    words = {
        "step": "the robot, what moves it, or what is given",
        "study": "the text of sample and reduce, or numbers they refer to",
    }
    for name, value in wanted.facts.items():
        found = said["facts"].get(name)
        if found != value:
            what = f"{words[name]} differ" if name in words else f"{name} is {value!r} here and {found!r} there"
            raise ValueError(f"out: {path} is of another sweep: {what}; choose another folder, or remove that one")
    return said


def _checked(path: str | os.PathLike[str], facts: dict[str, Any]) -> dict[str, Any]:
    if any(facts.get(name) != value for name, value in FORMAT.items()):
        raise ValueError(f"{path}: expected a sweep of version {FORMAT['version']}, got {facts.get('format')!r}")
    return facts
