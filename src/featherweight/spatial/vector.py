"""Vectors and 3×3 matrices over any scalar. Structural zeros, plain numbers in a trace, cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Vector(NamedTuple):
    """Three components."""

    x: Any
    y: Any
    z: Any

    @staticmethod
    def zero() -> Vector:
        return Vector(0, 0, 0)

    def __add__(self, b: Vector) -> Vector:  # type: ignore[override]
        return Vector(self.x + b.x, self.y + b.y, self.z + b.z)

    def __sub__(self, b: Vector) -> Vector:
        return Vector(self.x - b.x, self.y - b.y, self.z - b.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, s: Any) -> Vector:
        return Vector(self.x * s, self.y * s, self.z * s)

    def dot(self, b: Vector) -> Any:
        (x, y, z), (bx, by, bz) = self, b
        return x * bx + y * by + z * bz

    def cross(self, b: Vector) -> Vector:
        (x, y, z), (bx, by, bz) = self, b
        return Vector(y * bz - z * by, z * bx - x * bz, x * by - y * bx)

    def lift(self, f: Callable[[Any], Any]) -> Vector:
        """The vector with `f` applied to each component."""
        return Vector(f(self.x), f(self.y), f(self.z))


class Matrix(NamedTuple):
    """A 3×3 matrix by rows."""

    x: Vector
    y: Vector
    z: Vector

    @staticmethod
    def of(rows: Any) -> Matrix:
        """From nested sequences."""
        return Matrix(*(Vector(*row) for row in rows))

    @staticmethod
    def identity() -> Matrix:
        return Matrix.diagonal(1, 1, 1)

    @staticmethod
    def diagonal(a: Any, b: Any, c: Any) -> Matrix:
        return Matrix(Vector(a, 0, 0), Vector(0, b, 0), Vector(0, 0, c))

    @staticmethod
    def cross(v: Vector) -> Matrix:
        """v̂, the matrix with v̂ b = v × b."""
        return Matrix(Vector(0, -v.z, v.y), Vector(v.z, 0, -v.x), Vector(-v.y, v.x, 0))

    @property
    def T(self) -> Matrix:
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self
        return Matrix(Vector(xx, yx, zx), Vector(xy, yy, zy), Vector(xz, yz, zz))

    def __add__(self, B: Matrix) -> Matrix:  # type: ignore[override]
        return Matrix(self.x + B.x, self.y + B.y, self.z + B.z)

    def __sub__(self, B: Matrix) -> Matrix:
        return Matrix(self.x - B.x, self.y - B.y, self.z - B.z)

    def __neg__(self) -> Matrix:
        return Matrix(-self.x, -self.y, -self.z)

    def __matmul__(self, b: Any) -> Any:
        """Matrix times vector, or times matrix."""
        if isinstance(b, Vector):
            (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self
            x, y, z = b
            return Vector(xx * x + xy * y + xz * z, yx * x + yy * y + yz * z, zx * x + zy * y + zz * z)
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = b
        (a, b, c), (d, e, f), (g, h, i) = self
        return Matrix(
            Vector(a * xx + b * yx + c * zx, a * xy + b * yy + c * zy, a * xz + b * yz + c * zz),
            Vector(d * xx + e * yx + f * zx, d * xy + e * yy + f * zy, d * xz + e * yz + f * zz),
            Vector(g * xx + h * yx + i * zx, g * xy + h * yy + i * zy, g * xz + h * yz + i * zz),
        )

    def transposed_times(self, b: Vector) -> Vector:
        """Aᵀ b."""
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self
        x, y, z = b
        return Vector(xx * x + yx * y + zx * z, xy * x + yy * y + zy * z, xz * x + yz * y + zz * z)

    def congruent(self, E: Matrix) -> Matrix:
        """Eᵀ A E."""
        turn = _PlaneRotation.of(E)
        if turn is None:
            return E.T @ (self @ E)
        i, j, k = turn.i, turn.j, turn.k
        rows = [list(row) for row in self]
        rows[i][i], rows[i][j], rows[j][i], rows[j][j] = turn.of_block(self[i][i], self[i][j], self[j][i], self[j][j])
        rows[i][k], rows[j][k] = turn.of_pair(self[i][k], self[j][k])
        rows[k][i], rows[k][j] = turn.of_pair(self[k][i], self[k][j])
        return Matrix.of(rows)

    def cleared(self, row: int | None, column: int | None) -> Matrix:
        """The matrix with zeros in a row and a column."""
        return Matrix.of([[0 if i == row or j == column else x for j, x in enumerate(r)] for i, r in enumerate(self)])

    def lift(self, f: Callable[[Any], Any]) -> Matrix:
        """The matrix with `f` applied to each entry."""
        return Matrix(*(row.lift(f) for row in self))


class Symmetric(NamedTuple):
    """A symmetric 3×3 matrix: its upper triangle."""

    xx: Any
    xy: Any
    xz: Any
    yy: Any
    yz: Any
    zz: Any

    @staticmethod
    def of(rows: Any) -> Symmetric:
        """From the upper triangle of nested sequences."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = rows
        return Symmetric(xx, xy, xz, yy, yz, zz)

    @staticmethod
    def diagonal(a: Any, b: Any, c: Any) -> Symmetric:
        return Symmetric(a, 0, 0, b, 0, c)

    @staticmethod
    def zero() -> Symmetric:
        return Symmetric(0, 0, 0, 0, 0, 0)

    @staticmethod
    def outer(a: Vector, b: Vector) -> Symmetric:
        """a bᵀ, for vectors that make it symmetric."""
        return Symmetric(a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z)

    @property
    def matrix(self) -> Matrix:
        xx, xy, xz, yy, yz, zz = self
        return Matrix(Vector(xx, xy, xz), Vector(xy, yy, yz), Vector(xz, yz, zz))

    def __add__(self, B: Symmetric) -> Symmetric:  # type: ignore[override]
        (xx, xy, xz, yy, yz, zz), (a, b, c, d, e, f) = self, B
        return Symmetric(xx + a, xy + b, xz + c, yy + d, yz + e, zz + f)

    def __sub__(self, B: Symmetric) -> Symmetric:
        (xx, xy, xz, yy, yz, zz), (a, b, c, d, e, f) = self, B
        return Symmetric(xx - a, xy - b, xz - c, yy - d, yz - e, zz - f)

    def __matmul__(self, b: Any) -> Any:
        return self.matrix @ b

    def congruent(self, E: Matrix) -> Symmetric:
        """Eᵀ A E, computed once for each entry of the triangle."""
        turn = _PlaneRotation.of(E)
        if turn is None:
            AE = self.matrix @ E
            (x, y, z), (rx, ry, rz) = E.T, AE.T
            return Symmetric(x.dot(rx), x.dot(ry), x.dot(rz), y.dot(ry), y.dot(rz), z.dot(rz))
        ii, ij, ik, jj, jk = _TRIANGLE[turn.k]
        A = list(self)
        A[ii], A[ij], _, A[jj] = turn.of_block(self[ii], self[ij], self[ij], self[jj])
        A[ik], A[jk] = turn.of_pair(self[ik], self[jk])
        return Symmetric(*A)

    def lift(self, f: Callable[[Any], Any]) -> Symmetric:
        """The matrix with `f` applied to each entry."""
        return Symmetric(*(f(a) for a in self))


class _PlaneRotation(NamedTuple):
    """A rotation E about a coordinate axis k: E = [[c, s], [-s, c]] in the plane of i and j."""

    i: int
    j: int
    k: int
    c: Any
    s: Any

    @staticmethod
    def of(E: Matrix) -> _PlaneRotation | None:
        """The rotation if E has the structure of one: zeros and a one that are plain numbers, not traced values."""
        for i, j, k in _PLANES:
            if not (isinstance(E[k][k], (int, float)) and E[k][k] == 1):
                continue
            known = (E[k][i], E[k][j], E[i][k], E[j][k])
            if all([isinstance(x, (int, float)) for x in known]) and known == (0, 0, 0, 0):
                return _PlaneRotation(i, j, k, E[i][i], E[i][j])
        return None

    def of_pair(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Eᵀ [a, b] in the plane."""
        return self.c * a - self.s * b, self.s * a + self.c * b

    def of_block(self, ii: Any, ij: Any, ji: Any, jj: Any) -> tuple[Any, Any, Any, Any]:
        """Eᵀ A E in the plane, from c² + s² = 1 with five products instead of sixteen."""
        t = self.s * (ii - jj) + self.c * (ij + ji)
        return ii - self.s * t, self.c * t - ji, self.c * t - ij, jj + self.s * t


_PLANES = ((1, 2, 0), (2, 0, 1), (0, 1, 2))  # i, j, k
_TRIANGLE = ((3, 4, 1, 5, 2), (5, 2, 4, 0, 1), (0, 1, 2, 3, 4))  # for k: where `Symmetric` has ii, ij, ik, jj, jk
