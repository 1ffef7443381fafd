// The timeline with its controls, its search, the chosen call in words, and the calls around it as a list.
import { kWaiting } from '../colours.js';
import { button, choice, h, replace, section } from '../dom.js';
import * as format from '../format.js';
import { bindDetails, state } from '../state.js';
import { callElement } from './describe.js';
import { kKeys, TimelineInput } from './input.js';
import { kindChoices } from './kinds.js';
import { messagesOf } from './messages.js';
import { countOf, findCalls, nextCall } from './search.js';
import { SelectionPanel } from './selection.js';
import { bindTimeline } from './timeline_state.js';
import { TimelineView } from './view.js';

const kListed = 9;  // calls around the chosen one

export class Timeline {
  /** waits: of the page's JSON, or null. */
  constructor(model, waits) {
    this.model = model;
    this.view = new TimelineView(model, waits ? waits.patterns : []);
    this.input = new TimelineInput(this.view, { next: (back) => this.next(back), nextColours: () => this.nextColours() });
    this.selection = new SelectionPanel(this.view, waits);
    this.legendBox = h('div', { class: 'classes' });
    this.found = h('span', { class: 'found', role: 'status' });
    this.panel = h('div', { class: 'chosen-call', 'aria-live': 'polite' });
    this.searchField = h('input', { type: 'search', placeholder: 'function, file:line, parameter ...',
      'aria-label': 'Search calls', oninput: () => this.search(),
      onkeydown: (e) => {
        if (e.key === 'Enter') this.next(e.shiftKey);
        if (e.key === 'Escape') this.view.box.canvas.focus();
      } });
    this.view.onChange(() => {
      this.describe();
      state.changed();
    });
    this.describe();
  }

  element() {
    const { view, model } = this;
    this.rowsChoice = choice('Rows', [['groups', 'process groups'], ['ranks', 'ranks']], 'groups', (order) => {
      view.layout.order = order;
      view.selected = { item: 0, seq: -1 };
      view.rebuild();
    });
    this.colourChoice = choice('Colours', kindChoices(model), 'category', (name) => this.colourBy(name));
    this.selectButton = button('Select time', () => this.toggleSelecting(), 'Dragging selects a stretch of time (also: drag ' +
      'the axis, or Shift + drag)');
    this.selectButton.setAttribute('aria-pressed', 'false');
    const controls = h('div', { class: 'controls' },
      this.searchField, button('Next', () => this.next(false), 'Next call found (n)'), this.found,
      this.rowsChoice, this.colourChoice, this.selectButton,
      button('+', () => view.zoom(2, (view.from + view.to) / 2), 'Zoom in (w)'),
      button('−', () => view.zoom(0.5, (view.from + view.to) / 2), 'Zoom out (s)'),
      button('Whole run', () => view.setRange(model.begin, model.end), 'Escape'),
      button('Fit rows', () => this.input.fit(), 'All rows at once (f)'));
    this.fillLegend();
    const keys = bindDetails('keys', h('details', {}, h('summary', {}, 'Keys'),
      h('dl', { class: 'keys' }, kKeys.map(([key, text]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)]))));
    bindTimeline(this);
    return section('timeline', 'Timeline',
      'Look for long coloured stretches: time in MPI. What is empty is the program itself; an orange completion or a green ' +
      'collective that is long on some ranks and short on another says who is waited for.',
      this.note(), controls, this.legendBox, view.box.box, this.selection.element, this.panel, keys);
  }
  colourBy(name) {
    this.colourChoice.querySelector('select').value = name;
    this.view.colourBy(name);
    this.fillLegend();
  }
  nextColours() {
    const names = kindChoices(this.model).map(([name]) => name);
    this.colourBy(names[(names.indexOf(this.view.kinds.name) + 1) % names.length]);
  }
  toggleSelecting() {
    this.view.isSelecting = !this.view.isSelecting;
    this.view.box.canvas.classList.toggle('selecting', this.view.isSelecting);
    this.selectButton.setAttribute('aria-pressed', String(this.view.isSelecting));
  }

  // What the times are worth.
  note() {
    const { json } = this.model;
    const notes = [];
    if (!json.has_times)
      notes.push('This trace has no times of single calls: the order of calls is exact, but where they lie in time ' +
        'follows from the mean duration of each signature, with the time outside of MPI spread evenly between calls. ' +
        'Record with --timing exact or bins:0.02 to see what really happened when.');
    else if (!json.is_whole)
      notes.push(`Times of ${format.count(json.anchors)} of ${format.count(json.timed_calls)} calls are in this page: ` +
        `those that took longest${json.least_ns > 0 ? ` (over ${format.duration(json.least_ns)})` : ''}, or came longest ` +
        'after the one before. The ' +
        'others are in their right order between them, placed by mean durations.');
    if (json.missing_grammars > 0)
      notes.push(`The calls of ${format.count(json.missing_grammars)} threads are too irregular for this page: it ` +
        'has their table of times only.');
    notes.push(...this.missingMessages());
    if (json.damaged_rows > 0)
      notes.push(`The times of ${format.count(json.damaged_rows)} threads cannot be read to their end; see ` +
        '`refrain check`.');
    return notes.length > 0 ? h('p', { class: 'note' }, notes.join(' ')) : null;
  }
  missingMessages() {
    const { listed } = this.model;
    const { uncounted, unknown, unordered, are_read: areRead } = listed.json;
    const notes = [];
    if (listed.missing > 0)
      notes.push(`Of ${format.count(uncounted)} messages that were received from anybody, or by ranks with several threads, ` +
        `${format.count(listed.json.listed)} have arrows: those that were waited for longest, and some of every part of ` +
        'the run.');
    if (unknown > 0)
      notes.push(`${format.count(unknown)} receives from anybody have no arrow: it is not known what they took, or they took nothing.`);
    if (unordered > 0)
      notes.push(`${format.count(unordered)} messages of ranks with several threads have no arrows: without times the ` +
        'order of the threads is not known.');
    if (!areRead)
      notes.push('Messages that were received from anybody, or by ranks with several threads, have no arrows: there are too ' +
        'many calls without times to look for them.');
    return notes;
  }
  fillLegend() {
    const { kinds } = this.view;
    const used = new Set([0]);
    if (kinds.name === 'category') this.model.signature.class.forEach((c) => used.add(c));
    const mark = (colour, text, name = 'mark') => {
      const box = h('span', { class: name, 'aria-hidden': 'true' });
      box.style.background = colour;
      return h('span', {}, box, text);
    };
    const shown = kinds.titles.map((title, c) => (c > 0 && (kinds.name !== 'category' || used.has(c))
      ? mark(kinds.colours[c], title) : null));
    replace(this.legendBox, shown,
      this.model.waiting.ns.length > 0 ? [mark(kWaiting, 'waiting', 'mark low'),
        this.model.late.from.length > 0 ? h('span', {}, 'orange arrows: messages waited for longest') : null] : null,
      this.model.recorder.row.length > 0 ? h('span', {}, h('span', { class: 'mark hatched', 'aria-hidden': 'true' }),
        'the recorder itself') : null,
      h('span', {}, 'arrows: messages of the chosen call, and all when few are in sight'));
  }

  search() {
    this.view.search = findCalls(this.model, this.searchField.value);
    let calls = 0;
    if (this.view.search)
      for (const row of this.model.rows) calls += countOf(row, this.view.search.get(row.group.number));
    replace(this.found, this.view.search ? format.counted(calls, 'call') : '');
    this.view.changed();
  }
  /** The next call found, on the chosen row, or the first row that has one. */
  next(back) {
    const { view } = this;
    if (!view.search) return;
    const has = (row) => countOf(row, view.search.get(row.group.number)) > 0;
    const chosen = view.chosen();
    const row = chosen && has(chosen.row) ? chosen.row : this.model.rows.find(has);
    if (!row) return;
    const seq = chosen && chosen.row === row ? chosen.seq : -1;
    view.goto(row, nextCall(row, view.search.get(row.group.number), seq, back));
  }
  /** Where the messages of a call go, or come from; kind: 'send' or 'receive'. */
  messagesOf(row, seq, kind) {
    return messagesOf(this.model, row, seq, kind);
  }
  /** For links of other sections: the calls of a text, on a rank if one is given. */
  show(text, rank) {
    this.searchField.value = text;
    this.search();
    const { view } = this;
    const row = rank === undefined ? null : this.model.rows.find((r) => r.rank === rank);
    if (row) view.choose(view.layout.find(row), -1);
    this.next(false);
    this.come();
  }
  goto(rank, thread, seq) {
    const row = this.model.rowOf.get(`${rank}.${thread}`);
    if (!row || !row.grammar) return;
    this.view.goto(row, seq);
    this.come();
  }
  /** Shows and selects a stretch of time, with some of what is around it; on a rank if one is given. */
  showTime(from, to, rank) {
    const { view } = this;
    const row = rank === undefined ? null : this.model.rows.find((r) => r.rank === rank);
    if (row) view.choose(view.layout.find(row), -1);
    view.select(from, to);
    view.setRange(from - 0.15 * (to - from), to + 0.15 * (to - from));
    this.come();
  }
  focusSearch() {
    document.getElementById('timeline').scrollIntoView({ block: 'start' });
    this.searchField.focus({ preventScroll: true });
    this.searchField.select();
  }
  come() {
    document.getElementById('timeline').scrollIntoView({ block: 'start' });
    this.view.box.canvas.focus({ preventScroll: true });
  }

  describe() {
    const chosen = this.view.chosen();
    if (!chosen || chosen.seq < 0 || !chosen.row.grammar) {
      replace(this.panel, h('p', { class: 'hint' }, 'Choose a call, with the pointer or with the arrow keys, to see ' +
        'all of its parameters here.'));
      return;
    }
    const { row, seq } = chosen;
    const from = Math.max(0, Math.min(seq - 4, row.calls - kListed));
    const list = [];
    for (let i = from; i < Math.min(row.calls, from + kListed); ++i) {
      const terminal = this.model.terminal(row, i);
      list.push(h('li', { class: i === seq ? 'here' : null },
        button(`${i} ${this.model.name(row.group, terminal)} ${this.model.site(row.group, terminal)}`,
          () => this.view.choose(this.view.selected.item, i), 'Choose this call')));
    }
    replace(this.panel, h('div', { class: 'call' }, callElement(this.model, row, seq, this.view.patterns)),
      h('ol', { class: 'around', 'aria-label': 'Calls around it' }, list));
  }
}
