"""viser's page for browsers that draw without a GPU, where every pixel takes its time.

Its page gets a script before its own that asks who draws. Without a GPU

- edges are not smoothed, the last picture is not kept, and the scene hides what is behind it, so that nobody has to
  draw that or mix them; what viser would clear to nothing is cleared to white,
- the sheet for rectangles that are drawn with the mouse, which we do not use, is no longer laid over the window,
- the page says that the screen has `COARSE` as many dots along an edge. viser draws all of them at first; if that is
  slow it goes down to 7/8 and then 3/4 of what the screen has.

viser has no settings for that.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import Any

COARSE = 0.8  # dots along an edge that a slow page is drawn with, in those of the window, before viser takes fewer
SCRIPT = (
    """<script>
(() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const drawnBy = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  if (!/swiftshader|llvmpipe|softpipe|software|basic render/i.test(drawnBy)) return;
  const cheap = { antialias: false, preserveDrawingBuffer: false, alpha: false };
  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return getContext.call(this, kind, kind.startsWith("webgl") ? { ...options, ...cheap } : options);
  };
  const clearColor = WebGL2RenderingContext.prototype.clearColor;
  WebGL2RenderingContext.prototype.clearColor = function (...color) {
    return clearColor.apply(this, color[3] === 0 ? [1, 1, 1, 1] : color);
  };
  const dots = window.devicePixelRatio;
  Object.defineProperty(window, "devicePixelRatio", { get: () => COARSE * dots, configurable: true });
  const style = document.createElement("style");
  style.textContent = "canvas[width='0'] { display: none }";
  document.head.append(style);
})();
</script>"""
).replace("COARSE", str(COARSE))
_lock = threading.Lock()


def prepared(page: str) -> str:
    """viser's page with the script before all others."""
    return page.replace("<head>", "<head>" + SCRIPT, 1)


def serve(viser: Any, **options: Any) -> Any:
    """A viser server with that page; with viser's own if a later viser keeps or gives its page in another way."""
    plain = getattr(viser.infra, "WebsockServer", None)
    if plain is None:
        return viser.ViserServer(**options)

    class Server(plain):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **own: Any) -> None:
            if own.get("http_server_root") is not None:
                own["http_server_root"] = _folder(Path(own["http_server_root"]))
            super().__init__(*args, **own)

    with _lock:
        viser.infra.WebsockServer = Server
        try:
            return viser.ViserServer(**options)
        finally:
            viser.infra.WebsockServer = plain


@cache
def _folder(original: Path) -> Path:
    """A folder with the prepared page, until the program ends."""
    page = original / "index.html"
    if [page] != list(original.iterdir()):
        return original
    folder = Path(tempfile.mkdtemp(prefix="featherweight-viewer-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / page.name).write_text(prepared(page.read_text("utf-8")), "utf-8")
    return folder
