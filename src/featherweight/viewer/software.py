"""viser's page for browsers that draw without a GPU, where every pixel takes its time.

Its page gets a script before its own that asks who draws. Without a GPU

- edges are not smoothed, the last picture is not kept, and the scene hides what is behind it, so that nobody has to
  draw that or mix them; what viser would clear to nothing is cleared to white, or dark grey on a dark page,
- colours are what they are, without the film's response that viser gives them, and become those of screens by a square
  root: powers and ACES take half of the time of drawing,
- solids are matt: the light of the sky and the ground by their normal, without the gloss of a standard material, which
  is not to be seen here and takes most of the time of a dot,
- curves are drawn by the processor at once, and not by a GPU that it has to play,
- the sheet for rectangles that are drawn with the mouse, which we do not use, is no longer laid over the window, and
  viser's note that there is no GPU goes away by itself,
- the page says, once curves know how fine the screen is, that it has 0.7 as many dots along an edge. viser draws one
  for each dot of the window all the same, until it finds that slow: then it goes down to 7/8 and 3/4 of what the screen
  has. A little fewer would not help, since enlarging the picture takes longer than that spares.

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

SCRIPT = r"""<script>
(() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const drawnBy = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  if (!/swiftshader|llvmpipe|softpipe|software|basic render/i.test(drawnBy)) return;
  const change = (object, name, other) => (object[name] = other(object[name]));
  const context = WebGL2RenderingContext.prototype, dots = 0.7 * Math.min(1, window.devicePixelRatio);
  const cheap = { antialias: false, preserveDrawingBuffer: false, alpha: false };
  change(HTMLCanvasElement.prototype, "getContext", (plain) => function (kind, options) {
    if (!kind.startsWith("webgl")) return plain.call(this, kind, { ...options, willReadFrequently: true });
    Object.defineProperty(window, "devicePixelRatio", { get: () => dots, configurable: true });
    return plain.call(this, kind, { ...options, ...cheap });
  });
  const setTo = context.clearColor;
  change(context, "clearColor", () => function (...color) {
    this.empty = color[3] === 0;
    return setTo.apply(this, color);
  });
  change(context, "clear", (plain) => function (buffers) {
    const dark = document.documentElement.dataset.mantineColorScheme === "dark";
    if (this.empty) setTo.apply(this, dark ? [0.12, 0.12, 0.13, 1] : [1, 1, 1, 1]);
    return plain.call(this, buffers);
  });
  const toScreen = /(vec4 sRGBTransferOETF\([^)]*\)) *{[^}]*}/;
  const root = "$1 { return vec4(sqrt(value.rgb), value.a); }";
  const matt = `
    #ifndef FLAT_SHADED
      vec3 outward = normalize(vNormal);
      #ifdef DOUBLE_SIDED
        if (!gl_FrontFacing) outward = -outward;
      #endif
      HemisphereLight sky = hemisphereLights[0];
      vec3 light = mix(sky.groundColor, sky.skyColor, 0.5 + 0.5 * dot(outward, sky.direction));
      gl_FragColor = linearToOutputTexel(vec4(RECIPROCAL_PI * light * diffuseColor.rgb, diffuseColor.a));
      return;
    #endif
    $&`;
  change(context, "shaderSource", (plain) => function (shader, text) {
    let cheap = text.replace("#define TONE_MAPPING", "").replace(toScreen, root);
    if (text.includes("hemisphereLights[ 1 ]")) cheap = cheap.replace("float roughnessFactor = roughness;", matt);
    return plain.call(this, shader, cheap);
  });
  const style = document.createElement("style");
  style.textContent = `canvas[width='0'] { display: none } @keyframes leave { to { visibility: hidden } }
    #webgl-software-rendering { animation: leave 0s 6s forwards }`;
  document.head.append(style);
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
