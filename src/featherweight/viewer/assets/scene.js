// ---- vectors
const plus = (a, b, s = 1) => a.map((x, i) => x + s * b[i]);
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (a, s) => a.map((x) => s * x);
const unit = (a) => scaled(a, 1 / Math.hypot(...a));
const row3 = (array, k) => [array[3 * k], array[3 * k + 1], array[3 * k + 2]];

function frameAt(times, time) { // the last that has begun
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-6) low = middle; else high = middle - 1;
  }
  return low;
}

// a plane as a chessboard of (2 n)² tiles, in its own frame
function chessboard({ cell, tiles, color }) {
  const vertices = [], colors = [], faces = [];
  for (let i = -tiles; i < tiles; i++) for (let j = -tiles; j < tiles; j++) {
    const first = vertices.length / 3, shade = (i + j) & 1 ? 0.93 : 1;
    for (const [x, y] of [[0, 0], [1, 0], [1, 1], [0, 1]]) {
      vertices.push((i + x) * cell, (j + y) * cell, 0);
      colors.push(...scaled(color, shade));
    }
    faces.push(first, first + 1, first + 2, first, first + 2, first + 3);
  }
  const normals = vertices.map((x, k) => (k % 3 === 2 ? 1 : 0));
  return { vertices: new Float32Array(vertices), normals: new Float32Array(normals), colors: new Float32Array(colors),
    faces: new Uint32Array(faces), lit: false };
}
