"""What a study is: its text and all that it refers to. A changed one does not go on in the same folder."""

import functools
import importlib
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from featherweight.campaigns.study import from_text, functions_of

STUDY = """
import dataclasses
import types
import numpy as np
import helpers
from helpers import metric

@dataclasses.dataclass
class Config:
    gain: float = 1.0

config, space = Config(), types.SimpleNamespace(gain=1.0)

def sample(rng, n):
    return rng.normal(size=(n, 1)), np.zeros((n, 1))

def reduce(run):
    return {"a": config.gain * space.gain * metric(run.q) * helpers.SCALE}
"""
HELPERS = "SCALE = 1.0\nUNUSED = 1.0\n\ndef metric(x):\n    return x * 2.0\n"
DECORATORS = """
import functools

def timed(f):
    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k)
    return inner
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a module and import it anew."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = []

    def written(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        names.append(name)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield written
    for name in names:
        sys.modules.pop(name, None)


def digest(module):
    return functions_of(module.sample, module.reduce).digest


def test_objects_and_code_of_other_files_are_a_part_of_the_study(write):
    helpers = write("helpers", HELPERS)
    study = write("some_study", STUDY)
    first = digest(study)
    assert from_text(STUDY, ["sample", "reduce"]).digest == first  # as a worker has it, under another name
    for thing, name in ((study.config, "gain"), (study.space, "gain"), (helpers, "SCALE")):
        setattr(thing, name, 2.0)
        assert digest(study) != first
        setattr(thing, name, 1.0)
    helpers.UNUSED = 2.0
    assert digest(study) == first
    write("helpers", HELPERS.replace("x * 2.0", "x * 3.0"))
    assert digest(write("some_study", STUDY)) != first


def test_what_nothing_describes_is_refused(write):
    write("helpers", HELPERS)
    study = write("some_study", STUDY)
    study.space = types.SimpleNamespace(gain=(x for x in ()))
    with pytest.raises(TypeError, match=r"sample, reduce: space: expected numbers, .* got SimpleNamespace"):
        digest(study)


def test_decorated_functions_are_known_by_what_they_wrap(write):
    text = "from decorators import timed\n\n@timed\ndef sample(rng, n):\n    return 1.0\n\nreduce = None\n"
    write("decorators", DECORATORS)
    study = write("some_study", text)
    functions = functions_of(study.sample, None)
    assert functions.text is None
    assert "a decorator of another file" in functions.stays
    assert digest(write("some_study", text)) == functions.digest
    assert digest(write("some_study", text.replace("1.0", "2.0"))) != functions.digest


def test_what_decorators_of_libraries_wrap_is_a_part_of_the_study(write):
    text = "import contextlib\n\n@contextlib.contextmanager\ndef metric(x):\n    yield 2.0\n"
    study = "from statistics_of_mine import metric\n\ndef sample(rng, n):\n    return metric(n)\n\nreduce = None\n"
    write("statistics_of_mine", text)
    first = digest(write("some_study", study))
    write("statistics_of_mine", text.replace("2.0", "3.0"))
    assert digest(write("some_study", study)) != first


def test_modules_that_functions_import_are_a_part_of_the_study(write):
    study = "def sample(rng, n):\n    from helpers import metric\n\n    return metric(n)\n\nreduce = None\n"
    write("helpers", HELPERS)
    sys.modules.pop("helpers")
    module = write("some_study", study)
    first = digest(module)
    module.sample(None, 1)
    assert digest(module) == first
    write("helpers", HELPERS.replace("x * 2.0", "x * 3.0"))
    assert digest(module) != first


def test_a_file_of_the_name_of_a_library_is_not_one(write, monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    study = "from this import metric\n\ndef sample(rng, n):\n    return metric(n)\n\nreduce = None\n"
    write("this", HELPERS)
    first = digest(write("some_study", study))
    write("this", HELPERS.replace("x * 2.0", "x * 3.0"))
    assert digest(write("some_study", study)) != first


def test_a_file_that_was_saved_after_it_was_imported_is_refused(write, tmp_path):
    text = "def one():\n    return 1.0\n\ndef sample(rng, n):\n    return one()\n\nreduce = None\n"
    study = write("some_study", text)
    digest(study)
    for other in (text.replace("1.0", "9.0"), text.replace("one()", "3.0"), "def"):
        (tmp_path / "some_study.py").write_text(other)
        with pytest.raises(ValueError, match="has changed since it was imported; import it again"):
            digest(study)
        study = write("some_study", text)


@pytest.mark.parametrize("argument", ["sample", "reduce"])
def test_only_functions_are_functions(argument):
    class Callable:
        def __call__(self, *arguments):
            return 1.0

    for thing in (functools.partial(max, 1), Callable(), np.sin, Callable):
        both = {"sample": lambda rng, n: 1.0, "reduce": None} | {argument: thing}
        with pytest.raises(TypeError, match=f"{argument}: expected a function of .* got {type(thing).__name__}"):
            functions_of(**both)


def test_digests_do_not_depend_on_the_seed_of_hashes():
    text = (
        "from featherweight.campaigns.study import functions_of\n"
        "sample = lambda rng, n: n in {'a', 'b', 'c', 'd', 'e'}\n"
        "print(functions_of(sample, None).digest)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", text], env={**os.environ, "PYTHONHASHSEED": str(k)}, capture_output=True, check=True
        ).stdout
        for k in range(2)
    }
    assert len(found) == 1


def test_usual_things_of_libraries_are_described():
    import logging
    import re
    from fractions import Fraction
    from functools import cache, partial

    things = [re.compile("a"), logging.getLogger("x"), Fraction(1, 3), np.sin, np.linalg.norm, len, "x".join, str.upper]
    things += [np.random.default_rng(0), partial(max, 1), cache(lambda: 3.0), np.float64, np.dtype("f4"), {1: {2}}]

    def sample(rng, n):
        return things

    first = functions_of(sample, None).digest
    assert functions_of(sample, None).digest == first
    things[2] = Fraction(1, 4)
    assert functions_of(sample, None).digest != first
