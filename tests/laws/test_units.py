"""Units do not matter: lengths in millimetres, masses in grams and another clock scale all results as they should."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import allowance, close, law
from laws.random_trees import Body, build, recipes, states

pytestmark = pytest.mark.usefixtures("interpreted")


@dataclass(frozen=True)
class Units:
    """How many of the new units are in one of the old."""

    length: float
    mass: float
    time: float

    @property
    def energy(self) -> float:
        return self.mass * self.length**2 / self.time**2

    def coordinates(self, joint: fw.joints.Joint) -> tuple[np.ndarray, np.ndarray]:
        """Of q, and of v times a unit of time: a length where the coordinate slides, 1 where it turns."""
        L = self.length
        q = {"Prismatic": [L], "Cylindrical": [1, L], "Planar": [L, L, 1], "Free": [L] * 3 + [1] * 4}
        v = {**q, "Free": [L] * 3 + [1] * 3}
        name = type(joint).__name__
        return np.array(q.get(name, [1] * joint.nq)), np.array(v.get(name, [1] * joint.nv))

    def inertia(self, inertia: fw.Inertia) -> fw.Inertia:
        moment = np.array(inertia.moment_about_com) * self.mass * self.length**2
        return fw.Inertia(inertia.mass * self.mass, np.array(inertia.com) * self.length, moment)

    def placement(self, placement: fw.Placement) -> fw.Placement:
        position = np.array(placement.position) * self.length
        return fw.Placement(position, rotation=np.array(placement.rotation, dtype=float))

    def body(self, body: Body) -> Body:
        q, v = self.coordinates(body.joint)
        joint, rotor = body.joint, body.rotor
        if isinstance(joint, fw.joints.Helical):
            joint = fw.joints.Helical(joint.axis, joint.pitch * self.length)
        if rotor is not None:  # radians for each coordinate of the joint
            rotor = fw.Rotor(rotor.gear / v[0], self.inertia(rotor.inertia), self.placement(rotor.placement))
        return replace(
            body,
            joint=joint,
            placement=self.placement(body.placement),
            inertia=self.inertia(body.inertia),
            rotor=rotor,
            armature=body.armature * self.energy * self.time**2 / v**2,
            damping=body.damping * self.energy * self.time / v**2,
            friction=body.friction * self.energy / v,
            stiffness=body.stiffness * self.energy / v**2,
            rest=None if body.rest is None else body.rest * q,
        )


@pytest.mark.parametrize("units", [Units(1000, 1, 1), Units(1, 1000, 1), Units(1, 1, 1000), Units(1000, 1000, 0.01)])
@law
@given(recipes())
def test_results_scale_with_the_units(units: Units, bodies: list[Body]) -> None:
    model = build(bodies)
    other = build([units.body(body) for body in bodies], gravity=model.gravity * units.length / units.time**2)
    q, v, a = states(model, 3)
    of_q, of_v = (np.concatenate(x) for x in zip(*(units.coordinates(j.kind) for j in model.joints), strict=True))
    q2, v2, a2 = q * of_q, v * of_v / units.time, a * of_v / units.time**2
    of_force = units.energy / of_v  # power is the same in all coordinates
    of_mass = units.energy * units.time**2 / np.outer(of_v, of_v)

    def scaled(found: np.ndarray, right: np.ndarray, unit: np.ndarray | float, tolerance: float = 1e-12) -> None:
        close(found / unit, right, tolerance)

    tau = fw.inverse_dynamics(model, q, v, a)
    scaled(fw.inverse_dynamics(other, q2, v2, a2), tau, of_force)
    scaled(fw.forward_dynamics(other, q2, v2, tau * of_force), a, of_v / units.time**2, 1e-12 * allowance(model, q))
    scaled(fw.mass_matrix(other, q2), fw.mass_matrix(model, q), of_mass)
    scaled(fw.coriolis_matrix(other, q2, v2), fw.coriolis_matrix(model, q, v), of_mass / units.time)
    scaled(fw.passive_force(other, q2, v2), fw.passive_force(model, q, v), of_force)
    scaled(fw.kinetic_energy(other, q2, v2), fw.kinetic_energy(model, q, v), units.energy)
    scaled(fw.potential_energy(other, q2), fw.potential_energy(model, q), units.energy)
    scaled(fw.center_of_mass(other, q2), fw.center_of_mass(model, q), units.length)
    linear = units.mass * units.length / units.time
    of_momentum = np.array([linear] * 3 + [linear * units.length] * 3)
    scaled(fw.momentum(other, q2, v2), fw.momentum(model, q, v), of_momentum)
    scaled(fw.centroidal_bias(other, q2, v2), fw.centroidal_bias(model, q, v), of_momentum / units.time)
    point = (bodies[-1].name, np.array([0.1, -0.2, 0.3]))
    G2 = fw.delassus(other, q2, [(point[0], point[1] * units.length)])
    scaled(G2, fw.delassus(model, q, [point]), 1 / units.mass, 1e-12 * allowance(model, q))
