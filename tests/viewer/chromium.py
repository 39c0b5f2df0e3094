"""A real browser without a window: Chromium, spoken to by its own debugging protocol over a websocket."""

from __future__ import annotations

import base64
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


class Page:
    """One page; what it writes to its console and what it asks of the network are kept."""

    def __init__(self, url: str, size: tuple[int, int] = (1000, 700), offline: bool = False) -> None:
        executable = found()
        if executable is None:
            raise RuntimeError("there is no Chromium here")
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        flags = [*FLAGS, f"--user-data-dir={self._home.name}", f"--window-size={size[0]},{size[1]}"]
        self._process = subprocess.Popen(
            [executable, *flags, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._number, self.complaints, self.requests = 0, [], []
        port = self._port()
        targets = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=10).read())
        socket = next(t["webSocketDebuggerUrl"] for t in targets if t["type"] == "page")
        self._socket = connect(socket, max_size=None, open_timeout=20)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        if offline:
            speeds = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
            self.call("Network.emulateNetworkConditions", offline=True, **speeds)
        self.call("Page.navigate", url=url)

    def _port(self) -> int:
        path = Path(self._home.name) / "DevToolsActivePort"
        for _ in range(300):
            if path.exists() and path.read_text().strip():
                return int(path.read_text().split()[0])
            if self._process.poll() is not None:
                raise RuntimeError(f"Chromium ended at once, with {self._process.returncode}")
            time.sleep(0.1)
        raise RuntimeError("Chromium does not answer")

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
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            Path(path).write_bytes(data)
        return data

    def press(self, key: str, times: int = 1) -> None:
        """A key of the keyboard."""
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=10)
        self._home.cleanup()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
