// What keys and pointers do to the timeline. The keys are those of browsers' trace viewers.
import { placeIn, tip } from '../dom.js';
import * as format from '../format.js';
import { callElement } from './describe.js';
import { doneOf, messagesAt } from './messages.js';
import { kAxis } from './picture.js';

export const kKeys = [
  ['w s', 'zoom in and out'], ['a d', 'move left and right'], ['↑ ↓', 'choose a row'],
  ['← →', 'choose the call before or after'], ['Enter', 'show the chosen call, or open or close a group'],
  ['m', 'go to the other end of the message'], ['/', 'search'], ['n N', 'next or previous call found'],
  ['[ ]', 'lower or higher rows'], ['f', 'all rows at once'], ['Shift + drag', 'select a stretch of time; or drag the axis'],
  ['Shift + ← →', 'select from the chosen call, or the middle, on'], ['r', 'select what is in sight'],
  ['z', 'zoom to the selection'], ['c', 'colours of categories, functions, ...'],
  ['Esc', 'no selection, then the whole run'],
];

export class TimelineInput {
  /** actions: {next(back), nextColours} */
  constructor(view, actions) {
    this.view = view;
    this.actions = actions;
    this.canvas = view.box.canvas;
    this.pointer = null;
    const on = (name, f, options) => this.canvas.addEventListener(name, f, options);
    on('keydown', (e) => this.key(e));
    on('wheel', (e) => this.wheel(e), { passive: false });
    on('pointerdown', (e) => this.down(e));
    on('pointermove', (e) => this.move(e));
    on('pointerup', (e) => this.up(e));
    on('pointerleave', () => tip.hide());
    on('blur', () => tip.hide());
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { view } = this;
    const middle = (view.from + view.to) / 2;
    if (event.shiftKey && ['ArrowLeft', 'ArrowRight'].includes(event.key)) {
      event.preventDefault();
      this.extend(event.key === 'ArrowLeft' ? -0.02 : 0.02);
      return;
    }
    const keys = {
      w: () => view.zoom(1.5, this.zoomPoint(middle)), s: () => view.zoom(1 / 1.5, this.zoomPoint(middle)),
      a: () => view.pan(-0.15), d: () => view.pan(0.15),
      ArrowUp: () => this.moveRow(-1), ArrowDown: () => this.moveRow(1),
      ArrowLeft: () => this.moveCall(-1), ArrowRight: () => this.moveCall(1),
      Enter: () => this.enter(), m: () => this.partner(),       n: () => this.actions.next(false), N: () => this.actions.next(true),
      '[': () => this.rowHeight(-3), ']': () => this.rowHeight(3), f: () => this.fit(),
      r: () => view.select(view.from, view.to),
      z: () => view.selection && view.setRange(view.selection.from, view.selection.to),
      c: () => this.actions.nextColours(),
      Escape: () => (view.selection ? view.select(null) : view.setRange(view.model.begin, view.model.end)),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    tip.hide();
    action();
  }
  // The pointer's time while it is over the picture, else the middle, or the chosen call.
  zoomPoint(middle) {
    if (this.pointer) return this.view.timeAt(this.pointer[0]);
    const chosen = this.view.chosen();
    if (!chosen || chosen.seq < 0 || !chosen.row.grammar) return middle;
    const { begin } = this.view.model.timeOf(chosen.row, chosen.seq);
    return begin >= this.view.from && begin <= this.view.to ? begin : middle;
  }
  /** Moves the end of the selection that the keys began, by a share of the view. */
  extend(share) {
    const { view } = this;
    const by = share * (view.to - view.from);
    const { selection } = view;
    if (!selection || !this.fixed || (selection.from !== this.fixed && selection.to !== this.fixed))
      this.fixed = selection ? selection.from : Math.round(this.zoomPoint((view.from + view.to) / 2));
    const moving = !selection ? this.fixed : selection.from === this.fixed ? selection.to : selection.from;
    view.select(this.fixed, moving + by);
  }
  moveRow(by) {
    const { view } = this;
    const { row, seq } = view.chosen() || {};
    const at = Math.min(Math.max(0, view.selected.item + by), view.layout.items.length - 1);
    const to = view.layout.items[at];
    if (!row || !to) return;
    const time = seq >= 0 && row.grammar ? view.model.timeOf(row, seq).begin : view.from;
    view.choose(at, seq >= 0 ? view.model.callAt(to.row, time) : -1);
  }
  moveCall(by) {
    const { view } = this;
    const chosen = view.chosen();
    if (!chosen || !chosen.row.grammar || chosen.row.calls === 0) return;
    const now = chosen.seq >= 0 ? chosen.seq + by : Math.max(0, view.model.callAt(chosen.row, view.from));
    const seq = Math.min(Math.max(0, now), chosen.row.calls - 1);
    view.choose(view.selected.item, seq);
    const { begin, end } = view.model.timeOf(chosen.row, seq);
    if (end < view.from || begin > view.to) {
      const width = view.to - view.from;
      view.setRange(begin - width / 2, begin + width / 2);
    }
  }
  enter() {
    const { view } = this;
    const chosen = view.chosen();
    if (!chosen) return;
    if (chosen.item.kind === 'group' && chosen.seq < 0) {
      view.layout.toggle(chosen.item.group);
      view.rebuild();
    } else if (chosen.seq >= 0) {
      view.goto(chosen.row, chosen.seq);
    }
  }
  partner() {
    const { view } = this;
    const chosen = view.chosen();
    if (!chosen || chosen.seq < 0 || !chosen.row.grammar) return;
    const [message] = messagesAt(view.model, chosen.row, chosen.seq);
    if (!message) return;
    const isSender = message.from.row === chosen.row && message.from.seq === chosen.seq;
    const { row, seq } = isSender ? doneOf(view.model, message) : message.from;
    const width = view.to - view.from;
    const { begin } = view.model.timeOf(row, seq);
    if (begin < view.from || begin > view.to) view.setRange(begin - width / 2, begin + width / 2);
    view.choose(view.layout.find(row), seq);
  }
  rowHeight(by) {
    const { layout } = this.view;
    layout.isFit = false;
    layout.rowHeight = Math.min(Math.max(layout.rowHeight + by, 3), 60);
    this.view.rebuild();
  }
  fit() {
    this.view.layout.isFit = !this.view.layout.isFit;
    this.view.rebuild();
  }

  wheel(event) {
    const { view } = this;
    const [x] = placeIn(this.canvas, event);
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      view.zoom(Math.exp(-event.deltaY / 300), view.timeAt(x));
      return;
    }
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      view.pan((event.deltaX || event.deltaY) / view.plotWidth);
      return;
    }
    const before = view.scroll;
    view.setScroll(view.scroll + event.deltaY);
    if (view.scroll !== before) event.preventDefault();  // else the page scrolls on
  }
  down(event) {
    const [x, y] = placeIn(this.canvas, event);
    const { view } = this;
    const selects = x > view.gutter && (view.isSelecting || event.shiftKey || y < kAxis);
    this.drag = { x, y, from: view.from, to: view.to, scroll: view.scroll, moved: false, selects };
    if (selects) event.preventDefault();
    if (event.pointerType === 'mouse') this.canvas.setPointerCapture(event.pointerId);
  }
  move(event) {
    const { view } = this;
    const [x, y] = placeIn(this.canvas, event);
    this.pointer = [x, y];
    if (this.drag && event.buttons) {
      const dx = x - this.drag.x;
      if (Math.abs(dx) + Math.abs(y - this.drag.y) > 4) this.drag.moved = true;
      if (this.drag.moved && this.drag.selects) {
        view.select(view.timeAt(this.drag.x), view.timeAt(x));
        if (view.selection)
          tip.show(event.clientX, event.clientY, format.duration(view.selection.to - view.selection.from));
        return;
      }
      if (this.drag.moved) {
        const by = (dx / view.plotWidth) * (this.drag.to - this.drag.from);
        view.setRange(this.drag.from - by, this.drag.to - by);
        view.setScroll(this.drag.scroll - (y - this.drag.y));
        tip.hide();
        return;
      }
    }
    this.hover(x, y, event);
  }
  hover(x, y, event) {
    const { view } = this;
    const found = this.callUnder(x, y);
    if (!found) {
      tip.hide();
      return;
    }
    tip.show(event.clientX, event.clientY, ...callElement(view.model, found.row, found.seq, view.patterns));
  }
  callUnder(x, y) {
    const { view } = this;
    const at = view.itemAt(y);
    if (at < 0 || x < view.gutter) return null;
    const { row } = view.layout.items[at];
    if (!row.grammar) return null;
    const seq = view.model.callAt(row, view.timeAt(x));
    return seq < 0 ? null : { row, seq, at };
  }
  up(event) {
    const { view } = this;
    const drag = this.drag;
    this.drag = null;
    if (drag && drag.selects) tip.hide();
    if (!drag || drag.moved) return;
    const [x, y] = placeIn(this.canvas, event);
    const loop = (view.loopPlaces || []).find((l) => y >= l.y && y < l.y + 11);
    if (loop && y < view.top && x > view.gutter) {
      view.setRange(loop.begin, loop.end);
      return;
    }
    const at = view.itemAt(y);
    if (at < 0) return;
    const item = view.layout.items[at];
    if (item.kind === 'group' && x < view.gutter) {
      view.layout.toggle(item.group);
      view.rebuild();
      return;
    }
    const found = this.callUnder(x, y);
    view.choose(at, found ? found.seq : -1);
  }
}
