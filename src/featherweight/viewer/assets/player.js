// ---- the page: its clock, its controls, its labels
const SPEEDS = [0.05, 0.1, 0.3, 0.5, 1, 2, 5];
const SLOW = 1000 / 36, COARSE = 0.6; // a slow frame [ms], and what a page of such is scaled to: more would not help

async function main() {
  const scene = await unpacked(PACKED), draw = painter(context(), scene);
  let stale = true, time = scene.start, playing = scene.end > scene.start, scale = 1;
  const changed = () => (stale = true), view = cameraOf(scene, changed);
  const times = scene.times, checked = (id) => element(id).checked;
  const labels = scene.robots.filter((robot) => robot.label).map((robot) => {
    const text = document.createElement("span");
    text.className = "label";
    text.textContent = robot.label;
    canvas.after(text);
    return [text, robot.label_place];
  });
  const placeLabels = ({ matrix: m, followed }) => {
    for (const [text, place] of labels) {
      const point = [...plus(place, followed), 1];
      const [x, y, , w] = [0, 1, 2, 3].map((row) => dot(point, [m[row], m[row + 4], m[row + 8], m[row + 12]]));
      const half = text.offsetWidth / 2 + 4, [wide, high] = [canvas.clientWidth, canvas.clientHeight];
      const left = Math.max(half, Math.min(wide - half, (0.5 + x / w / 2) * wide));
      const top = Math.max(26, Math.min(high - 4, (0.5 - y / w / 2) * high));
      text.style.transform = `translate(-50%, -100%) translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
      text.hidden = w <= 0;
    }
  };

  // what there is to be switched
  let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const dress = (wanted) => {
    theme = wanted;
    document.documentElement.classList.toggle("dark", theme === "dark");
    changed();
  };
  dress(theme);
  element("theme").onclick = () => dress(theme === "dark" ? "light" : "dark");
  const hide = (kind, gone) => document.querySelectorAll(kind).forEach((e) => e.classList.toggle("hidden", gone));
  hide(".following", !scene.follows);
  hide(".touching", !scene.robots.some((robot) => robot.arrows.length));
  hide(".trailing", !scene.robots.some((robot) => robot.trails.length));
  if (scene.boards.length) element("scale").textContent = `tiles of ${scene.boards[0].cell} m`;
  for (const id of ["forces", "com", "trails", "follow"]) element(id).onchange = changed;

  // the clock
  const slider = element("time"), button = element("play"), speed = element("speed");
  for (const s of [...new Set([...SPEEDS, scene.speed])].sort((a, b) => a - b))
    speed.add(new Option(`${s}×`, s, s === scene.speed, s === scene.speed));
  slider.max = scene.end;
  slider.min = scene.start;
  document.body.classList.toggle("still", !playing);
  const play = (wanted) => {
    playing = wanted;
    button.textContent = playing ? "Pause" : "Play";
  };
  const show = (wanted) => {
    play(false);
    time = wanted;
    changed();
  };
  const step = (by) => show(times[Math.max(0, Math.min(times.length - 1, frameAt(times, time) + by))]);
  button.onclick = () => {
    if (!playing && time >= scene.end) time = scene.start;
    play(!playing);
  };
  slider.oninput = () => show(Number(slider.value));
  element("reset").onclick = () => show(scene.start);
  element("back").onclick = () => step(-1);
  element("step").onclick = () => step(1);
  const keys = { Space: "play", ArrowLeft: "back", ArrowRight: "step", Home: "reset" };
  document.addEventListener("keydown", (e) => {
    if (!keys[e.code] || ["BUTTON", "SELECT", "INPUT"].includes(e.target.tagName)) return;
    e.preventDefault();
    element(keys[e.code]).click();
  });

  let last = 0, told = -Infinity, frames = 0, since = 0;
  const began = performance.now();
  const coarser = (now) => { // if a second of frames was slow, draw fewer dots
    if (now - last > 500) [frames, since] = [0, now];
    frames += 1;
    if (now - since < 1000) return;
    if ((now - since) / frames > SLOW && last - began > 3000) scale = COARSE;
    [frames, since] = [0, now];
  };
  const tick = (now) => {
    requestAnimationFrame(tick);
    if (playing) {
      coarser(now);
      time += Math.min(now - last, 250) / 1000 * Number(speed.value);
      if (time > scene.end) {
        time = checked("loop") ? scene.start + (time - scene.start) % (scene.end - scene.start) : scene.end;
        play(checked("loop"));
      }
      stale = true;
    }
    last = now;
    if (!stale) return;
    stale = false;
    const size = [canvas.clientWidth, canvas.clientHeight].map((n) => Math.max(1, Math.round(n * devicePixelRatio * scale)));
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const seen = view(time, checked("follow"));
    draw({ ...seen, time, theme, forces: checked("forces"), com: checked("com"), trails: checked("trails") });
    placeLabels(seen);
    if (now - told < 100 && playing) return;
    told = now;
    slider.value = time;
    element("clock").textContent = `${time.toFixed(2)} of ${Number(scene.end.toPrecision(4))} s`;
  };
  requestAnimationFrame(tick);
}

const canvas = document.querySelector("canvas"), element = (id) => document.getElementById(id);
main().catch((error) => {
  console.error(error);
  const text = document.createElement("p");
  text.textContent = error.message;
  document.querySelector("main").replaceChildren(text);
});
