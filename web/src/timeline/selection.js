// The panel of the selected stretch of time: its profile, its messages, its waits.
import { button, h, replace } from '../dom.js';
import * as format from '../format.js';
import { table } from '../table.js';
import { windowOf } from './window.js';

export class SelectionPanel {
  /** links: {goto(row, seq)} */
  constructor(view, waits) {
    this.view = view;
    this.waits = waits;  // of the page's JSON; may be null
    this.element = h('div', { class: 'selection', role: 'region', 'aria-label': 'Selected time', hidden: true });
    this.shown = null;
    view.onChange(() => this.update());
  }
  update() {
    const { selection } = this.view;
    const key = selection ? `${selection.from} ${selection.to}` : null;
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = !selection;
    clearTimeout(this.timer);
    // While a drag goes on, once in a while.
    if (selection) this.timer = setTimeout(() => this.fill(selection), 60);
  }
  fill({ from, to }) {
    const { view } = this;
    const { model } = view;
    const found = windowOf(model, from, to);
    this.found = found;
    replace(this.element, this.head(from, to, found),
      model.isWhole ? null : h('p', { class: 'hint' }, 'Times between calls that the page keeps follow from mean durations.'),
      model.waiting.isWhole || !this.waits ? null : h('p', { class: 'hint' }, `Of the waits the page has the longest ` +
        `${format.count(model.waiting.ns.length)}: \`refrain waits --from-ns --to-ns\` has all.`),
      this.hasCompletions() ? h('p', { class: 'hint' }, 'Waits here are ' +
        'those for somebody to come; completions, for the last to leave, are in the section of wait states.') : null,
      found.missing > 0 ? h('p', { class: 'hint' }, `Without the calls of ${format.counted(found.missing, 'thread')} that the ` +
        'page does not have.') : null,
      h('div', { class: 'columns' }, this.profile(found), this.waitTable(found), this.matrix(found)));
  }
  hasCompletions() {
    return this.waits !== null && this.view.model.hasCompletions;
  }
  head(from, to, found) {
    const { view } = this;
    const { begin } = view.model;
    const field = (label, ns, set) => {
      const input = h('input', { type: 'number', step: 'any', value: (ns - begin) / 1e6, 'aria-label': label,
        onchange: () => set(begin + Number(input.value) * 1e6) });
      return input;
    };
    return h('div', { class: 'controls' }, h('strong', {}, 'Selected: '),
      field('From, in ms after the begin', from, (ns) => view.select(ns, to)), ' to ',
      field('To, in ms after the begin', to, (ns) => view.select(from, ns)), ` ms (${format.duration(to - from)}): `,
      h('span', { class: 'totals' }, `${format.counted(found.calls, 'call')}, ${format.percent(found.runNs > 0
        ? found.mpiNs / found.runNs : 0)} in MPI`),
      button('Zoom to it', () => view.setRange(from, to), 'z'), button('Clear', () => view.select(null), 'Escape'));
  }
  profile(found) {
    return h('div', {}, h('h3', {}, 'Profile'), table([
      { title: 'function', value: (f) => f.call, text: (f) => f.call },
      { title: 'calls', number: true, value: (f) => f.count, text: (f) => format.count(f.count), sum: format.count },
      { title: 'time', number: true, value: (f) => f.ns, text: (f) => format.duration(f.ns), sum: format.duration,
        share: (f) => (found.mpiNs > 0 ? f.ns / found.mpiNs : 0) },
      { title: 'of the time', number: true, value: (f) => f.ns, text: (f) => format.percent(f.ns / found.runNs),
        sum: (ns) => format.percent(ns / found.runNs) }], found.functions, { most: 8, caption: 'functions in this time' }));
  }
  matrix(found) {
    if (found.pairs.length === 0) return h('div', {}, h('h3', {}, 'Messages'), h('p', {}, 'None was sent.'));
    return h('div', {}, h('h3', {}, 'Messages'), table([
      { title: 'from', number: true, value: (p) => p.source, text: (p) => p.source },
      { title: 'to', number: true, value: (p) => p.dest, text: (p) => p.dest },
      { title: 'messages', number: true, value: (p) => p.messages, text: (p) => format.count(p.messages), sum: format.count },
      { title: 'bytes', number: true, value: (p) => p.bytes, text: (p) => format.bytes(p.bytes), sum: format.bytes,
        share: (p) => (found.pairs[0].bytes > 0 ? p.bytes / found.pairs[0].bytes : 0) }], found.pairs,
    { most: 8, caption: 'messages sent in this time' }));
  }
  waitTable(found) {
    if (!this.waits) return null;
    if (found.waits.length === 0) return h('div', {}, h('h3', {}, 'Waits'), h('p', {}, 'Nobody waited.'));
    const most = (w) => [...w.ranks].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
    return h('div', {}, h('h3', {}, 'Waits'), table([
      { title: 'kind', value: (w) => this.waits.patterns[w.pattern].title, text: (w) => this.waits.patterns[w.pattern].title },
      { title: 'where', value: (w) => w.path, text: (w) => `${this.waits.calls[w.call]} ${this.waits.paths[w.path].split(' > ').pop()}` },
      { title: 'waited', number: true, value: (w) => w.ns, text: (w) => format.duration(w.ns), sum: format.duration,
        share: (w) => w.ns / found.waits[0].ns },
      { title: 'of the time', number: true, value: (w) => w.ns, text: (w) => format.percent(w.ns / found.runNs),
        sum: (ns) => format.percent(ns / found.runNs) },
      { title: 'most on rank', number: true, value: most, text: most }], found.waits, { most: 8, caption: 'waits in this time' }));
  }
}
