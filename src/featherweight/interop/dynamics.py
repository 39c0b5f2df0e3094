"""The public functions of dynamics as operators: `forward_dynamics` of a model is a function of (q, v, tau)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from featherweight import dynamics
from featherweight.dynamics.checks import checked_model
from featherweight.errors import no_such
from featherweight.functions import Function, configuration, function
from featherweight.interop.operators import Operator, operator_of
from featherweight.model import Model

# what is differentiated; all else that a function takes is an option, as a frame's name
INPUTS: dict[str, tuple[str, ...]] = {
    "forward_dynamics": ("q", "v", "tau"),
    "inverse_dynamics": ("q", "v", "a"),
    "joint_wrenches": ("q", "v", "a"),
    "mass_matrix": ("q",),
    "mass_matrix_inverse": ("q",),
    "solve_mass_matrix": ("q", "b"),
    "bias_force": ("q", "v"),
    "gravity_force": ("q",),
    "coriolis_matrix": ("q", "v"),
    "passive_force": ("q", "v"),
    "kinetic_energy": ("q", "v"),
    "potential_energy": ("q",),
    "momentum": ("q", "v"),
    "center_of_mass": ("q",),
    "com_jacobian": ("q",),
    "centroidal_momentum_matrix": ("q",),
    "centroidal_bias": ("q", "v"),
    "forward_kinematics": ("q",),
    "frame_pose": ("q",),
    "jacobian": ("q",),
    "jacobian_dot": ("q", "v"),
    "body_velocity": ("q", "v"),
    "body_acceleration": ("q", "v", "a"),
    "integrate": ("q", "v", "dt"),
    "difference": ("q0", "q1"),
}
NAMES = sorted((*INPUTS, "rollout_cost", "step", "wrap"))  # what the modules for JAX and PyTorch have
WITH_WRENCHES = ("forward_dynamics", "inverse_dynamics", "joint_wrenches")
NOT_OPTIONS = {"model", "out", "parameters", "f_ext"}


def operator_named(
    name: str, model: Model, options: dict[str, Any], *, f_ext: bool = False, parameters: Iterable[str] = ()
) -> Operator:
    """A function of dynamics of this model, made once."""
    checked_model(model)
    names = _parameters(model, parameters)
    if not isinstance(f_ext, bool):
        raise TypeError(f"f_ext: expected True or False: whether wrenches are an argument; got {type(f_ext).__name__}")
    if f_ext and name not in WITH_WRENCHES:
        raise TypeError(f"f_ext: {name} takes no wrenches; {', '.join(WITH_WRENCHES)} do")
    _check_options(name, options)
    key = ("interop", name, tuple(sorted(options.items())), f_ext, names)
    made = model.cache.kernels.once(key, lambda: _function(name, model, options, f_ext, names))
    return operator_of(made)


def _function(name: str, model: Model, options: dict[str, Any], f_ext: bool, parameters: tuple[str, ...]) -> Function:
    of_state = (*INPUTS[name], *(("f_ext",) if f_ext else ()))
    call: Callable[..., Any] = getattr(dynamics, name)

    def traced(*arrays: Any) -> Any:
        given = dict(zip((*of_state, *parameters), arrays, strict=True))
        numbers = {x: given.pop(x) for x in parameters}
        return call(model, **given, **options, parameters=numbers)

    inputs: dict[str, Any] = {x: _size(model, x) for x in of_state}
    for x in parameters:
        plain = "".join(c if c.isalnum() else "_" for c in x)
        while plain in inputs or not plain.isidentifier():
            plain = f"p_{plain}"
        inputs[plain] = model.parameters[x].shape
    made = function(traced, inputs=inputs, outputs=configuration(model) if name == "integrate" else None)
    made.name = name
    return made


def _size(model: Model, name: str) -> Any:
    if name in ("q", "q0", "q1"):
        return configuration(model)
    return {"dt": (), "f_ext": (model.nb + 1, 6)}.get(name, model.nv)


def _parameters(model: Model, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f'parameters: expected names of declared parameters, such as ("arm.mass",), got {names!r}')
    names = tuple(names)
    for name in names:
        if name not in model.parameters:
            if not model.parameters:
                raise ValueError(f"parameters: model {model.name!r} has none declared, got {name!r}; see fw.Builder")
            raise no_such("declared parameter", name, list(model.parameters))
    if len(set(names)) < len(names):
        raise ValueError(f"parameters: expected each name once, got {', '.join(names)}")
    return names


def _check_options(name: str, options: dict[str, Any]) -> None:
    """What a function takes beside arrays, as a frame's name."""
    known = inspect.signature(getattr(dynamics, name)).parameters
    allowed = {x: p for x, p in known.items() if x not in NOT_OPTIONS and x not in INPUTS[name]}
    for option in options:
        if option not in allowed:
            what = f"it has {', '.join(allowed)}" if allowed else "it has none"
            raise TypeError(f"{name}: no option {option!r}; {what}")
    missing = [x for x, p in allowed.items() if p.default is p.empty and x not in options]
    if missing:
        raise TypeError(f"{name}: expected {missing[0]}=, as in {name}(model, {missing[0]}=…)")


def described(make: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`make` under the name of a function of dynamics, with a docstring."""
    arguments = ", ".join(INPUTS[name])
    first, *_ = (inspect.getdoc(getattr(dynamics, name)) or "").partition("\n\n")
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""`fw.{name}` of a model as a function: `{name}(model)({arguments})`.

    {" ".join(first.split())}

    Args:
        model: the robot.
        f_ext: wrenches (…, nb+1, 6) are a further argument; of functions that take them.
        parameters: names of declared parameters of the model, which are further arguments, in this order.
        convert: take float32, too; it is computed in double, and the results are rounded to float32.
        options: what `fw.{name}` takes beside arrays, as frame=.
    """
    return make
