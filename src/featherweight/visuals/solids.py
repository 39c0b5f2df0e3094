"""Solids as triangles, centred at the origin: box, ball; cylinder, cone and capsule along z."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Mesh(NamedTuple):
    """Triangles that look outward: vertices (n, 3) [m], faces (m, 3) of vertex numbers."""

    vertices: np.ndarray
    faces: np.ndarray

    def moved(self, rotation: np.ndarray, position: np.ndarray) -> Mesh:
        """The same somewhere else: x -> R x + p."""
        return Mesh(self.vertices @ np.asarray(rotation).T + position, self.faces)

    def face_normals(self) -> np.ndarray:
        """Outward, as long as twice the areas (m, 3)."""
        a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
        return np.cross(b - a, c - a)

    def normals(self) -> np.ndarray:
        """At each vertex, the mean of its faces' normals by area, of length 1 (n, 3)."""
        faces, places = np.repeat(self.face_normals(), 3, axis=0), self.faces.ravel()
        total = np.stack([np.bincount(places, x, len(self.vertices)) for x in faces.T], axis=1)
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)

    @staticmethod
    def joined(meshes: list[Mesh]) -> Mesh:
        """Several as one."""
        starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
        faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]
        return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def box(size: np.ndarray | tuple[float, ...]) -> Mesh:
    """Edges of `size` [m]."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    return Mesh(corners * np.asarray(size), np.array(faces))


def ball(radii: float | np.ndarray, segments: int = 12) -> Mesh:
    """A ball of that radius [m], or an ellipsoid with three."""
    profile = [(np.sin(a), -np.cos(a)) for a in np.linspace(0.0, np.pi, segments // 2 + 1)]
    mesh = _turned(profile, segments)
    return Mesh(mesh.vertices * radii, mesh.faces)


def cylinder(radius: float, length: float, segments: int = 12) -> Mesh:
    """Along z."""
    h = length / 2
    return _turned([(0.0, -h), (radius, -h), (radius, h), (0.0, h)], segments)


def cone(radius: float, length: float, segments: int = 12) -> Mesh:
    """Along z, its tip above."""
    return _turned([(0.0, -length / 2), (radius, -length / 2), (0.0, length / 2)], segments)


def capsule(radius: float, length: float, segments: int = 12) -> Mesh:
    """Along z; `length` [m] is between the centres of its two half balls."""
    quarter = np.linspace(0.0, np.pi / 2, segments // 4 + 1)
    bottom = [(radius * np.sin(a), -length / 2 - radius * np.cos(a)) for a in quarter]
    top = [(radius * np.cos(a), length / 2 + radius * np.sin(a)) for a in quarter]
    return _turned([*bottom, *top], segments)


def _turned(profile: list[tuple[float, float]], segments: int) -> Mesh:
    """A profile of (distance from z, z), from the bottom up, turned about z; flat triangles are left out."""
    angles = 2 * np.pi * np.arange(segments) / segments
    rings = [[(r * np.cos(a), r * np.sin(a), z) for a in angles] for r, z in profile]
    vertices = np.array(rings).reshape(-1, 3)
    faces = []
    for k in range(len(profile) - 1):
        for i in range(segments):
            j = (i + 1) % segments
            a, b, c, d = k * segments + i, k * segments + j, (k + 1) * segments + j, (k + 1) * segments + i
            if profile[k][0] > 1e-12:
                faces.append((a, b, c))
            if profile[k + 1][0] > 1e-12:
                faces.append((a, c, d))
    return Mesh(vertices, np.array(faces))
