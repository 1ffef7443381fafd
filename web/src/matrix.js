// Who sent how much to whom, as a picture of all pairs: rows send, columns receive.
import { amount, amountLegend, logLevel, themed } from './colours.js';
import { button, canvasBox, choice, h, placeIn, replace, section, tip } from './dom.js';
import * as format from './format.js';
import { bindChoice, numbersOf, state } from './state.js';

const kMargin = 44;

/** Place of each rank (or block of ranks) in the picture, by the order that is asked for. */
function orders(data, cells, block) {
  const natural = Array.from({ length: cells }, (_, i) => i);
  const out = { rank: natural };
  const host = data.column('rank.host');
  if (new Set(host).size > 1)
    out.node = [...natural].sort((a, b) => host[a * block] - host[b * block] || a - b);
  const { grid } = data.json;
  if (grid && block === 1 && grid.dims.length > 1) {
    // The first dimension fastest, so that what were far neighbours lie side by side.
    const ranks = data.column('grid.rank');
    const key = new Float64Array(cells).fill(Infinity);
    ranks.forEach((rank, cell) => {
      let rest = cell;
      let at = 0;
      for (let d = grid.dims.length - 1; d >= 0; --d) {
        at = at * grid.dims[d] + (rest % grid.dims[d]);
        rest = Math.floor(rest / grid.dims[d]);
      }
      if (rank >= 0 && rank < cells) key[rank] = at;
    });
    out.grid = [...natural].sort((a, b) => key[a] - key[b] || a - b);
  }
  return out;
}

export class Matrix {
  constructor(data, links) {
    this.links = links;
    this.json = data.json.matrix;
    this.source = data.column('matrix.source');
    this.dest = data.column('matrix.dest');
    this.values = { bytes: data.column('matrix.bytes'), messages: data.column('matrix.messages'),
      ns: data.column('matrix.ns') };
    this.metric = 'bytes';
    this.block = this.json.block;
    this.cells = Math.ceil(this.json.ranks / this.block);
    this.orders = orders(data, this.cells, this.block);
    this.pairs = new Map();
    this.source.forEach((s, i) => this.pairs.set(s * this.cells + this.dest[i], i));
    this.setOrder('rank');
    this.view = { x: 0, y: 0, size: this.cells };
    this.cursor = null;
    this.text = h('p', { class: 'exact', role: 'status' });
    this.legendBox = h('span');
    this.box = canvasBox({ class: 'square', 'aria-label': 'Communication matrix; arrow keys choose a pair, + and - zoom' },
      (width) => Math.min(width, 520), (context, width, height, ratio) => this.draw(context, width, height, ratio));
    this.listen();
    state.bind('pair', () => (this.cursor ? this.cursor.join(',') : null), (text) => {
      const cell = numbersOf(text, 2);
      if (cell) this.choose(cell);
      else this.cursor = null;
    });
    state.bind('pairs', () => (this.view.size === this.cells ? null : [this.view.x, this.view.y, this.view.size]
      .map((v) => Math.round(v * 100) / 100).join(',')), (text) => {
      const [x, y, size] = numbersOf(text, 3) || [0, 0, this.cells];
      const keep = Math.min(Math.max(2, size), this.cells);
      const within = (v) => Math.min(Math.max(0, v), this.cells - keep);
      this.view = { x: within(x), y: within(y), size: keep };
      this.box.redraw();
    });
  }
  setOrder(name) {
    this.rankAt = this.orders[name];
    this.placeOf = new Int32Array(this.cells);
    this.rankAt.forEach((rank, place) => {
      this.placeOf[rank] = place;
    });
  }

  element() {
    const { json } = this;
    const notes = [];
    if (this.block > 1) notes.push(`Each cell stands for ${this.block} x ${this.block} ranks.`);
    if (json.other_world_messages > 0)
      notes.push(`${format.count(json.other_world_messages)} messages with processes of another world are not shown.`);
    if (json.unsized_messages > 0)
      notes.push(`${format.count(json.unsized_messages)} messages have an unknown size and count as 0 bytes.`);
    const titles = { rank: 'rank', node: 'node', grid: 'Cartesian grid' };
    return section('matrix', 'Communication matrix',
      'Look for pairs that stand out, and for messages far from the diagonal: ranks that talk most should lie near ' +
      'each other. The scale is logarithmic.',
      h('p', {}, `${format.count(json.messages)} messages, ${format.bytes(json.bytes)} between ` +
        `${format.count(json.pairs)} pairs. `, notes.join(' ')),
      h('div', { class: 'controls' },
        bindChoice('matrix', choice('Show', [['bytes', 'bytes'], ['messages', 'messages'], ['ns', 'time']], 'bytes', (metric) => {
          this.metric = metric;
          this.box.redraw();
        }), 'bytes'),
        bindChoice('order', choice('Order by', Object.keys(this.orders).map((o) => [o, titles[o]]), 'rank', (order) => {
          this.setOrder(order);
          this.box.redraw();
        }), 'rank'),
        button('+', () => this.zoom(2), 'Zoom in'), button('−', () => this.zoom(0.5), 'Zoom out'),
        button('All', () => this.zoom(0), 'All pairs'), this.legendBox),
      this.box.box, this.text,
      h('p', { class: 'hint' }, 'Time: of sends and receives, and of their completions, shared evenly among the ' +
        'messages that each completes; from mean durations of each signature.'));
  }

  get plot() {
    return Math.max(10, Math.min(this.box.width, this.box.height) - kMargin);
  }
  draw(context, width, height, ratio) {
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, height);
    const values = this.values[this.metric];
    let least = Infinity;
    let most = 0;
    for (const v of values) {
      if (v > most) most = v;
      if (v > 0 && v < least) least = v;
    }
    const text = format.metricText[this.metric];
    replace(this.legendBox, most > 0 ? amountLegend(h, text(least), text(most)) : '');
    const size = Math.floor(this.plot * ratio);
    const image = context.createImageData(size, size);
    const pixels = new Uint32Array(image.data.buffer);
    const empty = themed('--empty').match(/[0-9a-f]{2}/gi).map((hex) => parseInt(hex, 16));
    pixels.fill(0xff000000 | (empty[2] << 16) | (empty[1] << 8) | empty[0]);
    this.fillCells(values, least, most, size, pixels);
    context.putImageData(image, Math.floor(kMargin * ratio), Math.floor(kMargin * ratio));
    this.drawLabels(context);
  }
  fillCells(values, least, most, size, pixels) {
    const scale = size / this.view.size;
    const sums = scale < 1 ? new Map() : null;  // several pairs share a pixel: the largest is shown
    for (let i = 0; i < values.length; ++i) {
      const x = (this.placeOf[this.dest[i]] - this.view.x) * scale;
      const y = (this.placeOf[this.source[i]] - this.view.y) * scale;
      if (x + scale < 0 || y + scale < 0 || x >= size || y >= size) continue;
      const x0 = Math.max(0, Math.floor(x));
      const y0 = Math.max(0, Math.floor(y));
      const value = values[i];
      if (sums) {
        const key = y0 * size + x0;
        if ((sums.get(key) ?? -1) >= value) continue;
        sums.set(key, value);
      }
      const gap = scale > 6 ? 1 : 0;
      const x1 = Math.max(x0 + 1, Math.min(size, Math.floor(x + scale) - gap));
      const y1 = Math.max(y0 + 1, Math.min(size, Math.floor(y + scale) - gap));
      const [r, g, b] = amount(logLevel(value, least, most));
      const colour = 0xff000000 | (b << 16) | (g << 8) | r;
      for (let py = y0; py < y1; ++py) pixels.fill(colour, py * size + x0, py * size + x1);
    }
  }
  drawLabels(context) {
    const { view, plot } = this;
    context.fillStyle = themed('--soft');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const step = Math.max(1, Math.ceil((view.size * 28) / plot));
    for (let p = Math.ceil(view.y / step) * step; p < Math.min(view.y + view.size, this.cells); p += step) {
      const y = kMargin + ((p + 0.5 - view.y) / view.size) * plot;
      context.fillText(String(this.rankAt[p] * this.block), 4, y, kMargin - 6);
    }
    for (let p = Math.ceil(view.x / step) * step; p < Math.min(view.x + view.size, this.cells); p += step) {
      const x = kMargin + ((p + 0.5 - view.x) / view.size) * plot;
      context.fillText(String(this.rankAt[p] * this.block), x - 6, kMargin - 8, 28);
    }
    context.fillText('to rank', kMargin, 10);
    context.save();
    if (this.cursor) {
      const cell = plot / view.size;
      context.strokeStyle = themed('--ink');
      context.lineWidth = 2;
      context.strokeRect(kMargin + (this.cursor[0] - view.x) * cell, kMargin + (this.cursor[1] - view.y) * cell,
        Math.max(cell, 3), Math.max(cell, 3));
    }
    context.restore();
  }

  describe(place) {
    const [x, y] = place;
    const dest = this.rankAt[x];
    const source = this.rankAt[y];
    const i = this.pairs.get(source * this.cells + dest);
    const name = (b) => (this.block === 1 ? `rank ${b}` : `ranks ${b * this.block} to ${(b + 1) * this.block - 1}`);
    const get = (metric) => (i === undefined ? 0 : this.values[metric][i]);
    return `From ${name(source)} to ${name(dest)}: ${format.count(get('messages'))} messages, ` +
      `${format.count(get('bytes'))} bytes (${format.bytes(get('bytes'))}), ${format.duration(get('ns'))}`;
  }
  cellAt(event) {
    const [px, py] = placeIn(this.box.canvas, event);
    const at = (p, from) => Math.floor(from + ((p - kMargin) / this.plot) * this.view.size);
    const x = at(px, this.view.x);
    const y = at(py, this.view.y);
    const isIn = px >= kMargin && py >= kMargin && x < this.cells && y < this.cells;
    return isIn ? [x, y] : null;
  }
  zoom(factor, at) {
    const { view } = this;
    const middle = at || this.cursor || [view.x + view.size / 2, view.y + view.size / 2];
    const size = factor === 0 ? this.cells : Math.min(this.cells, Math.max(2, view.size / factor));
    const keep = (from, m) => Math.min(Math.max(0, m - ((m - from) * size) / view.size), this.cells - size);
    this.view = { x: keep(view.x, middle[0]), y: keep(view.y, middle[1]), size };
    this.box.redraw();
    state.changed();
  }
  choose(cell) {
    this.cursor = cell.map((c) => Math.min(Math.max(0, Math.round(c)), this.cells - 1));
    state.changed();
    const { view } = this;
    for (const [axis, c] of [['x', this.cursor[0]], ['y', this.cursor[1]]])
      if (c < view[axis] || c >= view[axis] + view.size)
        view[axis] = Math.min(Math.max(0, c - view.size / 2), this.cells - view.size);
    const source = this.rankAt[this.cursor[1]];
    replace(this.text, this.describe(this.cursor), ' ',
      this.block === 1 ? button('Calls of the sender', () => this.links.show(`dest=${this.rankAt[this.cursor[0]]}`, source)) : null);
    this.box.redraw();
  }
  listen() {
    const { canvas } = this.box;
    canvas.addEventListener('pointermove', (e) => {
      const cell = this.cellAt(e);
      if (e.buttons && this.grab) {
        const by = this.view.size / this.plot;
        const keep = (v) => Math.min(Math.max(0, v), this.cells - this.view.size);
        this.view.x = keep(this.grab.x - (e.clientX - this.grab.px) * by);
        this.view.y = keep(this.grab.y - (e.clientY - this.grab.py) * by);
        this.box.redraw();
      } else if (cell) tip.show(e.clientX, e.clientY, this.describe(cell));
      else tip.hide();
    });
    canvas.addEventListener('pointerleave', () => tip.hide());
    canvas.addEventListener('pointerdown', (e) => {
      this.grab = { px: e.clientX, py: e.clientY, x: this.view.x, y: this.view.y };
    });
    canvas.addEventListener('pointerup', (e) => {
      const cell = this.cellAt(e);
      if (cell && this.grab && Math.abs(e.clientX - this.grab.px) < 4) this.choose(cell);
      this.grab = null;
    });
    canvas.addEventListener('wheel', (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY / 300), this.cellAt(e));
    }, { passive: false });
    canvas.addEventListener('keydown', (e) => {
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (moves[e.key]) {
        const [x, y] = this.cursor || [0, 0];
        this.choose(this.cursor ? [x + moves[e.key][0], y + moves[e.key][1]] : [0, 0]);
      } else if (e.key === '+' || e.key === 'w') this.zoom(1.5);
      else if (e.key === '-' || e.key === 's') this.zoom(1 / 1.5);
      else if (e.key === 'Escape') this.zoom(0);
      else return;
      e.preventDefault();
    });
  }
}
