// ---- drawing: solids lit from one side, shadows laid on planes along the light, trails as ribbons that face the camera
const VERTEX = `#version 300 es
  uniform mat4 camera; uniform mat4x3 pose; uniform vec3 lamp, sun, tint, sky; uniform float dark; uniform vec4 plane, fade;
  layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; layout(location = 2) in vec3 color;
  out vec3 shade;
  void main() {
    vec3 place = pose * vec4(position, 1.0);
    place -= sun * dot(plane, vec4(place, 1.0)); // also of a foot that is a little below the ground
    gl_Position = camera * vec4(place, 1.0);
    shade = tint * color * mix(dark, 1.0, 0.5 + 0.5 * dot(normalize(mat3(pose) * normal), lamp));
    if (fade.w > 0.0) shade = mix(shade, sky, smoothstep(0.3, 1.0, distance(place, fade.xyz) / fade.w));
  }`;
const FRAGMENT = `#version 300 es
  precision mediump float; uniform float opacity; in vec3 shade; out vec4 color;
  void main() { color = vec4(shade, opacity); }`;
const RIBBON_VERTEX = `#version 300 es
  uniform mat4 camera; uniform vec2 window; uniform float width;
  layout(location = 0) in vec3 here; layout(location = 1) in vec3 there; layout(location = 2) in vec2 kind;
  out float pressed;
  void main() {
    vec4 a = camera * vec4(here, 1.0), b = camera * vec4(there, 1.0);
    vec2 along = (b.xy / b.w - a.xy / a.w) * window;
    vec2 across = length(along) > 1e-6 ? normalize(vec2(-along.y, along.x)) : vec2(0.0);
    gl_Position = a + vec4(kind.x * width * across / window * a.w, 0.0, 0.0);
    pressed = kind.y;
  }`;
const RIBBON_FRAGMENT = `#version 300 es
  precision mediump float; in float pressed; out vec4 color;
  void main() { color = mix(vec4(0.25, 0.55, 0.85, 0.45), vec4(0.93, 0.36, 0.08, 0.95), step(0.5, pressed)); }`;
const THEMES = {
  light: { sky: [0.933, 0.945, 0.957], tint: [1, 1, 1], shadow: 0.26 },
  dark: { sky: [0.082, 0.094, 0.114], tint: [0.25, 0.26, 0.28], shadow: 0.55 },
};
const MANY = 900; // corners of triangles: without a GPU, parts with more have shadows like balls
const STILL = [1, 0, 0, 0, 1, 0, 0, 0, 1];

function context() {
  const asked = document.createElement("canvas").getContext("webgl2");
  const info = asked && asked.getExtension("WEBGL_debug_renderer_info");
  const drawnBy = info ? asked.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  const gpu = !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(drawnBy);
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: gpu, stencil: true }); // smooth edges take long without one
  if (!gl) throw new Error("This page needs WebGL 2, which this browser does not have or has switched off.");
  return [gl, gpu];
}

function programOf(gl, ...texts) {
  const program = gl.createProgram();
  [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, k) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, texts[k]);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  });
  gl.linkProgram(program);
  const places = {};
  for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(program, k);
    places[name] = gl.getUniformLocation(program, name);
  }
  return [program, places];
}

function buffered(gl, attributes, faces) { // an array of vertices; attributes are [numbers, how many each]
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  attributes.forEach(([data, count], place) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, count, gl.FLOAT, false, 0, 0);
  });
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
  return array;
}

function ribbon(gl, { places, pressed }) { // of a trail: two triangles from each frame to the next
  const here = [], there = [], kind = [], faces = [];
  for (let k = 0; k + 1 < pressed.length; k++) {
    const a = row3(places, k), b = row3(places, k + 1), first = 4 * k, touch = pressed[k] && pressed[k + 1];
    const beyond = plus(scaled(b, 2), a, -1);
    here.push(...a, ...a, ...b, ...b);
    there.push(...b, ...b, ...beyond, ...beyond);
    kind.push(-1, touch, 1, touch, -1, touch, 1, touch);
    faces.push(first, first + 1, first + 2, first + 1, first + 3, first + 2);
  }
  return buffered(gl, [[new Float32Array(here), 3], [new Float32Array(there), 3], [new Float32Array(kind), 2]],
    new Uint32Array(faces));
}

function boxOf(vertices) { // as the pose of a ball of radius 1 that fills it, a little larger
  const ends = [0, 1, 2].map((k) => {
    let low = Infinity, high = -Infinity;
    for (let i = k; i < vertices.length; i += 3) [low, high] = [Math.min(low, vertices[i]), Math.max(high, vertices[i])];
    return [low, high];
  });
  return { half: ends.map(([low, high]) => 0.56 * (high - low)), middle: ends.map(([low, high]) => (low + high) / 2) };
}

function painter([gl, gpu], scene) {
  const [solids, at] = programOf(gl, VERTEX, FRAGMENT), [ribbons, ribbonAt] = programOf(gl, RIBBON_VERTEX, RIBBON_FRAGMENT);
  const lamp = unit(scene.lamp);
  gl.useProgram(solids);
  gl.uniform3fv(at.lamp, lamp);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);

  const solid = ({ vertices, normals, colors, faces, lit }) => { // a function that draws it at a pose
    const array = buffered(gl, [[vertices, 3], [normals, 3], [colors, 3]], faces);
    return (where) => {
      gl.bindVertexArray(array);
      gl.uniformMatrix4x3fv(at.pose, false, where);
      gl.uniform1f(at.dark, lit ? 0.42 : 1);
      gl.drawElements(gl.TRIANGLES, faces.length, gl.UNSIGNED_INT, 0);
    };
  };
  const boards = scene.boards.map((board) => ({ ...board, draw: solid(chessboard(board)) }));
  const fields = scene.fields.map(solid), things = scene.things.map(solid), signs = {};
  for (const name in scene.signs) signs[name] = solid(scene.signs[name]);
  const robots = scene.robots.map((robot) => ({ ...robot, draw: robot.parts.map(solid),
    boxes: robot.parts.map((part) => (!gpu && part.faces.length > MANY ? boxOf(part.vertices) : null)),
    ribbons: robot.trails.map((trail) => ribbon(gl, trail)),
    lines: robot.segments.map((lines) => ({ ...lines, draw: solid(lines.rod) })) }));

  const line = ({ ends, begin, end, draw }, time) => { // those that have begun and are not over
    for (let k = frameAt(begin, time); k >= 0; k--) {
      if (begin[k] > time || end[k] <= time) continue;
      const tail = row3(ends, 2 * k), way = plus(row3(ends, 2 * k + 1), tail, -1), length = Math.hypot(...way);
      if (length < 1e-9) continue;
      const z = scaled(way, 1 / length), x = unit(cross(z, Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
      draw([...x, ...cross(z, x), ...way, ...tail]);
    }
  };
  const arrow = (tail, tip) => {
    const way = plus(tip, tail, -1), length = Math.hypot(...way), width = scene.arrow;
    if (length < 1e-9) return;
    const z = scaled(way, 1 / length), x = unit(cross(z, Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])), y = cross(z, x);
    const head = Math.min(5 * width, 0.5 * length), neck = plus(tip, z, -head), wide = Math.min(2.5 * width, 0.5 * head);
    signs.shaft([...scaled(x, wide / 2.5), ...scaled(y, wide / 2.5), ...scaled(z, length - head), ...tail]);
    signs.head([...scaled(x, wide), ...scaled(y, wide), ...scaled(z, head), ...neck]);
  };
  const drawRobot = (robot, frame, simply = false) => {
    const bodies = robot.poses.length / robot.t.length / 12;
    robot.parts.forEach((part, k) => {
      const first = 12 * (frame * bodies + part.body), pose = robot.poses.subarray(first, first + 12), box = robot.boxes[k];
      if (!simply || !box) return robot.draw[k](pose);
      const columns = [0, 1, 2, 3].map((column) => row3(pose, column)), { half, middle } = box;
      const place = middle.reduce((sum, x, k) => plus(sum, columns[k], x), columns[3]);
      signs.round([...half.flatMap((x, k) => scaled(columns[k], x)), ...place]);
    });
  };
  const shadows = (plane, strength, who) => { // laid on a plane, each dot darkened once
    const normal = plane.slice(0, 3), slope = dot(normal, lamp);
    if (slope < 0.1) return;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.STENCIL_TEST);
    gl.clear(gl.STENCIL_BUFFER_BIT);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.depthMask(false);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-2, -2);
    gl.uniform4fv(at.plane, plane);
    gl.uniform3fv(at.sun, scaled(lamp, 1 / slope));
    gl.uniform3f(at.tint, 0, 0, 0);
    gl.uniform1f(at.opacity, strength);
    who();
    gl.uniform4f(at.plane, 0, 0, 0, 0);
    gl.uniform1f(at.opacity, 1);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.depthMask(true);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.BLEND);
  };

  return ({ matrix, eye, target, time, theme, forces, com, trails }) => {
    const { sky, tint, shadow } = THEMES[theme];
    const frames = robots.map((robot) => frameAt(robot.t, time));
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...sky, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(solids);
    gl.uniformMatrix4fv(at.camera, false, matrix);
    gl.uniform3fv(at.sky, sky);
    gl.uniform1f(at.opacity, 1);

    // the ground, and what casts shadows on it
    gl.uniform3fv(at.tint, tint);
    for (const board of boards) {
      const axes = [board.rotation.slice(0, 3), board.rotation.slice(3, 6), board.rotation.slice(6, 9)];
      const snapped = axes.slice(0, 2).map((axis) =>
        2 * board.cell * Math.round(dot(axis, plus(target, board.position, -1)) / (2 * board.cell)));
      const origin = board.endless ? plus(plus(board.position, axes[0], snapped[0]), axes[1], snapped[1]) : board.position;
      const height = dot(axes[2], plus(target, board.position, -1)), below = plus(target, axes[2], -height);
      board.plane = [...axes[2], -dot(axes[2], board.position)];
      gl.uniform4f(at.fade, ...below, board.tiles * board.cell * 0.94);
      board.draw([...board.rotation, ...origin]);
    }
    gl.uniform4f(at.fade, 0, 0, 0, 0);
    for (const field of fields) field([...STILL, 0, 0, 0]);
    for (const board of boards) if (dot([...eye, 1], board.plane) > 0) shadows(board.plane, shadow * board.shadow, () => {
      robots.forEach((robot, k) => drawRobot(robot, frames[k], true));
      for (const thing of things) thing([...STILL, 0, 0, 0]);
    });
    if (fields.length) robots.forEach((robot, k) => {
      gl.disable(gl.DEPTH_TEST);
      shadows([0, 0, 1, -robot.below[3 * frames[k] + 2]], shadow, () => drawRobot(robot, frames[k], true));
      gl.enable(gl.DEPTH_TEST);
    });
    gl.uniform3f(at.tint, 1, 1, 1);
    for (const thing of things) thing([...STILL, 0, 0, 0]);

    gl.enable(gl.CULL_FACE); // the inner walls of thin shells would shine through
    robots.forEach((robot, k) => {
      const frame = frames[k], points = robot.arrows.length / robot.t.length / 6;
      drawRobot(robot, frame);
      for (let p = 0; forces && p < points; p++) {
        const first = 2 * (frame * points + p);
        arrow(row3(robot.arrows, first), row3(robot.arrows, first + 1));
      }
      for (const lines of robot.lines) line(lines, time);
      if (com) {
        signs.ball([...STILL, ...row3(robot.com, frame)]);
        signs.disc([...STILL, ...row3(robot.below, frame)]);
      }
    });
    gl.disable(gl.CULL_FACE);
    if (!trails || !robots.some((robot) => robot.ribbons.length)) return;
    gl.useProgram(ribbons);
    gl.uniformMatrix4fv(ribbonAt.camera, false, matrix);
    gl.uniform2f(ribbonAt.window, canvas.width, canvas.height);
    gl.uniform1f(ribbonAt.width, 2.2 * Math.max(1, canvas.width / canvas.clientWidth));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    robots.forEach((robot, k) => robot.ribbons.forEach((array) => {
      gl.bindVertexArray(array);
      gl.drawElements(gl.TRIANGLES, 6 * frames[k], gl.UNSIGNED_INT, 0);
    }));
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  };
}
