"""Mass properties of a body: `Inertia(mass, com, moment_about_com)` and the usual solids."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight.cached import cached_property
from featherweight.errors import ModelError
from featherweight.model.placement import numbers_or_symbols, plain
from featherweight.model.symbols import is_symbolic
from featherweight.spatial import RigidInertia, Symmetric, Vector


@dataclass(frozen=True, init=False)
class Inertia:
    """Mass [kg], centre of mass [m] and rotational inertia about it [kg m²], in the body's axes.

    All of them, and the sizes of solids, may be SymPy symbols, for equations of motion.
    """

    mass: float
    com: tuple[float, float, float]
    moment_about_com: tuple[tuple[float, ...], ...]

    def __init__(self, mass: float, com: Sequence[float] = (0.0, 0.0, 0.0), moment_about_com: ArrayLike = 0.0) -> None:
        usual = _usual(mass, com, moment_about_com)
        if usual is not None:
            object.__setattr__(self, "mass", mass)
            object.__setattr__(self, "com", com)
            object.__setattr__(self, "moment_about_com", usual)
            return
        m = _size("mass", mass)
        moment, position = _moment(moment_about_com), numbers_or_symbols("com", com, (3,))
        if moment.dtype == object:
            symmetric = (moment == moment.T).all()
        else:
            symmetric = np.abs(moment - moment.T).max() <= 1e-9 * max(1e-12, np.abs(moment).max())
        if not symmetric:
            raise ModelError("moment_about_com: expected a symmetric matrix")
        if max((abs(x) for x in (*position, *moment.ravel()) if not is_symbolic(x)), default=0) > 1e100:
            raise ModelError("com, moment_about_com: expected numbers up to 1e100")
        if moment.dtype != object:
            moment = 0.5 * (moment + moment.T)
        object.__setattr__(self, "mass", m)
        object.__setattr__(self, "com", tuple(position.tolist()))
        object.__setattr__(self, "moment_about_com", tuple(map(tuple, moment.tolist())))

    @staticmethod
    @functools.cache
    def zero() -> Inertia:
        """No mass: for bodies on fixed joints. Moving bodies without mass need `policy="warn"`."""
        return Inertia(0.0)

    @staticmethod
    def point(mass: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A point mass."""
        return Inertia(mass, at)

    @staticmethod
    def box(mass: float, size: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid box with edges `size` [m] along the axes."""
        m, (a, b, c) = _size("mass", mass), (_size("size", a) for a in numbers_or_symbols("size", size, (3,)).tolist())
        return Inertia(m, at, (m / 12 * (b * b + c * c), m / 12 * (c * c + a * a), m / 12 * (a * a + b * b)))

    @staticmethod
    def sphere(mass: float, radius: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid ball."""
        m, r = _size("mass", mass), _size("radius", radius)
        return Inertia(m, at, 0.4 * m * r * r)

    @staticmethod
    def cylinder(mass: float, radius: float, length: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid cylinder along z."""
        m, r, l = _size("mass", mass), _size("radius", radius), _size("length", length)
        across = m * (3 * r * r + l * l) / 12
        return Inertia(m, at, (across, across, 0.5 * m * r * r))

    @staticmethod
    def rod(mass: float, length: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A thin rod along z."""
        m, l = _size("mass", mass), _size("length", length)
        return Inertia(m, at, (m * l * l / 12, m * l * l / 12, 0.0))

    @property
    def numbers(self) -> tuple[Any, ...]:
        """Mass, centre of mass and moment, in one tuple."""
        return self.mass, self.com, self.moment_about_com

    @cached_property
    def rigid(self) -> RigidInertia:
        """As spatial inertia about the body's origin."""
        return RigidInertia.about_com(self.mass, Vector(*self.com), Symmetric.of(self.moment_about_com))


def _usual(mass: Any, com: Any, moment: Any) -> tuple[tuple[float, ...], ...] | None:
    """The moment of a body that is all floats in tuples and passes all checks, quickly; None of others."""
    if type(moment) is not tuple or len(moment) != 3 or not all(map(plain, ((mass,), com, *moment))):
        return None
    if [*map(len, (com, *moment))] != [3, 3, 3, 3]:
        return None
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = moment
    largest = max(map(abs, (xx, xy, xz, yx, yy, yz, zx, zy, zz)))
    skew = max(abs(xy - yx), abs(xz - zx), abs(yz - zy))
    if not 0 <= mass <= 1e100 or max(largest, *map(abs, com)) > 1e100 or skew > 1e-9 * max(1e-12, largest):
        return None
    xy, xz, yz = 0.5 * (xy + yx), 0.5 * (xz + zx), 0.5 * (yz + zy)
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


def _size(name: str, value: Any) -> Any:
    """A mass or a length: not negative, and far from overflow when it is squared."""
    array = numbers_or_symbols(name, value, ())
    if array.dtype == object:
        if value.is_negative:
            raise ModelError(f"{name}: expected 0 or more, got {value}")
        return value
    number = float(array)
    if not 0 <= number <= 1e100:
        raise ModelError(f"{name}: expected a number from 0 to 1e100, got {number:g}")
    return number


def _moment(value: Any) -> np.ndarray:
    """A 3×3 matrix; from three numbers or one, the principal moments along the axes."""
    try:
        rank = np.ndim(value)
    except ValueError:  # ragged
        rank = 2
    if rank == 2:
        return numbers_or_symbols("moment_about_com", value, (3, 3))
    return np.diag(np.broadcast_to(numbers_or_symbols("moment_about_com", value, (3,) if rank else ()), (3,)))


def impossible(inertia: Inertia | RigidInertia) -> str | None:
    """Why no solid body can have this inertia; None if one can: m > 0, moments about the centre
    of mass not negative, the largest not above the sum of the others. Symbols may stand for such numbers."""
    if is_symbolic(inertia.numbers if isinstance(inertia, Inertia) else inertia):
        return None
    m = float(inertia.mass if isinstance(inertia, Inertia) else inertia.m)
    if not m > 0:
        return f"its mass is {m:g} kg; a body that moves needs mass > 0"
    if isinstance(inertia, Inertia):
        # often computed as a difference: the moment about another point less m c²
        return impossible_moments(np.array(inertia.moment_about_com), m * min(0.1, math.hypot(*inertia.com)) ** 2)
    c = np.array([float(x) for x in inertia.h]) / m
    about_origin = np.array([[float(x) for x in row] for row in inertia.I.matrix])
    moment = about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))
    return impossible_moments(moment, float(abs(about_origin).max()))


def impossible_moments(moment: np.ndarray, size: float = 0.0) -> str | None:
    """Why no solid can have these moments about its centre of mass; None if one can.

    A file's numbers may be rounded at the ninth digit; those computed from others of a `size` [kg m²] at the
    thirteenth of that.
    """
    low, middle, high = np.linalg.eigvalsh(moment)
    slack = max(1e-9 * abs(moment).max(), 1e-13 * size)
    moments = f"its principal moments about the centre of mass are {low:.6g}, {middle:.6g}, {high:.6g}"
    if low < -slack:
        return f"{moments}: one is negative"
    if high > low + middle + slack:
        return f"{moments}: the largest exceeds the sum of the others (triangle inequality)"
    return None
