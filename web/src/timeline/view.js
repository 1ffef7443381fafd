// The picture of the timeline: axis, rows, names, waits, arrows. What the user does to it is in input.js.
import { classColour, inkOn, kWaiting, rgb, themed } from '../colours.js';
import { canvasBox } from '../dom.js';
import * as format from '../format.js';
import { kGroupHeight, Layout, loopsAround } from './layout.js';
import { doneOf, messagesAt, messagesOf } from './messages.js';
import { kMostSenders, palette, RowPainter, Strip } from './strip.js';

const kAxis = 24;
const kLoop = 11;
const kMostLoops = 3;
const kMostArrows = 300;
const kArrowCalls = 3000;  // with more calls in sight there are no arrows but those of the chosen one
const kShortestNs = 20;   // of a view
const kFrameMs = 12;      // for the rows, while the view moves; afterwards they are drawn in full
const kStillMs = 160;
const kLow = 4;           // height of rows, in pixels, of which some may be left out meanwhile

export class TimelineView {
  constructor(model, patterns) {
    this.model = model;
    this.patterns = patterns;
    this.layout = new Layout(model);
    this.from = model.begin;
    this.to = model.end;
    this.scroll = 0;
    this.selected = { item: 0, seq: -1 };
    this.search = null;
    this.box = canvasBox({ class: 'timeline', 'aria-label': 'Timeline of the ranks; the keys are listed below it',
      role: 'application' }, (width) => this.tall(width), (c, w, t, r) => this.draw(c, w, t, r));
    this.listeners = [];
  }
  onChange(listener) {
    this.listeners.push(listener);
  }
  changed() {
    this.box.redraw();
    for (const listener of this.listeners) listener();
  }

  // --- geometry ---
  // As high as its rows need, up to what a window holds.
  tall(width) {
    const most = width < 600 ? 360 : 480;
    const wanted = kAxis + kMostLoops * kLoop + this.layout.height + 4;
    return this.layout.isFit ? most : Math.min(most, Math.max(140, wanted));
  }
  get gutter() {
    return this.box.width < 600 ? 70 : 130;
  }
  get top() {
    return kAxis + this.loops().length * kLoop;
  }
  get plotWidth() {
    return Math.max(10, this.box.width - this.gutter);
  }
  get space() {
    return this.box.height - this.top;
  }
  timeAt(x) {
    return this.from + ((x - this.gutter) / this.plotWidth) * (this.to - this.from);
  }
  itemAt(y) {
    return y < this.top ? -1 : this.layout.at(y - this.top + this.scroll);
  }

  // --- where it looks ---
  setRange(from, to) {
    const { model } = this;
    const whole = (model.end - model.begin) * 1.02;
    let width = Math.min(Math.max(to - from, kShortestNs), whole);
    const middle = (from + to) / 2;
    from = middle - width / 2;
    const margin = (whole - (model.end - model.begin)) / 2;
    from = Math.min(Math.max(from, model.begin - margin), model.end + margin - width);
    this.from = from;
    this.to = from + width;
    this.changed();
  }
  zoom(factor, at) {
    const left = at - (at - this.from) / factor;
    this.setRange(left, left + (this.to - this.from) / factor);
  }
  pan(share) {
    const by = (this.to - this.from) * share;
    this.setRange(this.from + by, this.to + by);
  }
  setScroll(y) {
    this.scroll = Math.min(Math.max(0, y), Math.max(0, this.layout.height - this.space));
    this.box.redraw();
  }
  rebuild() {
    this.layout.space = this.space;
    this.layout.build(this.space);
    this.setScroll(this.scroll);
    this.changed();
  }

  /** The row and call that are chosen. */
  chosen() {
    const item = this.layout.items[this.selected.item];
    return item ? { row: item.row, seq: this.selected.seq, item } : null;
  }
  choose(item, seq) {
    this.selected = { item: Math.min(Math.max(0, item), this.layout.items.length - 1), seq };
    const { y, height } = this.layout.items[this.selected.item] || { y: 0, height: 0 };
    if (y < this.scroll) this.setScroll(y);
    else if (y + height > this.scroll + this.space) this.setScroll(y + height - this.space);
    this.changed();
  }
  /** Shows call seq of a row, and makes it wide enough to be seen. */
  goto(row, seq) {
    const at = this.layout.find(row);
    const time = this.model.timeOf(row, seq);
    const length = Math.max(time.end - time.begin, 50);
    const width = Math.min(Math.max(length * 8, kShortestNs), this.model.end - this.model.begin);
    const middle = (time.begin + time.end) / 2;
    this.setRange(middle - width / 2, middle + width / 2);
    this.choose(at, seq);
  }
  loops() {
    const chosen = this.chosen();
    if (!chosen || chosen.seq < 0) return [];
    return loopsAround(chosen.row, chosen.seq).filter((loop) => loop.rounds > 1).slice(0, kMostLoops);
  }

  // --- drawing ---
  draw(context, width, height, ratio) {
    const began = performance.now();
    const moves = began - (this.drawn || 0) < kStillMs;
    this.coarse = moves ? Math.min(Math.max(1, Math.ceil((this.cost || 0) / kFrameMs)), 16) : 1;
    this.context = context;
    this.layout.space = this.space;
    if (this.layout.isFit && this.layout.builtFor !== this.space) this.layout.build(this.space);
    const surface = themed('--surface');
    context.fillStyle = surface;
    context.fillRect(0, 0, width, height);
    const view = { from: this.from, to: this.to, width: Math.max(1, Math.floor(this.plotWidth * ratio)) };
    this.painter = new RowPainter(this.model, view, this.search);
    this.ratio = ratio;
    this.places = new Map();   // row index -> middle of its item
    this.heights = new Map();  // ... -> height
    this.drawRows(view, ratio);
    this.drawCalls();
    this.drawArrows();
    this.drawGutter(height);
    this.drawAxis(width, height);
    this.drawn = performance.now();
    this.cost = (this.drawn - began) * this.coarse;
    clearTimeout(this.refine);
    if (this.coarse > 1) this.refine = setTimeout(() => this.box.redraw(), kStillMs + 20);
  }

  drawRows(view, ratio) {
    const top = Math.floor(this.top * ratio);
    const tall = Math.max(1, Math.floor(this.space * ratio));
    const image = this.context.createImageData(view.width, tall);
    const pixels = new Uint32Array(image.data.buffer);
    const even = rgb(themed('--row'));
    const space = rgb(themed('--surface'));
    const background = 0xff000000 | (space[2] << 16) | (space[1] << 8) | space[0];
    const strip = new Strip(view.width);
    const line = new Uint32Array(view.width);
    let shown = -1;
    for (let y = 0; y < tall; ++y) {
      const at = this.layout.at(y / ratio + this.scroll);
      const item = at < 0 ? null : this.layout.items[at];
      const isGap = item && item.height >= 5 && (y / ratio + this.scroll - item.y) * ratio < ratio;
      if (!item || isGap) {
        line.fill(background);
        shown = -1;
      } else if (at !== shown && (item.height >= kLow || shown < 0 || y % this.coarse === 0)) {
        strip.clear();
        this.paintItem(item, strip);
        strip.colour(line, even, palette);
        shown = at;
      }
      pixels.set(line, y * view.width);
    }
    this.context.putImageData(image, Math.floor(this.gutter * ratio), top);
  }
  paintItem(item, strip) {
    this.places.set(item.row.index, this.top + item.y + item.height / 2 - this.scroll);
    this.heights.set(item.row.index, item.height);
    if (item.kind === 'group' && this.layout.open.has(item.group.number)) return;
    if (item.kind === 'group' && this.painter.usesTable(item.height)) this.painter.paintTable(item.group.rows, strip);
    else this.painter.paint(item.row, strip, item.height);
  }

  // Names in the calls that have room, waits, and the chosen call.
  drawCalls() {
    const { context, painter, model } = this;
    context.save();
    context.beginPath();
    context.rect(this.gutter, this.top, this.plotWidth, this.space);
    context.clip();
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const chosen = this.chosen();
    for (const call of painter.visible) {
      const y = this.places.get(call.row.index);
      const height = this.heights.get(call.row.index);
      const x0 = this.gutter + Math.max(0, call.x0 / this.ratio);
      const x1 = this.gutter + Math.min(this.plotWidth, call.x1 / this.ratio);
      const isTall = height >= 11;
      if (call.x1 - call.x0 > 6 && isTall) {
        context.fillStyle = themed('--surface');
        context.fillRect(this.gutter + call.x1 / this.ratio - 0.5, y - height / 2 + 1, 0.8, height - 1);
      }
      this.drawWait(call, y, height, x0, x1);
      if (x1 - x0 < 34 || !isTall) continue;
      const name = model.name(call.row.group, call.terminal).replace(/^MPI_/, '');
      context.fillStyle = call.isFound ? inkOn(classColour(model.classOf(call.row.group, call.terminal)))
        : themed('--ink');
      if (context.measureText(name).width < x1 - x0 - 4) context.fillText(name, x0 + 3, y + 0.5);
    }
    if (chosen && chosen.seq >= 0 && this.places.has(chosen.row.index)) this.drawChosen(chosen);
    context.restore();
  }
  drawWait(call, y, height, x0, x1) {
    const { explained } = this.model;
    const wait = this.model.waits.get(`${call.row.rank}.${call.row.thread}.${call.seq}`);
    if (wait === undefined) return;
    const { context } = this;
    const end = Math.min(x1, x0 + (explained.ns[wait] * this.painter.scale) / this.ratio);
    context.strokeStyle = kWaiting;
    context.lineWidth = 2.5;
    context.beginPath();
    context.moveTo(x0, y + height / 2 - 2);
    context.lineTo(Math.max(end, x0 + 2), y + height / 2 - 2);
    context.stroke();
  }
  drawChosen(chosen) {
    const { context, painter } = this;
    const time = this.model.timeOf(chosen.row, chosen.seq);
    const x0 = this.gutter + painter.x(time.begin) / this.ratio;
    const x1 = this.gutter + painter.x(time.end) / this.ratio;
    const y = this.places.get(chosen.row.index);
    context.strokeStyle = themed('--ink');
    context.lineWidth = 2;
    context.strokeRect(x0 - 1, y - 8, Math.max(2, x1 - x0 + 2), 16);
  }

  drawArrows() {
    const { context, model } = this;
    const arrows = [];
    let isCut = false;
    const chosen = this.chosen();
    if (chosen && chosen.seq >= 0 && chosen.row.grammar)
      for (const message of messagesAt(model, chosen.row, chosen.seq)) arrows.push([message, true]);
    if (this.painter.calls <= kArrowCalls)
      for (const call of this.painter.senders) {
        isCut = arrows.length > kMostArrows;
        if (isCut) break;
        for (const message of messagesOf(model, call.row, call.seq, 'send')) arrows.push([message, false]);
      }
    context.save();
    context.beginPath();
    context.rect(this.gutter, this.top, this.plotWidth, this.space);
    context.clip();
    for (const [message, isChosen] of arrows) this.drawArrow(message, isChosen);
    if (isCut || this.painter.senders.length >= kMostSenders) this.sayCut(arrows.length);
    context.restore();
    this.arrowCount = arrows.length;
  }
  sayCut(count) {
    const { context } = this;
    const text = `${format.count(count)} of the messages in sight`;
    context.font = '11px system-ui, sans-serif';
    const width = context.measureText(text).width + 8;
    context.fillStyle = themed('--surface');
    context.fillRect(this.gutter + this.plotWidth - width, this.top, width, 15);
    context.fillStyle = themed('--soft');
    context.fillText(text, this.gutter + this.plotWidth - width + 4, this.top + 8);
  }
  drawArrow(message, isChosen) {
    const { context, model } = this;
    const { from } = message;
    const done = doneOf(model, message);
    const y0 = this.places.get(from.row.index);
    const y1 = this.places.get(done.row.index);
    if (y0 === undefined || y1 === undefined) return;
    const begin = model.timeOf(from.row, from.seq).begin;
    const end = model.timeOf(done.row, done.seq).end;
    const x0 = this.gutter + this.painter.x(begin) / this.ratio;
    const x1 = this.gutter + this.painter.x(end) / this.ratio;
    context.strokeStyle = context.fillStyle = themed(isChosen ? '--ink' : '--arrow');
    context.lineWidth = isChosen ? 1.8 : 0.9;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
    const angle = Math.atan2(y1 - y0, x1 - x0);
    context.beginPath();
    context.moveTo(x1, y1);
    for (const turn of [-0.4, 0.4]) context.lineTo(x1 - 7 * Math.cos(angle + turn), y1 - 7 * Math.sin(angle + turn));
    context.fill();
  }

  drawGutter(height) {
    const { context } = this;
    context.fillStyle = themed('--surface');
    context.fillRect(0, this.top, this.gutter, height);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    let last = -20;
    for (let i = Math.max(0, this.layout.at(this.scroll)); i < this.layout.items.length; ++i) {
      const item = this.layout.items[i];
      const y = this.top + item.y - this.scroll + item.height / 2;
      if (y > height + 10) break;
      if (i === this.selected.item) {
        context.fillStyle = themed('--chosen');
        context.fillRect(0, y - Math.max(item.height, 2) / 2, this.gutter - 3, Math.max(item.height, 2));
      } else if (y - last < 11) {
        continue;
      }
      context.fillStyle = themed(item.kind === 'group' ? '--ink' : '--soft');
      context.fillText(this.fitting(this.label(item)), 4, y);
      last = y;
    }
  }
  fitting(text) {
    const room = this.gutter - 8;
    if (this.context.measureText(text).width <= room) return text;
    while (text.length > 1 && this.context.measureText(`${text}…`).width > room) text = text.slice(0, -1);
    return `${text}…`;
  }
  label(item) {
    const thread = item.row.thread > 0 ? `.${item.row.thread}` : '';
    if (item.kind === 'row') return `${item.group.rows.length > 1 && this.layout.order === 'groups' ? '   ' : ''}` +
      `rank ${item.row.rank}${thread}`;
    const sign = this.layout.open.has(item.group.number) ? '▾' : '▸';
    return `${sign} ${format.count(item.group.size)} ranks: ${item.group.ranks}`;
  }

  drawAxis(width, height) {
    const { context } = this;
    const span = this.to - this.from;
    const rough = span / Math.max(2, this.plotWidth / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, this.top);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const base = this.model.begin;
    for (let t = Math.ceil((this.from - base) / step) * step; t <= this.to - base; t += step) {
      const x = this.gutter + ((t + base - this.from) / span) * this.plotWidth;
      context.fillStyle = themed('--line');
      context.fillRect(x, kAxis - 6, 1, 6);
      context.fillStyle = themed('--soft');
      const text = this.axisText(t, step);
      if (x + context.measureText(text).width < width) context.fillText(text, x + 3, kAxis - 11);
    }
    this.drawLoops();
    context.strokeStyle = themed('--line');
    context.strokeRect(this.gutter - 0.5, this.top - 0.5, this.plotWidth, height - this.top);
  }
  // As many digits as tell one tick from the next.
  axisText(t, step) {
    const [unit, scale] = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]].find(([, s]) => step >= s * 0.01) || ['ns', 1];
    return `${(t / scale).toFixed(Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)))} ${unit}`;
  }
  drawLoops() {
    const { context, model } = this;
    const chosen = this.chosen();
    this.loopPlaces = [];
    this.loops().forEach((loop, level) => {
      const begin = model.timeOf(chosen.row, loop.from).begin;
      const end = model.timeOf(chosen.row, loop.to - 1).end;
      const x0 = Math.max(this.gutter, this.gutter + ((begin - this.from) / (this.to - this.from)) * this.plotWidth);
      const x1 = Math.min(this.gutter + this.plotWidth,
        this.gutter + ((end - this.from) / (this.to - this.from)) * this.plotWidth);
      if (x1 <= x0) return;
      const y = kAxis + level * kLoop;
      context.fillStyle = themed('--loop');
      context.fillRect(x0, y, Math.max(2, x1 - x0), kLoop - 2);
      context.fillStyle = themed('--ink');
      context.font = '9px system-ui, sans-serif';
      const text = `${format.count(loop.rounds)} x ${format.count(loop.once)} call${loop.once === 1 ? '' : 's'}`;
      if (context.measureText(text).width < x1 - x0 - 4) context.fillText(text, x0 + 3, y + kLoop / 2 - 1);
      this.loopPlaces.push({ y, begin, end, loop });
    });
  }
}
export { kGroupHeight };
