// How long each iteration of the outermost loops took; choose one, and the timeline goes there.
import { classColour, kWaiting, themed } from './colours.js';
import { button, canvasBox, choice, h, placeIn, replace, section, tip } from './dom.js';
import * as format from './format.js';
import { bindChoice, numbersOf, state } from './state.js';
import { table } from './table.js';

const kHeight = 180;
const kBottom = 18;
const kLeft = 64;

export class Iterations {
  constructor(data, links) {
    this.links = links;
    this.data = data;
    this.json = data.json.iterations;
    this.columns = {};
    for (const name of ['number', 'begin', 'end', 'duration', 'mean', 'mpi', 'waiting', 'bytes', 'slowest_rank'])
      this.columns[name] = data.column(`iterations.${name}`);
    this.chosen = -1;
    this.loop = 0;
  }

  element() {
    const { json, data } = this;
    const hint = 'Look for iterations that take longer than the others, and for a slow rise. A click shows the iteration in ' +
      'the timeline and selects its time.';
    if (!json || json.loops.length === 0) {
      if (!data.json.no_iterations) return null;
      return section('iterations', 'Iterations', hint, h('p', {}, data.json.no_iterations));
    }
    this.text = h('p');
    this.list = h('div');
    this.status = h('p', { class: 'exact', role: 'status' });
    this.box = canvasBox({ 'aria-label': 'Duration of each iteration; arrow keys choose one' }, kHeight,
      (context, width, height) => this.draw(context, width, height));
    this.listen();
    this.show(0);
    state.bind('iteration', () => (this.chosen < 0 ? null : this.chosen), (text) => {
      const [row] = numbersOf(text, 1) || [-1];
      const { first, count } = json.loops[this.loop];
      this.mark(row >= first && row < first + count ? row : -1);
    });
    const loops = bindChoice('loop', choice('Loop', json.loops.map((loop, i) => [String(i), this.name(loop)]), '0',
      (i) => this.show(Number(i))), '0');
    return section('iterations', 'Iterations', hint, json.loops.length > 1 ? h('div', { class: 'controls' }, loops) : null,
      this.text, this.legend(), this.box.box, this.status, this.list);
  }
  legend() {
    const mark = (colour, text) => {
      const box = h('span', { class: 'mark', 'aria-hidden': 'true' });
      box.style.background = colour;
      return h('span', {}, box, text);
    };
    return h('div', { class: 'classes' }, mark('var(--line)', 'slowest rank'), mark('var(--accent)', 'mean of the ranks'),
      mark(classColour(3), 'of that in MPI'), mark(kWaiting, 'of that waiting'), mark('var(--bad)', 'outlier (above the bar)'));
  }
  name(loop) {
    return loop.label ? `${loop.name}: ${loop.label}` : loop.name;
  }
  show(i) {
    this.loop = i;
    this.chosen = -1;
    const loop = this.json.loops[i];
    const { duration_ns: d, trend } = loop;
    const { duration, mpi, waiting, slowest_rank: rank } = this.columns;
    const slow = loop.slowest;
    replace(this.text, `${this.name(loop)}: ${format.counted(loop.iterations, 'iteration')} on ${format.counted(loop.ranks, 'rank')}` +
      `${loop.iterations > loop.count ? `, of which the page has ${format.count(loop.count)}` : ''}. ` +
      `Mean ${format.duration(d.mean)}, median ${format.duration(d.median)}, from ${format.duration(d.min)} to ${format.duration(d.max)}` +
      `${rank[slow] >= 0 ? ` (number ${format.count(this.columns.number[slow])}, rank ${rank[slow]})` : ''}. `,
    trend?.is_clear ? `Trend: ${trend.share >= 0 ? '+' : '−'}${format.percent(Math.abs(trend.share))} of the mean from the first to the ` +
      `last. ` : '', format.counted(loop.outliers.length, 'outlier'), '.');
    const rows = Array.from({ length: loop.count }, (_, k) => loop.first + k).sort((a, b) => duration[b] - duration[a]);
    const number = (title, of, text) => ({ title, number: true, value: of, text: (r) => text(of(r)) });
    replace(this.list, table([
      number('iteration', (r) => this.columns.number[r], format.count),
      { ...number('duration', (r) => duration[r], format.duration), share: (r) => duration[r] / Math.max(1, duration[slow]) },
      number('mean of ranks', (r) => this.columns.mean[r], format.duration),
      number('slowest rank', (r) => rank[r], (v) => (v < 0 ? '-' : v)),
      { ...number('MPI, all ranks', (r) => mpi[r], format.duration), sum: format.duration },
      { ...number('waiting', (r) => waiting[r], format.duration), sum: format.duration },
      { ...number('bytes', (r) => this.columns.bytes[r], format.bytes), sum: format.bytes },
      { title: 'where', value: () => 0, node: (r) => button('show', () => this.choose(r), 'Show it in the timeline') },
    ], rows, { most: 6, caption: 'iterations, the longest first' }));
    this.box.redraw();
  }
  describe(row) {
    const { number, duration, mpi, waiting, bytes, slowest_rank: rank } = this.columns;
    return `Iteration ${format.count(number[row])}: ${format.duration(duration[row])}${rank[row] >= 0 ? ` on rank ${rank[row]}` : ''}, ` +
      `all ranks ${format.duration(mpi[row])} in MPI, ${format.duration(waiting[row])} waiting, ${format.bytes(bytes[row])}`;
  }
  mark(row) {
    this.chosen = row;
    replace(this.status, row >= 0 ? this.describe(row) : '');
    this.box.redraw();
    state.changed();
  }
  choose(row) {
    this.mark(row);
    this.links.showTime(this.columns.begin[row], this.columns.end[row]);
  }

  place(width, row) {
    const { first, count } = this.json.loops[this.loop];
    const step = (width - kLeft) / count;
    return [kLeft + (row - first) * step, step];
  }
  draw(context, width, height) {
    const loop = this.json.loops[this.loop];
    const { duration, mean, mpi, waiting } = this.columns;
    const tall = height - kBottom - 8;
    const most = Math.max(1, loop.duration_ns.max);
    const y = (ns) => 8 + tall * (1 - Math.min(1, ns / most));
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, height);
    const outliers = new Set(loop.outliers);
    for (let row = loop.first; row < loop.first + loop.count; ++row) {
      const [x, step] = this.place(width, row);
      const wide = Math.max(0.6, step - (step > 4 ? 1 : 0));
      const bar = (ns, colour) => {
        context.fillStyle = colour;
        context.fillRect(x, y(ns), wide, 8 + tall - y(ns));
      };
      // The slowest rank; of its height the mean of all, of that their share of MPI, and of waiting.
      bar(duration[row], themed(row === this.chosen ? '--chosen' : '--line'));
      bar(mean[row], themed('--accent'));
      bar(mpi[row] / Math.max(1, loop.ranks), classColour(3));
      bar(waiting[row] / Math.max(1, loop.ranks), kWaiting);
      if (outliers.has(row)) {
        context.fillStyle = themed('--bad');
        context.fillRect(x, 2, Math.max(2, wide), 4);
      }
    }
    this.drawAxis(context, width, height, y);
  }
  drawAxis(context, width, height, y) {
    const loop = this.json.loops[this.loop];
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.strokeStyle = context.fillStyle = themed('--soft');
    context.setLineDash([4, 4]);
    context.beginPath();
    context.moveTo(kLeft, y(loop.duration_ns.mean));
    context.lineTo(width, y(loop.duration_ns.mean));
    context.stroke();
    context.setLineDash([]);
    context.fillText(format.duration(loop.duration_ns.max), 2, 12);
    if (y(loop.duration_ns.mean) > 26) context.fillText(format.duration(loop.duration_ns.mean), 2, y(loop.duration_ns.mean));
    const every = Math.max(1, Math.ceil((loop.count * 60) / (width - kLeft)));
    for (let row = loop.first; row < loop.first + loop.count; row += every)
      context.fillText(String(this.columns.number[row]), this.place(width, row)[0], height - kBottom / 2);
  }
  listen() {
    const { canvas } = this.box;
    const rowAt = (event) => {
      const { first, count } = this.json.loops[this.loop];
      const [x] = placeIn(canvas, event);
      const i = Math.floor(((x - kLeft) / (this.box.width - kLeft)) * count);
      return i >= 0 && i < count ? first + i : -1;
    };
    canvas.addEventListener('pointermove', (event) => {
      const row = rowAt(event);
      if (row < 0) tip.hide();
      else tip.show(event.clientX, event.clientY, this.describe(row));
    });
    canvas.addEventListener('pointerleave', () => tip.hide());
    canvas.addEventListener('click', (event) => {
      const row = rowAt(event);
      if (row >= 0) this.choose(row);
    });
    canvas.addEventListener('keydown', (event) => {
      const { first, count } = this.json.loops[this.loop];
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === 'Enter' && this.chosen >= 0) this.choose(this.chosen);
      if (by === undefined) return;
      event.preventDefault();
      this.mark(this.chosen < 0 ? first : Math.min(Math.max(first, this.chosen + by), first + count - 1));
    });
  }
}
