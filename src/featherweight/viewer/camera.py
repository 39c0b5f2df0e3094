"""The camera: where it stands at first, for the window that each browser has. Once a user moves it, it is theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.visuals import camera_axes, fitted

NEAREST = 1.05  # units from the camera that are seen: beyond viser's sheet at 1
FILLED = 0.82  # of the window's height and width
PHONE = 0.7  # width over height of a phone that is held upright
HALF = 0.6  # of the height that is filled: how far above the middle the robot is seen there
STEEPEST = 1.4  # rad above the horizon
USUAL = 1.4  # width over height, before a browser has told
GENTLE = 0.4  # s in which a camera that follows comes along
STILL = 1e-3  # of the distance: a camera that is farther away was moved by its user


class Camera:
    """Sees corners (n, 3) [m] from a direction, `units` of viser for each metre, and robots that go a `way` [m]."""

    def __init__(self, server: Any, corners: np.ndarray, direction: np.ndarray, way: float, units: float) -> None:
        self._server, self._corners, self._direction, self._units = server, corners, direction, units
        self._seen: dict[int, tuple[float, np.ndarray]] = {}  # aspect and place that each browser was given
        first = server.initial_camera
        first.position, first.look_at = self._places(USUAL, first.fov)
        distance = units * way + float(np.linalg.norm(first.position - first.look_at))
        first.near, first.far = NEAREST, max(first.far, 25 * distance)
        server.on_client_connect(self._fit)
        server.on_client_disconnect(lambda client: self._seen.pop(client.client_id, None))
        for client in server.get_clients().values():
            self._fit(client)

    def _places(self, aspect: float, fov: float) -> tuple[np.ndarray, np.ndarray]:
        high = FILLED * np.tan(fov / 2)
        if aspect >= PHONE:
            direction, down = self._direction, 0.0
            look_at, distance = fitted(self._corners, direction, (high * aspect, high))
        else:  # viser's panel is a sheet over the lower half there
            down = HALF * high
            direction = raised(self._direction, float(np.arctan(down)))
            look_at, distance = fitted(self._corners, direction, (high * aspect, 0.5 * high))
        look_at = look_at - down * distance * camera_axes(direction)[:, 1]
        return self._units * (look_at + distance * direction), self._units * look_at

    def _fit(self, client: Any) -> None:
        """Now, and when the window has another shape, as long as the user has not moved the camera."""
        self._place(client)

        @client.camera.on_update
        def _(_: Any) -> None:
            if client.client_id not in self._server.get_clients():  # its last word, when it has gone
                return
            aspect, place = self._seen.get(client.client_id, (0.0, np.zeros(3)))
            moved = np.linalg.norm(np.asarray(client.camera.position) - place)
            if abs(_aspect(client) - aspect) > 1e-3 and moved < STILL * np.linalg.norm(place - client.camera.look_at):
                self._place(client)

    def _place(self, client: Any) -> None:
        aspect = _aspect(client)
        place, look_at = self._places(aspect, client.camera.fov)
        self._seen[client.client_id] = aspect, place
        with client.atomic():
            client.camera.position, client.camera.look_at = place, look_at


def _aspect(client: Any) -> float:
    camera = client.camera
    return camera.image_width / max(camera.image_height, 1)


def raised(direction: np.ndarray, angle: float) -> np.ndarray:
    """From where a camera looks that is so many radians higher (3,)."""
    x, y, z = direction
    above = min(float(np.arcsin(z)) + angle, max(STEEPEST, float(np.arcsin(z))))
    level = np.array([x, y, 0.0]) / max(float(np.hypot(x, y)), 1e-9)
    return np.asarray(np.cos(above) * level + np.sin(above) * np.array([0.0, 0.0, 1.0]))


class Smooth:
    """A way (3,) without its jolts, by an α-β filter: it does not lag behind a steady speed."""

    def __init__(self) -> None:
        self._place, self._speed = np.zeros(3), np.zeros(3)

    def next(self, way: np.ndarray, seconds: float) -> np.ndarray:
        """The smooth way, so many seconds after the last; after infinitely many it is the way."""
        keep = float(np.exp(-seconds / GENTLE))
        expected = self._place + (self._speed * seconds if np.isfinite(seconds) else 0.0)
        error = way - expected
        self._place = expected + (1.0 - keep**2) * error
        self._speed = self._speed + ((1.0 - keep) ** 2 / seconds * error if np.isfinite(seconds) else -self._speed)
        return self._place
