"""A real browser without a window: Chromium, spoken to by its own debugging protocol over a websocket.

It is started once in a process, for the first page; each page has a window of its own, and its own cookies and storage.
"""

from __future__ import annotations

import atexit
import base64
import functools
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--remote-debugging-port=0", "--no-first-run",
    "--disable-background-networking", "--disable-extensions",
    "--disable-features=PaintHolding", "--force-device-scale-factor=1",
)  # fmt: skip


def found() -> str | None:
    """The browser of this machine, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Socket:
    """What is asked of the browser or of a page, and what it answers."""

    def __init__(self, url: str) -> None:
        # no pings: they take from the `random` module, which hypothesis reports of the strategy that runs meanwhile
        self._number, self._socket = 0, connect(url, max_size=None, open_timeout=20, ping_interval=None)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something and wait for the answer."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        """Something happened that nobody asked for."""

    def close(self) -> None:
        """Ask no more."""
        self._socket.close()


class Browser(Socket):
    """The process, which ends with this one."""

    def __init__(self) -> None:
        executable = found()
        if executable is None:
            raise RuntimeError("there is no Chromium here")
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [executable, *FLAGS, f"--user-data-dir={self._home.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(self.close)
        self.port = self._port()
        version = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/version", timeout=10).read())
        super().__init__(version["webSocketDebuggerUrl"])

    def _port(self) -> int:
        path = Path(self._home.name) / "DevToolsActivePort"
        for _ in range(3000):
            if path.exists() and path.read_text().strip():
                return int(path.read_text().split()[0])
            if self._process.poll() is not None:
                raise RuntimeError(f"Chromium ended at once, with {self._process.returncode}")
            time.sleep(0.01)
        raise RuntimeError("Chromium does not answer")

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=10)
        self._home.cleanup()


@functools.cache
def browser() -> Browser:
    """The one of this process."""
    return Browser()


class Page(Socket):
    """One page of a size in pixels; what it writes to its console and what it asks of the network are kept."""

    def __init__(self, url: str, size: tuple[int, int] = (1000, 560), offline: bool = False) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context = browser().call("Target.createBrowserContext")["browserContextId"]
        window = {"newWindow": True, "browserContextId": self.context}
        target = browser().call("Target.createTarget", url="about:blank", **window)["targetId"]
        super().__init__(f"ws://127.0.0.1:{browser().port}/devtools/page/{target}")
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        sizes = {"width": size[0], "height": size[1]}
        self.call("Emulation.setDeviceMetricsOverride", **sizes, deviceScaleFactor=1, mobile=False)
        if offline:
            speeds = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
            self.call("Network.emulateNetworkConditions", offline=True, **speeds)
        self.call("Page.navigate", url=url)

    def _note(self, event: dict[str, Any]) -> None:
        method, facts = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(facts["exceptionDetails"].get("exception", facts["exceptionDetails"])))
        elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in facts["args"]))
        elif method == "Log.entryAdded" and facts["entry"]["level"] == "error":
            self.complaints.append(facts["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])

    def value(self, script: str) -> Any:
        """What a piece of JavaScript gives; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def until(self, script: str, seconds: float = 30.0) -> Any:
        """Wait for a piece of JavaScript to give something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.value(script)
            if value:
                return value
            time.sleep(0.1)
        raise TimeoutError(f"after {seconds:g} s still not: {script}")

    def picture(self, path: str | Path | None = None) -> bytes:
        """What is to be seen, as PNG."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", optimizeForSpeed=True)["data"])
        if path is not None:
            Path(path).write_bytes(data)
        return data

    def press(self, key: str, times: int = 1) -> None:
        """A key of the keyboard."""
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def close(self) -> None:
        """Close its window."""
        super().close()
        browser().call("Target.disposeBrowserContext", browserContextId=self.context)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
