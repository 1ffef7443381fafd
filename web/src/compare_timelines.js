// The timelines of several runs, one above the other on one scale, each from its own begin.
import { classColour, kClassTitles, kWaiting, themed } from './colours.js';
import { button, canvasBox, h, placeIn, section, tip } from './dom.js';
import * as format from './format.js';
import { numbersOf, state } from './state.js';

const kAxis = 20;
const kHigh = 24;       // a row of few
const kFew = 32;
const kMany = 320;      // pixels for more rows than that
const kGutter = 84;
const kShortestNs = 1000;

class Run {
  constructor(data, trace, number) {
    this.trace = trace;
    this.json = trace.timeline;
    const column = (name) => data.column(`run${number}.${name}`);
    this.share = column('share');
    this.classes = column('class');
    this.ranks = column('rank');
    this.waits = column('waits');
  }
  /** Of a row in a stretch of time: share in MPI, its class, and share waiting. */
  at(row, from, to) {
    const { bins, bin_ns: binNs } = this.json;
    const first = Math.max(0, Math.floor(from / binNs));
    const last = Math.min(bins - 1, Math.max(first, Math.ceil(to / binNs) - 1));
    const sums = new Float64Array(kClassTitles.length);
    let all = 0;
    for (let bin = first; bin <= last; ++bin) {
      const share = this.share[row * bins + bin] / 255;
      sums[this.classes[row * bins + bin]] += share;
      all += share;
    }
    return { share: last < first ? 0 : all / (last - first + 1), kind: sums.indexOf(Math.max(...sums)),
      waiting: this.waiting(row, (from + to) / 2) };
  }
  waiting(row, ns) {
    const { wait_rows: rows, wait_columns: columns, length_ns: length } = this.json;
    if (rows === 0 || columns === 0) return 0;
    const line = Math.min(rows - 1, Math.floor((row * rows) / Math.max(1, this.json.rows)));
    const column = Math.min(columns - 1, Math.floor((ns / length) * columns));
    return this.waits[line * columns + column] / 255;
  }
  name(row) {
    const step = this.json.threads_a_row;
    return step === 1 ? `rank ${this.ranks[row]}` : `ranks ${this.ranks[row]}…`;
  }
}

export class CompareTimelines {
  constructor(data) {
    this.runs = data.json.traces.map((trace, i) => new Run(data, trace, i));
    this.length = Math.max(1, ...this.runs.map((run) => run.json.length_ns));
    this.from = 0;
    this.to = this.length;
    this.boxes = [];
    state.bind('view', () => (this.from === 0 && this.to === this.length ? null
      : `${Math.round(this.from)},${Math.round(this.to)}`), (text) => {
      const [from, to] = numbersOf(text, 2) || [0, this.length];
      this.setRange(from, to);
    });
  }
  setRange(from, to) {
    const width = Math.min(Math.max(to - from, kShortestNs), this.length);
    this.from = Math.min(Math.max(0, (from + to - width) / 2), this.length - width);
    this.to = this.from + width;
    for (const box of this.boxes) box.redraw();
    state.changed();
  }
  zoom(factor, at) {
    this.setRange(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }

  element() {
    const used = new Set();
    for (const run of this.runs) run.classes.forEach((c) => used.add(c));
    const mark = (colour, text, name = 'mark') => {
      const box = h('span', { class: name, 'aria-hidden': 'true' });
      box.style.background = colour;
      return h('span', {}, box, text);
    };
    const middle = () => (this.from + this.to) / 2;
    return section('timelines', 'Timelines',
      'Each run from its own begin, all on the same scale. Look for where the second run takes longer, or waits more.',
      h('div', { class: 'controls' }, button('+', () => this.zoom(2, middle()), 'Zoom in (w)'),
        button('−', () => this.zoom(0.5, middle()), 'Zoom out (s)'),
        button('Whole runs', () => this.setRange(0, this.length), 'Escape')),
      h('div', { class: 'classes' }, kClassTitles.map((title, c) => (c > 0 && used.has(c) ? mark(classColour(c), title) : null)),
        mark(kWaiting, 'waiting', 'mark low')),
      this.runs.map((run, i) => this.figure(run, i)));
  }
  figure(run, i) {
    const caption = h('figcaption', {}, `${i + 1} `, h('a', { href: encodeURIComponent(run.trace.file) }, run.trace.file),
      `: ${format.counted(run.trace.ranks, 'rank')}, ${format.duration(run.json.length_ns)}`);
    if (run.json.bins === 0)
      return h('figure', {}, caption, h('p', { class: 'note' }, 'This trace has no times of single calls; record with ' +
        '--timing exact or bins:0.02.'));
    const { rows } = run.json;
    const high = rows <= kFew ? kHigh : kMany / rows;
    const box = canvasBox({ class: 'compared', 'aria-label': `Timeline of ${run.trace.file}; w and s zoom, a and d move` },
      () => kAxis + rows * high, (context, width, height, ratio) => this.draw(run, context, width, height, ratio));
    this.boxes.push(box);
    this.listen(box, run, high);
    return h('figure', { class: 'compared' }, caption, box.box);
  }
  draw(run, context, width, height, ratio) {
    const { rows } = run.json;
    const plot = width - kGutter;
    const high = (height - kAxis) / rows;
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, height);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const gap = high > 8 ? 2 : 0;
    const pixel = 1 / ratio;
    for (let row = 0; row < rows; ++row) {
      const y = kAxis + row * high;
      for (let x = 0; x < plot; x += pixel) {
        const ns = this.from + (x / plot) * (this.to - this.from);
        if (ns > run.json.length_ns) break;
        this.column(run, row, ns, ns + (pixel / plot) * (this.to - this.from), context, kGutter + x, y, pixel, high - gap);
      }
      if (high >= 11 || row % Math.ceil(11 / high) === 0) {
        context.fillStyle = themed('--soft');
        context.fillText(run.name(row), 4, y + high / 2, kGutter - 8);
      }
    }
    this.axis(context, width, plot);
  }
  column(run, row, from, to, context, x, y, width, height) {
    const { share, kind, waiting } = run.at(row, from, to);
    context.fillStyle = themedRow();
    context.fillRect(x, y, width, height);
    if (share > 0) {
      context.globalAlpha = 0.12 + 0.88 * Math.min(1, share);
      context.fillStyle = classColour(kind);
      context.fillRect(x, y, width, height);
    }
    if (waiting > 0.02) {
      context.globalAlpha = 0.25 + 0.75 * waiting;
      context.fillStyle = kWaiting;
      context.fillRect(x, y + height * 0.8, width, height * 0.2);
    }
    context.globalAlpha = 1;
  }
  axis(context, width, plot) {
    const rough = (this.to - this.from) / Math.max(2, plot / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = kGutter + ((t - this.from) / (this.to - this.from)) * plot;
      context.fillStyle = themed('--line');
      context.fillRect(x, kAxis - 5, 1, 5);
      context.fillStyle = themed('--soft');
      const text = t === 0 ? '0' : format.duration(t);
      if (x + context.measureText(text).width < width) context.fillText(text, x + 3, kAxis - 11);
    }
  }
  listen(box, run, high) {
    const { canvas } = box;
    const timeAt = (x) => this.from + ((x - kGutter) / Math.max(1, box.width - kGutter)) * (this.to - this.from);
    canvas.addEventListener('keydown', (event) => {
      const by = 0.15 * (this.to - this.from);
      const keys = { w: () => this.zoom(1.5, (this.from + this.to) / 2), s: () => this.zoom(1 / 1.5, (this.from + this.to) / 2),
        a: () => this.setRange(this.from - by, this.to - by), d: () => this.setRange(this.from + by, this.to + by),
        Escape: () => this.setRange(0, this.length) };
      if (event.ctrlKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      keys[event.key]();
    });
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), timeAt(placeIn(canvas, event)[0]));
    }, { passive: false });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = placeIn(canvas, event);
      const row = Math.floor((y - kAxis) / high);
      const ns = timeAt(x);
      if (x < kGutter || row < 0 || row >= run.json.rows || ns > run.json.length_ns) {
        tip.hide();
        return;
      }
      const { share, kind, waiting } = run.at(row, ns, ns);
      tip.show(event.clientX, event.clientY, `${run.name(row)}, ${format.duration(ns)}: ${format.percent(share)} in MPI` +
        `${share > 0 ? `, most of it ${kClassTitles[kind]}` : ''}, ${format.percent(waiting)} waiting`);
    });
    canvas.addEventListener('pointerleave', () => tip.hide());
  }
}

let rowColour = null;
document.addEventListener('themechange', () => {
  rowColour = null;
});
function themedRow() {
  if (rowColour === null) rowColour = themed('--row');
  return rowColour;
}
