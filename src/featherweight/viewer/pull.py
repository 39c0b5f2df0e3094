"""Pulling a robot with the mouse: a spring and a damper from the point that was grabbed to the cursor.

The cursor moves in the plane through the point that faces the camera. At a drag as long as the robot the force is twice
the robot's weight, times a factor of the user's; a damper is set for the mass m that the point feels. Both are held for
`HELD` seconds at a time, and kept so weak that this cannot make them unstable, not even at a link that is very light.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.dynamics import forward_kinematics, integrate, mass_matrix_inverse
from featherweight.simulation import Stepper
from featherweight.viewer.play import Play

HELD = 1e-3  # s for which a force is held, or one step if that is longer
WEIGHTS = 2.0  # of a robot, at a drag of its size
DAMPING = 0.7  # of the critical
STABLE = 0.25  # most of k h² / m and d h / m
CALM = 0.02  # rad or m that a joint may turn because of a force while it is held
COLOR = (31, 119, 180)
GRAVITY = 9.81  # m/s², by which mass counts as weight
NEAR = 1e-6  # s or rad, of differences: one kernel serves the points of all bodies


class Pull:
    """What the mouse does to a robot on stage. `force` is what pulls now [N], or None."""

    def __init__(self, server: Any, play: Play, sim: Stepper) -> None:
        self._sim, self._play = sim, play
        self.strength = 1.0
        self.force: np.ndarray | None = None
        self._grabbed: tuple[int, np.ndarray] | None = None  # body, and place in its frame [m]
        self._cursor = np.zeros(3)  # in viser's units: it stays where it is while the camera goes along
        self._held = max(HELD, sim.dt)
        self._mass, self._response = 1.0, np.zeros((sim.model.nv, 3))
        self._offset = play.stages[0].actor.offset
        self._wrench = sim.f_ext[0]
        self._kept = np.zeros(6)
        width = 0.01 * play.size * play.units
        self._arrow = server.scene.add_arrows(
            "/pull", np.zeros((1, 2, 3)), COLOR,
            shaft_radius=width, head_radius=2.5 * width, head_length=5 * width, visible=False,
        )  # fmt: skip
        self._felt_at(1, np.zeros(3))  # compiled now, and not when something is grabbed
        for body, mesh in play.stages[0].meshes:
            mesh.on_drag(self._listener(body))

    def _listener(self, body: int) -> Any:
        async def dragged(event: Any) -> None:  # in order, as it is not handed to other threads
            if event.phase == "end":
                self._grabbed = None
                return
            self._cursor = np.array(event.end_position)
            if event.phase == "start" and body:
                self._grab(body, self._world(np.array(event.start_position)))

        return dragged

    def _world(self, place: np.ndarray) -> np.ndarray:
        """From viser's units to metres in the robot's world."""
        return np.asarray(place / self._play.units + self._play.moved - self._offset)

    def _grab(self, body: int, place: np.ndarray) -> None:
        motion = self._play.stages[0].actor.motion  # as it is seen
        local = motion.rotation[0, body].T @ (place - motion.position[0, body])
        self._mass, self._response = self._felt_at(body, local)
        self._kept = self._wrench[body].copy()
        self._grabbed = body, local

    def _felt_at(self, body: int, local: np.ndarray) -> tuple[float, np.ndarray]:
        """What a point feels like to push: its mass in the direction that is lightest, 1 / λ(J M⁻¹ Jᵀ) [kg], and
        M⁻¹ Jᵀ, which makes accelerations of forces (nv, 3)."""
        model, q, nv = self._sim.model, self._sim.q[0].copy(), self._sim.model.nv
        directions = np.concatenate([np.eye(nv), -np.eye(nv)])
        there = self._places(integrate(model, np.tile(q, (2 * nv, 1)), directions, NEAR), body, local)
        J = (there[:nv] - there[nv:]).T / (2 * NEAR)
        response = mass_matrix_inverse(model, q, parameters=self._parameters()) @ J.T
        largest = float(np.linalg.eigvalsh(J @ response).max())
        return (1.0 / largest if largest > 0 else np.inf), response

    def _parameters(self) -> dict[str, np.ndarray]:
        return {name: values[0] for name, values in self._sim.parameters.items()}

    def _places(self, q: np.ndarray, body: int, local: np.ndarray) -> np.ndarray:
        """Of the point in the world (…, 3) [m]."""
        poses = forward_kinematics(self._sim.model, q, parameters=self._parameters())
        return np.asarray(poses.position[..., body, :] + poses.rotation[..., body, :, :] @ local)

    def act(self) -> bool:
        """Set the force for the steps that follow; False if nothing is pulled."""
        if self._grabbed is None:
            if self.force is not None:
                self._let_go()
            return False
        body, local = self._grabbed
        model, self._body = self._sim.model, body
        q, v = self._sim.q[0].copy(), self._sim.v[0].copy()
        poses = forward_kinematics(model, q, parameters=self._parameters())
        R = poses.rotation[body]
        here = poses.position[body] + R @ local
        velocity = (self._places(integrate(model, q, v, NEAR), body, local) - here) / NEAR
        stretch = self._world(self._cursor) - here
        k, d = self._law()
        spring = k * stretch
        turned = float(np.abs(self._response @ spring).max(initial=0.0)) * self._held**2
        self.force = spring * min(1.0, CALM / max(turned, CALM)) - d * velocity
        local_force = R.T @ self.force
        self._wrench[body] = self._kept + np.concatenate([local_force, np.cross(local, local_force)])
        return True

    def _law(self) -> tuple[float, float]:
        """Stiffness [N/m] and damping [N s/m]."""
        h = self._held
        k = self.strength * WEIGHTS * max(self._sim.model.mass, 1e-9) * GRAVITY / self._play.size
        k = min(k, STABLE * self._mass / h**2)
        return k, min(2 * DAMPING * np.sqrt(k * self._mass), STABLE * self._mass / h)

    def _let_go(self) -> None:
        self._wrench[self._body] = self._kept
        self.force = None

    def cancel(self) -> None:
        """Let go, whatever the mouse does."""
        self._grabbed = None
        self.act()

    def draw(self) -> None:
        """An arrow from the grabbed point to the cursor."""
        grabbed = self._grabbed
        if grabbed is None:
            if self._arrow.visible:
                self._arrow.visible = False
            return
        body, local = grabbed
        motion, play = self._play.stages[0].actor.motion, self._play
        tail = motion.position[0, body] + motion.rotation[0, body] @ local + self._offset - play.moved
        self._arrow.points = np.stack([play.units * tail, self._cursor])[None].astype(np.float32)
        self._arrow.visible = True
