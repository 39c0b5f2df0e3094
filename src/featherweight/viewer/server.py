"""The server that a browser looks at: on this machine alone unless it is told otherwise."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import socket
import sys
import webbrowser
from pathlib import Path
from typing import Any

from featherweight.extras import needed
from featherweight.viewer.admission import checked
from featherweight.viewer.software import serve

LOOPBACK = "127.0.0.1"
FIRST_PORT, PORTS = 8080, 100  # where a free port is looked for


class Served:
    """What a server of this process shows."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        name = type(self).__name__
        raise TypeError(
            f"{name}: a page that is being served by this process can neither be pickled nor copied; "
            "keep the trajectory instead"
        )


def start(host: str, port: int | None) -> Any:
    """A viser server that answers its own pages only. OSError if the port is in use or the address is not one of this
    machine's."""
    viser = needed("viser", "viewer", "the viewer needs")
    chosen = _free_port(host) if port is None else _checked(host, port)
    with checked(host), contextlib.redirect_stdout(io.StringIO()):  # it has a banner
        server = serve(viser, host=host, port=chosen, verbose=False)
    arrange(server)
    return server


def arrange(server: Any) -> None:
    """An empty page: light, its panel beside the robot and not over it, z up."""
    set_theme(server, dark=False)
    server.gui.main_panel.dock_right()
    server.scene.set_up_direction("+z")


def set_theme(server: Any, *, dark: bool) -> None:
    """The colours of the page, light or dark."""
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium", dark_mode=dark)


def address(server: Any, host: str) -> str:
    """Of the page, for a browser on this machine."""
    name = {"0.0.0.0": LOOPBACK, "::": "[::1]", "::1": "[::1]"}.get(host, host)
    return f"http://{name}:{server.get_port()}"


def stop(server: Any) -> None:
    """Close it, without a word."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def open_page(path: str | os.PathLike[str]) -> bool:
    """Open a file in the browser where there is a display; False if there is none."""
    return open_browser(Path(path).resolve().as_uri())


def open_browser(url: str) -> bool:
    """Open a page where there is a display; False if there is none, or no browser."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False


def _checked(host: str, port: Any) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise ValueError(f"port: expected a number from 0 to 65535, got {port!r}")
    if not _is_free(host, port):
        raise OSError(f"port {port} of {host} is in use; choose another, or none for one that is free")
    return port


def _free_port(host: str) -> int:
    for port in range(FIRST_PORT, FIRST_PORT + PORTS):
        if _is_free(host, port):
            return port
    raise OSError(f"no port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} of {host} is free; choose another with port=")


def _is_free(host: str, port: int) -> bool:
    """Can it be listened at? OSError if there is no such address here."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise OSError(f"host: {host!r} is not an address of this machine ({error})") from None
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise OSError(f"host: {host!r} is not an address of this machine") from None
            return False
    return True
