// The data of the page: JSON for what is small, columns of numbers for the rest. How the bytes lie is said
// in src/report/page/columns.h and page.cc.

/** Everything between 0 and 2^53 is exact in a number of JavaScript; what lies beyond is rounded. */
function readVarints(bytes, from, count, isDelta) {
  const out = new Float64Array(count);
  let at = from;
  let before = 0;
  for (let i = 0; i < count; ++i) {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) break;
      scale *= 128;
    }
    const half = Math.floor(value / 2);
    const number = value % 2 === 0 ? half : -half - 1;
    out[i] = isDelta ? (before += number) : number;
  }
  return out;
}

export class Data {
  constructor(json, bytes) {
    this.json = json;
    this.bytes = bytes;
    this.known = new Map();
  }

  /** A column as Float64Array, or Uint8Array where it is one of bytes; empty when there is none. */
  column(name) {
    const known = this.known.get(name);
    if (known) return known;
    const entry = this.json.columns[name];
    let out = new Float64Array(0);
    if (entry && entry.kind === 'bytes') out = this.bytes.subarray(entry.from, entry.from + entry.count);
    else if (entry) out = readVarints(this.bytes, entry.from, entry.count, entry.kind === 'delta');
    this.known.set(name, out);
    return out;
  }
}

export async function readData(element) {
  const text = atob(element.textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(all.buffer).getUint32(0, true);
  const json = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length)));
  return new Data(json, all.subarray(4 + length));
}

/** Number i of a list of runs [start, step, count]; undefined past its end. */
export function runAt(runs, i) {
  for (const [start, step, count] of runs) {
    if (i < count) return start + i * step;
    i -= count;
  }
  return undefined;
}

/** The place of a value in a list of runs, -1 when it is not there. */
export function runFind(runs, value) {
  let before = 0;
  for (const [start, step, count] of runs) {
    const i = step === 0 ? (value === start ? 0 : -1) : (value - start) / step;
    if (Number.isInteger(i) && i >= 0 && i < count) return before + i;
    before += count;
  }
  return -1;
}
