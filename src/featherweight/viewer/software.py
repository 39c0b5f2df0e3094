"""viser's page for browsers that draw without a GPU: they do not smooth edges, which takes a third of their time.

viser smooths them always and has no setting for it. So its page gets a script before its own that asks who draws.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import Any

SCRIPT = """<script>
(() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const drawnBy = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  if (!/swiftshader|llvmpipe|softpipe|software|basic render/i.test(drawnBy)) return;
  const plain = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return plain.call(this, kind, kind.startsWith("webgl") ? { ...options, antialias: false } : options);
  };
})();
</script>"""
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
