// ---- the camera: turned with one finger, moved with two or with the right button, nearer with the wheel
const FOCUS = 1 / Math.tan(Math.PI / 8); // of a camera that sees 45° along the shorter edge of its window
const FILLED = 0.88; // of the window, by what has to be seen

function cameraOf(scene, changed) {
  let target, distance, touched = false, followed = [0, 0, 0];
  let around = Math.atan2(scene.direction[1], scene.direction[0]), above = Math.asin(scene.direction[2]);
  const axes = () => { // backward, right, up
    const z = [Math.cos(above) * Math.cos(around), Math.cos(above) * Math.sin(around), Math.sin(above)];
    const x = [-Math.sin(around), Math.cos(around), 0];
    return [z, x, cross(z, x)];
  };
  const lens = () => {
    const aspect = canvas.clientWidth / Math.max(canvas.clientHeight, 1);
    return [FOCUS / Math.max(aspect, 1), FOCUS * Math.min(aspect, 1)];
  };
  const fit = () => { // as near as all corners allow; where the middle of the picture is depends on the distance
    const [z, x, y] = axes(), [wide, high] = lens();
    const corners = Array.from({ length: scene.corners.length / 3 }, (_, k) => row3(scene.corners, k));
    const middle = (values) => (Math.min(...values) + Math.max(...values)) / 2;
    target = [0, 1, 2].map((k) => middle(corners.map((corner) => corner[k])));
    for (let turn = 0; turn < 5; turn++) {
      const seen = corners.map((corner) => [x, y, z].map((axis) => dot(axis, plus(corner, target, -1))));
      distance = Math.max(...seen.map((s) => s[2] + Math.max(Math.abs(s[0]) * wide, Math.abs(s[1]) * high) / FILLED), 1e-3);
      if (turn === 4) break;
      const [across, up] = [0, 1].map((k) => middle(seen.map((s) => s[k] / (distance - s[2]))));
      target = plus(plus(target, x, distance * across), y, distance * up);
    }
  };
  const shift = (dx, dy) => {
    const [, x, y] = axes(), s = (2 * distance) / FOCUS / Math.min(canvas.clientHeight, canvas.clientWidth);
    target = plus(plus(target, x, -s * dx), y, s * dy);
  };
  const fingers = new Map();
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
  });
  canvas.addEventListener("pointermove", (e) => {
    const before = fingers.get(e.pointerId);
    if (!before) return;
    const [dx, dy] = [e.clientX - before[0], e.clientY - before[1]], width = fingers.size > 1 ? spread() : 0;
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    touched = true;
    if (width) {
      distance *= width / Math.max(spread(), 1);
      shift(dx / 2, dy / 2);
    } else if (e.buttons & 2 || e.shiftKey) shift(dx, dy);
    else {
      around -= 0.006 * dx;
      above = Math.max(-1.55, Math.min(1.55, above + 0.006 * dy));
    }
    changed();
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (e) => fingers.delete(e.pointerId));
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    touched = true;
    distance *= Math.exp(0.001 * e.deltaY);
    changed();
  }, { passive: false });
  canvas.addEventListener("dblclick", () => {
    [around, above] = [Math.atan2(scene.direction[1], scene.direction[0]), Math.asin(scene.direction[2])];
    touched = false;
    fit();
    changed();
  });
  new ResizeObserver(() => {
    if (!touched) fit();
    changed();
  }).observe(canvas);
  fit();

  return (time, follow) => { // where it is, what it looks at; world to picture, column by column
    if (follow) followed = row3(scene.path, frameAt(scene.times, time));
    const [z, x, y] = axes(), centre = plus(target, followed), eye = plus(centre, z, distance), [wide, high] = lens();
    const near = 0.02 * distance, far = 60 * distance, deep = (far + near) / (near - far);
    const row = (axis, s) => [...scaled(axis, s), -s * dot(axis, eye)];
    const rows = [row(x, wide), row(y, high), row(z, deep), row(z, -1)];
    rows[2][3] += (2 * far * near) / (near - far);
    return { matrix: [0, 1, 2, 3].flatMap((column) => rows.map((r) => r[column])), eye, target: centre, followed };
  };
}
