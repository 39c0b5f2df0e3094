// ---- plots that can be zoomed: drag over a part, pinch, or press + and −; double click for all of it again
const COLORS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#393b79", "#637939"];
const MARGIN = { left: 56, right: 8, top: 6, bottom: 34 };
const made = (kind, parent, text = "", name = "") => {
  const element = document.createElement(kind);
  element.textContent = text;
  element.className = name;
  parent.append(element);
  return element;
};

// an axis: from values to a line and back; logarithms above `below` if it is symlog
const SCALES = {
  linear: () => [(x) => x, (x) => x],
  log: () => [(x) => Math.log10(x), (x) => 10 ** x],
  symlog: (below) => [
    (x) => Math.sign(x) * (Math.abs(x) < below ? Math.abs(x) / below : 1 + Math.log10(Math.abs(x) / below)),
    (x) => Math.sign(x) * (Math.abs(x) < 1 ? Math.abs(x) * below : below * 10 ** (Math.abs(x) - 1)),
  ],
};
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const power = (x) => { // 10⁻³ for 0.001
  if (x === 0) return "0";
  const exponent = Math.log10(Math.abs(x));
  if (Math.abs(exponent - Math.round(exponent)) > 1e-6 || Math.abs(exponent) < 2.5) return short(x);
  return `${x < 0 ? "−" : ""}10${[...String(Math.round(exponent))].map((letter) => RAISED[letter]).join("")}`;
};
const short = (x) => (x !== 0 && (Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3) ? x.toExponential(2) : String(Number(x.toPrecision(4))));

function ticks(low, high, count) { // at 1, 2 or 5 times a power of ten
  const least = (high - low) / count, power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find((s) => s * power >= least * (1 - 1e-9)), found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && found.length < 50; k++) found.push(k * step);
  return found.map((x) => Number(x.toPrecision(12)));
}

function decades(below) { // of a symlog axis: 0, and powers of ten that are not far below where it is linear
  const powers = [...Array(60).keys()].map((k) => Number(`1e${k - 30}`)).filter((x) => x >= 0.2 * below);
  return [0, ...powers, ...powers.map((x) => -x)];
}

function plot(place, panel, shared) {
  const figure = made("figure", place, "", "plot");
  made("figcaption", figure, panel.title);
  const tools = made("span", figure, "", "tools"), canvas = made("canvas", figure), legend = made("div", figure, "", "legend");
  const pen = canvas.getContext("2d"), [onto, back] = SCALES[panel.scale](panel.linear_below);
  const curves = panel.curves.map((curve, k) => ({ ...curve, color: COLORS[k % COLORS.length], up: curve.y.map(onto) }));
  const own = { view: null }, ranges = panel.over_time ? shared : own; // panels over time are zoomed together
  let y = null, pointer = null, drag = null;

  const extent = (arrays) => {
    let low = Infinity, high = -Infinity;
    for (const array of arrays) for (const x of array) if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
    if (!(low <= high)) return [0, 1];
    const pad = 0.04 * (high - low) || 0.5 * Math.abs(high) || 1;
    return [low - pad, high + pad];
  };
  const shown = () => curves.filter((curve) => !curve.off);
  const ranged = () => {
    const x = ranges.view ?? (panel.over_time ? panel.range : extent(shown().map((c) => c.x)));
    if (y) return [x, y];
    const inside = shown().map((c) => c.up.filter((_, k) => c.x[k] >= x[0] && c.x[k] <= x[1]));
    return [x, extent(panel.over_time ? inside : shown().map((c) => c.up))];
  };
  const frame = () => {
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight], [x, up] = ranged();
    const box = { left: MARGIN.left, top: MARGIN.top, wide: wide - MARGIN.left - MARGIN.right, high: high - MARGIN.top - MARGIN.bottom };
    return { box, x, up, toX: (v) => box.left + (v - x[0]) / (x[1] - x[0]) * box.wide,
      toY: (v) => box.top + (up[1] - v) / (up[1] - up[0]) * box.high,
      fromX: (p) => x[0] + (p - box.left) / box.wide * (x[1] - x[0]), fromY: (p) => up[1] - (p - box.top) / box.high * (up[1] - up[0]) };
  };

  const draw = () => {
    const scale = devicePixelRatio, { box, x, up, toX, toY } = frame();
    if (box.wide < 10) return;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${panel.title}: ${shown().length} curves from ${short(x[0])} to ${short(x[1])}`);
    [canvas.width, canvas.height] = [canvas.clientWidth * scale, canvas.clientHeight * scale];
    pen.scale(scale, scale);
    const ink = getComputedStyle(figure).color;
    pen.font = "12px system-ui, sans-serif";
    [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [ink, ink, 1];
    const line = (x0, y0, x1, y1) => { pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke(); };
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const t of ticks(...x, Math.max(3, box.wide / 80))) {
      pen.globalAlpha = 0.12;
      line(toX(t), box.top, toX(t), box.top + box.high);
      pen.globalAlpha = 0.85;
      pen.fillText(short(t), toX(t), box.top + box.high + 4);
    }
    pen.fillText(panel.x_title, box.left + box.wide / 2, box.top + box.high + 18);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const powers = panel.scale !== "linear" && up[1] - up[0] > 2; // a tick for each, or every so many, powers of ten
    const inside = (t) => t >= up[0] && t <= up[1], marks = ticks(...up, Math.max(3, box.high / 45));
    const whole = panel.scale === "symlog" ? decades(panel.linear_below).map(onto) : [...new Set(marks.map(Math.round))];
    for (const t of powers ? whole.filter(inside) : marks) {
      pen.globalAlpha = 0.12;
      line(box.left, toY(t), box.left + box.wide, toY(t));
      pen.globalAlpha = 0.85;
      pen.fillText(powers ? power(back(t)) : short(back(t)), box.left - 5, toY(t));
    }
    pen.globalAlpha = 0.5;
    pen.strokeRect(box.left, box.top, box.wide, box.high);
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.wide, box.high);
    pen.clip();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.4;
    for (const curve of shown()) {
      pen.strokeStyle = curve.color;
      pen.beginPath();
      let open = false;
      curve.up.forEach((value, k) => {
        if (!Number.isFinite(value)) return void (open = false);
        open ? pen.lineTo(toX(curve.x[k]), toY(value)) : pen.moveTo(toX(curve.x[k]), toY(value));
        open = true;
      });
      pen.stroke();
    }
    pen.strokeStyle = pen.fillStyle = ink;
    if (drag && drag.moved) {
      pen.globalAlpha = 0.12;
      pen.fillRect(drag.from[0], drag.tall ? drag.from[1] : box.top, drag.to[0] - drag.from[0], drag.tall ? drag.to[1] - drag.from[1] : box.high);
    } else if (pointer !== null && panel.over_time) {
      pen.globalAlpha = 0.4;
      line(pointer, box.top, pointer, box.top + box.high);
    }
    pen.restore();
  };
  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };
  (panel.over_time ? shared : own).redraws = [...(ranges.redraws ?? []), redraw];
  const changed = () => ranges.redraws.forEach((one) => one());
  const all = () => { ranges.view = y = null; changed(); };
  const zoom = (factor, middle = null) => {
    const { x } = frame(), centre = middle ?? (x[0] + x[1]) / 2;
    ranges.view = x.map((end) => centre + (end - centre) * factor);
    changed();
  };

  // what can be pressed
  for (const [text, title, act] of [["+", "nearer", () => zoom(0.5)], ["−", "further away", () => zoom(2)], ["all", "all of it", all]]) {
    const button = made("button", tools, text);
    button.title = title;
    button.onclick = act;
    tools.append(" ");
  }
  for (const curve of curves) {
    const button = made("button", legend, curve.name);
    button.title = curve.name;
    button.style.setProperty("--color", curve.color);
    curve.value = made("output", button);
    button.classList.toggle("off", Boolean(curve.off));
    button.onclick = () => {
      curve.off = !curve.off;
      button.classList.toggle("off", curve.off);
      redraw();
    };
  }
  const at = (e) => [e.offsetX, e.offsetY], fingers = new Map();
  const apart = () => { const [a, b] = [...fingers.values()]; return Math.max(Math.abs(a[0] - b[0]), 10); };
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, at(e));
    drag = e.pointerType === "mouse" ? { from: at(e), to: at(e), moved: false } : null;
  });
  canvas.addEventListener("pointermove", (e) => {
    const { fromX, toX } = frame(), here = at(e);
    if (fingers.size === 2) {
      const before = apart();
      fingers.set(e.pointerId, here);
      const [a, b] = [...fingers.values()];
      zoom(before / apart(), fromX((a[0] + b[0]) / 2));
      return;
    }
    if (drag) {
      drag.to = here;
      drag.moved ||= Math.hypot(here[0] - drag.from[0], here[1] - drag.from[1]) > 6;
      drag.tall = Math.abs(here[1] - drag.from[1]) > 25;
    }
    pointer = here[0];
    for (const curve of panel.over_time ? shown() : []) {
      const time = fromX(pointer);
      let k = curve.x.findIndex((x) => x > time);
      k = Math.max(0, (k < 0 ? curve.x.length : k) - 1);
      curve.value.textContent = Number.isFinite(curve.y[k]) ? short(curve.y[k]) : "";
      pointer = here[0];
    }
    redraw();
  });
  const end = (e) => {
    fingers.delete(e.pointerId);
    if (drag && drag.moved && e.type === "pointerup") {
      const { fromX, fromY } = frame(), sorted = (a, b) => [Math.min(a, b), Math.max(a, b)];
      const view = sorted(fromX(drag.from[0]), fromX(drag.to[0]));
      if (drag.tall) y = sorted(fromY(drag.from[1]), fromY(drag.to[1]));
      if (Math.abs(drag.to[0] - drag.from[0]) > 6) ranges.view = view;
      changed();
    }
    drag = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => {
    pointer = null;
    for (const curve of curves) curve.value.textContent = "";
    redraw();
  });
  canvas.addEventListener("dblclick", all);
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // the wheel alone moves the page
    e.preventDefault();
    zoom(Math.exp(0.002 * e.deltaY), frame().fromX(e.offsetX));
  }, { passive: false });
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

for (const place of document.querySelectorAll(".plots")) unpacked(place.dataset.packed).then((panels) => {
  const shared = { view: null, redraws: [] };
  for (const panel of panels) {
    for (const curve of panel.curves) [curve.x, curve.y] = [Array.from(curve.x ?? panel.x), Array.from(curve.y)];
    plot(place, panel, shared);
  }
});
