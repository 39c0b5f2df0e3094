// ---- packed numbers: the length of a head, the head as JSON, and the arrays that it points to
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const numbers = ({ at, count, kind }) =>
    new (kind === "f4" ? Float32Array : Uint32Array)(buffer, 4 + length + at, count);
  return JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)), (name, value) =>
    value && value.kind ? numbers(value) : value);
}

