"""Whom the viewer answers: pages of its own, asked for by a name of this machine.

A page of another site can open a websocket to this machine (browsers do not stop that), or point a name of its own here
and be taken for one of ours (DNS rebinding). So both headers that browsers send are compared: `Host` must be an address
or a name of this machine, and `Origin`, if there is one, must be that very host. Its port may be another: that of a
tunnel.
"""

from __future__ import annotations

import contextlib
import http
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from featherweight.extras import needed

_lock = threading.Lock()
REFUSED = "featherweight's viewer answers its own pages only, under an address or a name of this machine.\n"


def admitted(headers: Any, listening: str) -> bool:
    """May a request with these headers have an answer of the server that listens at this address?"""
    hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
    if len(hosts) != 1 or len(origins) > 1 or not _ours(_name(f"//{hosts[0]}"), listening):
        return False
    return not origins or origins[0].lower() in (f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}")


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _ours(name: str, listening: str) -> bool:
    """Is it a name of this machine, as far as the server is open? Others can point names here, but not addresses."""
    if name in ("localhost", listening.lower()):
        return True
    address = _address(name)
    own = _address(listening)
    if listening == "localhost" or (own is not None and own.is_loopback):
        return address is not None and address.is_loopback
    return address is not None or name in (socket.gethostname().lower(), socket.getfqdn().lower())


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


@contextlib.contextmanager
def checked(listening: str) -> Iterator[None]:
    """viser's servers that are started in here ask who is there. RuntimeError if this viser starts none in a way that
    is known: a viewer that answers everybody is not what was asked for."""
    websockets = needed("websockets.asyncio.server", "viewer", "the viewer needs")
    plain: Any = None
    guarded: list[Any] = []

    def serve(handler: Any, *given: Any, process_request: Callable[..., Any] | None = None, **options: Any) -> Any:
        if handler.__module__.partition(".")[0] != "viser":  # another thread's, at the same time
            return plain(handler, *given, process_request=process_request, **options)
        guarded.append(handler)

        def asked(connection: Any, request: Any) -> Any:
            if not admitted(request.headers, listening):
                return connection.respond(http.HTTPStatus.FORBIDDEN, REFUSED)
            return None if process_request is None else process_request(connection, request)

        return plain(handler, *given, process_request=asked, **options)

    with _lock:
        plain, websockets.serve = websockets.serve, serve
        try:
            yield
        finally:
            websockets.serve = plain
    if not guarded:
        raise RuntimeError("this version of viser cannot be told whom to answer; featherweight knows 1.1")
