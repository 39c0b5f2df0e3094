"""The viewer answers its own page, and nobody else's: neither other origins nor other names of this machine."""

from __future__ import annotations

import http.client
import http.server
import socket
import threading
from collections.abc import Iterator

import pytest

import featherweight as fw

viser = pytest.importorskip("viser")
from websockets.datastructures import Headers  # noqa: E402
from websockets.exceptions import InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from featherweight.viewer.admission import admitted, checked  # noqa: E402
from viewer.chromium import Page, found  # noqa: E402

PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module")
def viewer() -> Iterator[fw.viewer.Viewer]:
    with fw.viewer.show(fw.robots.double_pendulum(), block=False, browser=False) as shown:
        yield shown


def port_of(viewer: fw.viewer.Viewer) -> int:
    return int(viewer.url.rpartition(":")[2])


def status(port: int, **headers: str) -> int:
    """Of the answer to a request for the page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("GET", "/", skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    found = connection.getresponse().status
    connection.close()
    return found


def test_pages_under_other_names_or_of_other_origins_are_refused(viewer: fw.viewer.Viewer) -> None:
    port = port_of(viewer)
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost:9000", "[::1]:80", "LOCALHOST"):
        assert status(port, Host=host) == 200
        assert status(port, Host=host, Origin=f"http://{host}") == 200
    for host in (
        f"evil.example:{port}",
        "10.0.0.1",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "[x",
        "a b",
    ):
        assert status(port, Host=host) == 403
    for origin in ("http://evil.example", "null", f"http://127.0.0.2:{port}", "http://localhost:1", "file://", "x"):
        assert status(port, Host=f"localhost:{port}", Origin=origin) == 403
    assert status(port) in (400, 403)


def test_websockets_of_other_origins_are_refused(viewer: fw.viewer.Viewer) -> None:
    port = port_of(viewer)
    for address, origin in (("127.0.0.1", None), ("127.0.0.1", f"http://127.0.0.1:{port}")):
        with connect(f"ws://{address}:{port}", origin=origin, subprotocols=[PROTOCOL]) as socket_:
            assert socket_.recv(timeout=20)
    for origin in ("http://evil.example", "null", "http://127.0.0.2:9477", f"http://localhost:{port}"):
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://127.0.0.1:{port}", origin=origin, subprotocols=[PROTOCOL])
        assert refused.value.response.status_code == 403
    with socket.create_connection(("127.0.0.1", port)) as plain, pytest.raises(InvalidStatus) as refused:
        connect(f"ws://evil.example:{port}", sock=plain, subprotocols=[PROTOCOL])
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("listening", "host", "good"),
    [
        ("0.0.0.0", "192.168.1.5:8080", True),
        ("0.0.0.0", "localhost:8080", True),
        ("0.0.0.0", socket.gethostname(), True),
        ("0.0.0.0", "evil.example:8080", False),
        ("::", "[fe80::1]:8080", True),
        ("robot.lan", "robot.lan:8080", True),
        ("robot.lan", "evil.example", False),
        ("192.168.1.5", "192.168.1.5:8080", True),
        ("192.168.1.5", "evil.example", False),
        ("127.0.0.1", "192.168.1.5:8080", False),
        ("localhost", "127.0.0.1:8080", True),
        ("::1", "[::1]:8080", True),
    ],
)
def test_names_that_are_answered_follow_from_where_it_listens(listening: str, host: str, good: bool) -> None:
    assert admitted(Headers({"Host": host}), listening) is good
    assert admitted(Headers({"Host": host, "Origin": f"http://{host}"}), listening) is good
    assert not admitted(Headers({"Host": host, "Origin": "http://evil.example"}), listening)
    assert not admitted(Headers([("Host", host), ("Host", host)]), listening)


def test_a_server_that_cannot_be_guarded_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="cannot be told whom to answer"), checked("127.0.0.1"):
        pass


@pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")
def test_a_page_of_another_site_cannot_read_the_scene(viewer: fw.viewer.Viewer) -> None:
    """In a real browser: 127.0.0.2 is this machine, and another origin."""
    script = f"""<title>waiting</title><script>
const w = new WebSocket("ws://127.0.0.1:{port_of(viewer)}", "{PROTOCOL}");
w.onmessage = () => document.title = "read"; w.onerror = () => document.title = "refused";</script>"""

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(script.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.2", 0), Other) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        with Page(f"http://127.0.0.2:{site.server_port}/") as page:
            page.until("document.title != 'waiting' && document.title != ''")
            assert page.value("document.title") == "refused"
        site.shutdown()
