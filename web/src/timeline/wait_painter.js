// Where ranks waited, as a band along the lower edge of their bars, also where calls are too narrow to be drawn one by
// one.
import { kWaiting, rgb } from '../colours.js';

const kWidestColumn = 24;  // pixels: of the table of waiting; where it is coarser, the longest waits are drawn

export class WaitPainter {
  /** plot: {from, to, width in pixels} */
  constructor(model, plot) {
    this.model = model;
    this.plot = plot;
    this.scale = plot.width / (plot.to - plot.from);
    this.colour = rgb(kWaiting);
    this.cover = new Float32Array(plot.width);
    const { table } = model.waiting;
    const columnNs = table.columns > 0 ? (model.end - model.begin) / table.columns : Infinity;
    this.usesTable = !model.waiting.isWhole && columnNs * this.scale <= kWidestColumn;
  }
  add(begin, end, part) {
    const x0 = Math.max(0, (begin - this.plot.from) * this.scale);
    const x1 = Math.min(this.plot.width, (end - this.plot.from) * this.scale);
    for (let x = Math.floor(x0); x < x1; ++x) this.cover[x] += (Math.min(x1, x + 1) - Math.max(x0, x)) * part;
  }
  /** A copy of an item's line of pixels with its waits; null where it has none. */
  over(line, item) {
    const { waiting } = this.model;
    this.cover.fill(0);
    const rows = item.kind === 'group' ? item.group.rows : [item.row];
    const part = 1 / rows.length;
    if (this.usesTable) this.addTable(rows, part);
    else
      for (const row of rows)
        for (const i of waiting.ofRow(row)) this.add(waiting.begin[i], waiting.begin[i] + waiting.ns[i], part);
    let any = false;
    const out = line.slice();
    for (let x = 0; x < out.length; ++x) {
      if (!(this.cover[x] > 0)) continue;
      any = true;
      const level = 0.25 + 0.75 * Math.min(1, this.cover[x]);
      let pixel = 0xff000000;
      for (const [c, shift] of [[0, 0], [1, 8], [2, 16]]) {
        const old = (out[x] >>> shift) & 255;
        pixel |= Math.round(old + (this.colour[c] - old) * level) << shift;
      }
      out[x] = pixel;
    }
    return any ? out : null;
  }
  addTable(all, part) {
    const { model } = this;
    const { rows, columns, share } = model.waiting.table;
    const block = Math.ceil(model.rows.length / rows);  // of rows in a line of the table
    const weights = new Map();
    for (const row of all) {
      const line = Math.floor(row.index / block);
      weights.set(line, (weights.get(line) || 0) + part);
    }
    // Columns are whole bins, as even as these can be.
    const binNs = (model.end - model.begin) / model.bins;
    const edge = (column) => model.begin + Math.floor((column * model.bins) / columns) * binNs;
    for (let column = 0; column < columns; ++column) {
      let sum = 0;
      for (const [line, weight] of weights) sum += (weight * share[line * columns + column]) / 255;
      if (sum > 0) this.add(edge(column), edge(column + 1), sum);
    }
  }
}
