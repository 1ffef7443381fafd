// What the timeline shows: which part of the run, which rows, what is chosen. How it is drawn is in picture.js, what the
// user does to it in input.js.
import { canvasBox } from '../dom.js';
import { makeKinds } from './kinds.js';
import { kGroupHeight, kSmall, Layout, loopsAround } from './layout.js';
import { kAxis, kLoop, kMostLoops, Picture } from './picture.js';

const kShortestNs = 20;   // of a view

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
    this.selection = null;     // {from, to} in ns
    this.isSelecting = false;  // a drag chooses a stretch of time, and does not move the view
    this.kinds = makeKinds(model, 'category');
    this.picture = new Picture(this);
    this.box = canvasBox({ class: 'timeline', 'aria-label': 'Timeline of the ranks; the keys are listed below it',
      role: 'application' }, (width) => this.tall(width), (c, w, t, r) => this.picture.draw(c, w, t, r));
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
    const wanted = kAxis + this.loops().length * kLoop + this.layout.height + 4;
    const most = Math.max(width < 600 ? 360 : 480, Math.floor(0.6 * window.innerHeight));
    if (this.layout.isFit) return most;
    // Few ranks are all in sight.
    return this.model.rows.length <= kSmall ? Math.max(140, wanted) : Math.min(most, Math.max(140, wanted));
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
  /** A stretch of time, whose profile, matrix and waits are shown; null: none. */
  select(from, to) {
    const { begin, end } = this.model;
    const keep = (ns) => Math.round(Math.min(Math.max(ns, begin), end));
    const [a, b] = from === null ? [0, 0] : [keep(Math.min(from, to)), keep(Math.max(from, to))];
    this.selection = b > a ? { from: a, to: b } : null;
    this.changed();
  }
  colourBy(name) {
    this.kinds = makeKinds(this.model, name);
    this.changed();
  }
  get painter() {
    return this.picture.painter;
  }
  get arrowCount() {
    return this.picture.arrows.count;
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
}
export { kGroupHeight };
