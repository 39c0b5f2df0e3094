"""Rules of the project that nobody has to remember: exports, imports, sizes, docstrings."""

import ast
import functools
import importlib
import inspect
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import featherweight as fw

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "featherweight"
SOURCES = sorted(PACKAGE.rglob("*.py"))
NAMES_OF_SOURCES = [path.relative_to(PACKAGE).as_posix() for path in SOURCES]

MOST_LINES = 350  # in a file
MOST_FUNCTION_LINES = 60
LONG_FUNCTIONS: dict[tuple[str, str], str] = {}  # why one is longer
NOT_ARRAYS = {"model", "out", "parameters", "frame", "frames", "point", "points", "prescribed", "in_", "classical"}
NAMES = {("distance", "a"), ("distance", "b")}  # of shapes, where other functions have arrays
NOT_ON_IMPORT = ("llvmlite", "sympy", "mpmath", "pinocchio", "scipy", "matplotlib", "mujoco", "viser", "trimesh", "PIL")


@functools.cache
def trees():
    """All sources parsed: by the worker that runs these tests, not by each that collects them."""
    parsed = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES)
    return dict(zip(NAMES_OF_SOURCES, parsed, strict=True))


def python(code):
    """What a fresh interpreter prints."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return result.stdout.split()


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def test_there_are_sources_to_guard():
    assert len(SOURCES) > 30


# ---- importing


def test_importing_loads_only_numpy():
    loaded = python("import sys, featherweight; print(*{m.partition('.')[0] for m in sys.modules})")
    assert "numpy" in loaded
    assert not set(loaded) & set(NOT_ON_IMPORT)


def test_importing_loads_nothing_that_is_only_needed_later():
    """`make bench` measures the time; this is what keeps it short."""
    late = ["compiler.plan", "compiler.emit", "compiler.module", "compiler.entry", "io", "cli"]
    late += ["simulation", "looks", "plot", "viewer", "report"]
    loaded = python("import sys, featherweight; print(*sys.modules)")
    assert not [name for name in late if f"featherweight.{name}" in loaded]


def test_building_and_interpreting_need_no_compiler():
    code = (
        "import sys, featherweight as fw\n"
        "with fw.interpret(): print(fw.mass_matrix(fw.robots.chain(2), [0.0, 0.0]).shape)\n"
        "print('llvmlite' in sys.modules)"
    )
    assert python(code)[-1] == "False"


# ---- exports


def statements():
    """Those of __init__.py, and those for type checkers."""
    body = trees()["__init__.py"].body
    return [*body, *(inner for outer in body if isinstance(outer, ast.If) for inner in outer.body)]


def exported():
    """Names that __init__.py binds by imports, definitions and assignments, but for private and late ones."""
    names = set()
    for node in statements():
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names if alias.asname != alias.name}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_type_checkers_see_every_module_that_is_imported_late():
    """They are written `contact as contact`: public, but not part of `from featherweight import *`, which would import
    them all."""
    imports = [node for node in statements() if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: f"{node.module}.{alias.name}" for node in imports for alias in node.names}
    assert {name: seen.get(name) for name in fw._LATE} == fw._LATE
    late = {alias.name for node in imports for alias in node.names if alias.asname == alias.name}
    assert late == set(fw._LATE) - set(fw.__all__)


def test_the_list_of_exports_is_what_the_package_binds():
    assert set(fw.__all__) == exported()
    assert len(fw.__all__) == len(set(fw.__all__))
    assert fw.__all__ == sorted(fw.__all__)


def test_nothing_public_is_bound_beside_the_exports():
    """Submodules appear by being imported; anything else must be in the list."""
    public = {n for n, x in vars(fw).items() if not n.startswith("_") and not isinstance(x, types.ModuleType)}
    assert public <= set(fw.__all__)


@pytest.mark.parametrize("name", fw.__all__)
def test_every_export_has_a_docstring(name):
    assert (inspect.getdoc(getattr(fw, name)) or "").strip()


def public_members():
    """Public functions, methods and properties of the exports, with their names."""
    for name in fw.__all__:
        thing = getattr(fw, name)
        if isinstance(thing, types.ModuleType):
            for member in thing.__all__ if hasattr(thing, "__all__") else []:
                yield f"{name}.{member}", getattr(thing, member)
        elif inspect.isclass(thing) and thing.__module__.startswith("featherweight"):
            for member, value in vars(thing).items():
                if not member.startswith("_") and isinstance(
                    value, (types.FunctionType, property, staticmethod, classmethod)
                ):
                    yield f"{name}.{member}", value


def test_every_public_method_and_built_in_has_a_docstring():
    assert not [name for name, thing in public_members() if not (inspect.getdoc(thing) or "").strip()]


def array_functions():
    """The exported functions of a model and arrays."""
    found = [getattr(fw, n) for n in fw.__all__ if inspect.isfunction(getattr(fw, n))]
    return [f for f in found if f.__module__.startswith("featherweight.dynamics.")]


@pytest.mark.parametrize("function", array_functions(), ids=lambda f: f.__name__)
def test_the_docstring_of_a_function_of_arrays_tells_all_shapes(function):
    """Every array argument has a line with its shape, and so has the result."""
    text = inspect.getdoc(function)
    missing = [
        name
        for name in inspect.signature(function).parameters
        if name not in NOT_ARRAYS
        and (function.__name__, name) not in NAMES
        and not re.search(rf"^ *{name}: .*shape \(…", text, re.M)
    ]
    assert not missing, f"no shape of {missing}"
    assert re.search(r"Returns:\n.*\(…", text), "no shape of the result"


def test_the_functions_of_arrays_are_found():
    assert {"forward_dynamics", "mass_matrix"} <= {f.__name__ for f in array_functions()}


def test_options_are_keyword_only():
    """`out`, `parameters` and whatever comes later; arrays, wrenches and coordinates may be given by place."""
    for function in array_functions():
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.default is not inspect.Parameter.empty and name not in ("f_ext", "in_", "classical"):
                assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, (function.__name__, name)


def test_types_are_shipped():
    assert (PACKAGE / "py.typed").is_file()


# ---- the source


@pytest.mark.parametrize("path", NAMES_OF_SOURCES)
def test_every_module_has_a_docstring(path):
    assert ast.get_docstring(trees()[path])


@pytest.mark.parametrize("path", NAMES_OF_SOURCES)
def test_no_input_is_checked_by_assert(path):
    """python -O drops them."""
    assert not [node.lineno for node in ast.walk(trees()[path]) if isinstance(node, ast.Assert)]


def test_files_are_small():
    lengths = {p.relative_to(PACKAGE).as_posix(): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES}
    assert not {path: n for path, n in lengths.items() if n > MOST_LINES}


def test_functions_fit_a_screen_or_say_why_not():
    long = {
        (path, function.name): function.end_lineno - function.lineno + 1
        for path, tree in trees().items()
        for function in functions(tree)
        if function.end_lineno - function.lineno + 1 > MOST_FUNCTION_LINES
    }
    assert not {where: n for where, n in long.items() if where not in LONG_FUNCTIONS}
    assert set(LONG_FUNCTIONS) <= set(long), "these are short now: take them off the list"


def test_no_names_that_say_nothing():
    for path in SOURCES:
        assert path.stem not in ("utils", "helpers", "manager", "common", "misc"), path
    for path, tree in trees().items():
        named = [f.name for f in functions(tree) if not f.name.endswith("__")]  # Python's own have their names
        vague = [name for name in named if name.lstrip("_").startswith(("compute_", "get_"))]
        assert not vague, (path, vague)


# ---- the repository


def tracked_files():
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=30)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_nothing_but_joints_asks_of_what_kind_a_joint_is():
    """A kind of joint is one file in `joints/`; only the writer of URDF, which has a word for each, looks at it."""
    kinds = {n for n, kind in vars(fw.joints).items() if isinstance(kind, type) and issubclass(kind, fw.joints.Joint)}
    found = [
        f"{name}:{node.lineno}"
        for name, tree in trees().items()
        if not name.startswith("joints/") and name != "io/urdf/express.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass")
        if kinds & {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)} - {"Joint"}
    ]
    assert "Free" in kinds
    assert not found


def test_no_path_of_a_machine_is_in_a_tracked_file():
    slash = "/"  # so that this file does not contain what it looks for
    homes = [slash + name + slash for name in ("work", "root", "home", "Users", "private", "mnt")]
    places = [re.escape(home) for home in homes] + [re.escape(str(ROOT)), r"[A-Z]:\\\\?Users"]
    pattern = re.compile(rf"(?<![\w.~/-])(?:{'|'.join(places)})\w*")
    found = []
    for path in tracked_files():
        if not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in pattern.finditer(text)]
    assert not found


def test_test_files_have_names_of_their_own():
    """pytest imports them without packages: two files of one name are one module."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
    assert "__init__.py" not in names


def test_files_of_tests_that_begin_first_are_there():
    body = ast.parse((ROOT / "tests/conftest.py").read_text(encoding="utf-8")).body
    (long,) = (ast.literal_eval(n.value) for n in body if isinstance(n, ast.Assign) and n.targets[0].id == "LONG")
    assert not [name for name in long if not (ROOT / name).is_file()]
    assert len(long) == len(set(long))


def test_files_of_tests_are_collected_whichever_are_given_first():
    """Files import from other folders of tests; pytest reads the conftest of what it is given before all others. One
    that put a folder with a contact.py on the path took `contact` away from the folder of that name."""
    files = ["tests/io/test_nothing_stays.py", "tests/contact/test_mimic.py", "tests/variational"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *files]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout


def test_names_of_algorithms_lead_to_functions_and_late_ones_are_suggested():
    with pytest.raises(AttributeError, match=r"no attribute 'rnea'; that algorithm is featherweight\.inverse_dynamics"):
        _ = fw.rnea
    for function in fw._ALGORITHMS.values():
        assert function in fw.__all__
    assert {"simulate", "contact", "Stepper"} <= set(dir(fw))
    with pytest.raises(AttributeError) as error:
        _ = fw.simulat
    assert error.value.name == "simulat"
    assert error.value.obj is fw  # what Python's "Did you mean" looks at


MODULES = {name for name in fw.__all__ if isinstance(getattr(fw, name), types.ModuleType)}
PUBLIC = sorted({*(f"featherweight.{name}" for name in MODULES), *fw._LATE.values(), "featherweight.interop"})


@pytest.mark.parametrize("name", PUBLIC)
def test_misspelt_names_of_submodules_are_suggested(name):
    """Python itself says "Did you mean", where the error knows the module and the module lists the name."""
    module = importlib.import_module(name)
    assert set(getattr(module, "__all__", ())) <= set(dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'mispelt'") as error:
        _ = module.mispelt
    assert error.value.name == "mispelt"
    assert error.value.obj is module


@pytest.mark.parametrize(("wrong", "right"), [("contact.Impuls", "Impulse"), ("interop.jx", "jax")])
def test_the_interpreter_asks_whether_another_name_was_meant(wrong, right):
    code = f"import featherweight as fw, featherweight.interop\nfw.{wrong}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stderr.endswith(f"Did you mean: '{right}'?\n")
