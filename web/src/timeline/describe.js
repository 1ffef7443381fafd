// One call in words: for the note beside the pointer and for the panel below the timeline.
import { h } from '../dom.js';
import * as format from '../format.js';
import { classColour } from '../colours.js';
import { named } from '../names.js';

export function callRows(model, row, seq, patterns) {
  const terminal = model.terminal(row, seq);
  const time = model.timeOf(row, seq);
  const id = row.group.signatures[terminal];
  const parameters = model.parameters(row, terminal);
  const how = time.exact ? '' : model.hasTimes ? ' (placed between calls that are kept with their times)'
    : ' (estimated: the trace has mean durations only)';
  const rows = [
    ['rank', `${row.rank}${row.thread > 0 ? `, thread ${row.thread}` : ''}`],
    ['call', `number ${format.count(seq)} of ${format.count(row.calls)}`],
    ['site', model.path(row.group, terminal)],
    ['begin', `${format.duration(time.begin - model.begin)} after the first${how}`],
    ['duration', time.exact ? `${format.count(time.end - time.begin)} ns` : format.duration(time.end - time.begin)],
    ['all such calls', `${format.count(model.signature.count[id])}, mean ${format.duration(model.signature.mean[id])}, ` +
      `${format.duration(model.signature.min[id])} to ${format.duration(model.signature.max[id])}`],
    ['parameters', parameters ? parameters.text + (parameters.own ? '' : ` (as on rank ${row.group.first})`)
      : 'left out of this page; `refrain dump` has them'],
  ];
  const wait = model.waits.get(`${row.rank}.${row.thread}.${seq}`);
  if (wait !== undefined) {
    const { pattern, ns, partner } = model.explained;
    rows.push(['waiting', `${format.duration(ns[wait])}, ${patterns[pattern[wait]].title}` +
      (partner[wait] >= 0 ? `, for rank ${partner[wait]}` : '')]);
  }
  return { name: model.name(row.group, terminal), class: model.classOf(row.group, terminal), rows };
}

export function callElement(model, row, seq, patterns) {
  const { name, rows, ...call } = callRows(model, row, seq, patterns);
  const mark = h('span', { class: 'mark', 'aria-hidden': 'true' });
  mark.style.background = classColour(call.class);
  return [h('div', { class: 'call-name' }, mark, name),
    h('dl', {}, rows.map(([key, value]) => [h('dt', {}, key), h('dd', {}, key === 'site' ? named(value) : value)]))];
}
