"""Robots by name, from Python packages that have them: "robot_descriptions:go2". Nothing is downloaded.

`robot_descriptions` has a module for each robot, which clones a repository into a folder of the user when it is
imported. Here it runs without the part that clones, so that neither Git nor a network is needed; if the folder is not
there, the error says how to get it. `example-robot-data` is a package with the files in it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from featherweight.errors import ModelError, nearest

DESCRIPTIONS, EXAMPLES = "robot_descriptions", "example-robot-data"
ENDING, MJCF = "_description", "_mj_description"
_lock = threading.Lock()


def is_name(path: Any) -> bool:
    """Is this a robot of a package, not a file?"""
    return isinstance(path, str) and path.partition(":")[0] in SOURCES and ":" in path


def located(path: Any, roots: Any) -> tuple[Any, Any]:
    """The file of a robot by name, and the roots with the folders of its meshes; other paths as they are."""
    if not is_name(path):
        return path, roots
    source, _, name = path.partition(":")
    file, more = SOURCES[source](name)
    return file, [*roots, *more] if isinstance(roots, (list, tuple)) else roots


def names() -> list[str]:
    """All robots of the packages that are installed, as `located` takes them; those with a URDF."""
    described = (n.removesuffix(ENDING) for n in _descriptions() or () if not n.endswith(MJCF))
    folder = _examples()
    own = [] if folder is None else _example_names(folder)
    return [*(f"{DESCRIPTIONS}:{name}" for name in described), *(f"{EXAMPLES}:{name}" for name in own)]


def _descriptions() -> list[str] | None:
    """Modules of robot_descriptions with a robot each; None if it is not installed."""
    spec = importlib.util.find_spec(DESCRIPTIONS)
    if spec is None or not spec.submodule_search_locations:
        return None
    modules = pkgutil.iter_modules(spec.submodule_search_locations)
    return [module.name for module in modules if module.name.endswith(ENDING) and module.name[0] != "_"]


def _from_descriptions(name: str) -> tuple[str, list[str]]:
    """The URDF file of a module of robot_descriptions, and folders of its packages."""
    known = _descriptions()
    if known is None:
        raise ModelError(f"{DESCRIPTIONS}:{name} needs a package: pip install {DESCRIPTIONS}")
    full = name if name in known else f"{name}{ENDING}"
    mjcf = full if full.endswith(MJCF) else f"{name}{MJCF}"
    if mjcf in known and (full == mjcf or full not in known):
        raise _only_mjcf(mjcf)
    if full not in known:
        raise _unknown(DESCRIPTIONS, name, [one.removesuffix(ENDING) for one in known])
    module = _executed(full)
    file = getattr(module, "URDF_PATH", None) or getattr(module, "XACRO_PATH", None)
    if file is None:
        raise _only_mjcf(full)
    if not os.path.isfile(file):
        raise _not_there(full, file)
    package, repository = (str(getattr(module, kind, "")) for kind in ("PACKAGE_PATH", "REPOSITORY_PATH"))
    folders = (package, repository, os.path.dirname(package), os.path.dirname(repository))
    return str(file), [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def _executed(full: str) -> ModuleType:
    """A module of robot_descriptions, without its cloning: where its repository is, or an error if that is nowhere."""
    cache = f"{DESCRIPTIONS}._cache"
    stand_in: Any = ModuleType(cache)
    stand_in.clone_to_cache = lambda repository, commit=None: _cloned(full, repository, commit)
    spec = importlib.util.find_spec(f"{DESCRIPTIONS}.{full}")
    if spec is None or spec.loader is None:
        raise ModelError(f"{DESCRIPTIONS}: the module {full!r} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    with _lock:
        before = sys.modules.get(cache)
        sys.modules[cache] = stand_in
        try:
            spec.loader.exec_module(module)
        except OSError as error:  # some modules read their files
            raise _not_there(full, str(error.filename)) from None
        finally:
            if before is None:
                del sys.modules[cache]
            else:
                sys.modules[cache] = before
    return module


def _cloned(full: str, repository: str, commit: str | None) -> str:
    """The folder that robot_descriptions clones a repository to, if it has been."""
    known = importlib.import_module(f"{DESCRIPTIONS}._repositories").REPOSITORIES
    cache = os.environ.get("ROBOT_DESCRIPTIONS_CACHE", os.path.join("~", ".cache", DESCRIPTIONS))
    own = known[repository].cache_path
    folder = os.path.join(os.path.expanduser(cache), own if commit is None else os.path.join(f"{own}-{commit}", own))
    if not os.path.isdir(folder):
        raise _not_there(full, folder)
    return folder


def _examples() -> Path | None:
    """The folder of example-robot-data; None if it is not installed."""
    places = [Path(entry) / "cmeel.prefix" for entry in sys.path if entry] + [Path(sys.prefix)]
    return next((p for p in (place / "share" / EXAMPLES / "robots" for place in places) if p.is_dir()), None)


def _example_names(folder: Path) -> list[str]:
    files = folder.glob("*/*/*.urdf")
    return sorted({name for f in files for name in (f.stem, f.parts[-3].removesuffix(ENDING))})


def _from_examples(name: str) -> tuple[str, list[str]]:
    """A URDF file of example-robot-data: by its own name, or by that of its folder if that has one such file."""
    folder = _examples()
    if folder is None:
        raise ModelError(f"{EXAMPLES}:{name} needs a package: pip install {EXAMPLES}")
    files = sorted(folder.glob("*/*/*.urdf"))
    own = [file for file in files if file.stem == name]
    inside = [file for file in files if name in (file.parts[-3], file.parts[-3].removesuffix(ENDING))]
    found = own or inside
    if not found:
        raise _unknown(EXAMPLES, name, _example_names(folder))
    if len(found) > 1:
        names = ", ".join(repr(f.parts[-3].removesuffix(ENDING) if own else f.stem) for f in found)
        raise ModelError(f"{EXAMPLES} has several robots named {name!r}; give one of {names}")
    return str(found[0]), [str(folder.parent)]


SOURCES: dict[str, Callable[[str], tuple[str, list[str]]]] = {
    DESCRIPTIONS: _from_descriptions,
    EXAMPLES: _from_examples,
}


def _unknown(source: str, name: str, known: Sequence[str]) -> ModelError:
    longer = [other for other in known if name and other.startswith(name)]
    near = list(dict.fromkeys([*longer, *nearest(name, known, n=3)]))[:3]
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else f"{len(known)} others are: {', '.join(known[:8])} …"
    )
    return ModelError(f"{source} has no robot {name!r}; {hint}")


def _only_mjcf(full: str) -> ModelError:
    return ModelError(
        f"{DESCRIPTIONS} has {full!r} as MJCF only, which a later version will read; take one with a URDF"
    )


def _not_there(full: str, place: str) -> ModelError:
    fetch = f"python -m {DESCRIPTIONS} pull {full}"
    return ModelError(f"the files of {full!r} are not there ({place}), and nothing is downloaded here; run {fetch}")
