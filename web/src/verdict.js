// What to know first: how much of the time was lost, and with what.
import { button, h, section } from './dom.js';
import * as format from './format.js';
import { named } from './names.js';

function card(value, label, hint, bad) {
  return h('div', { class: `card${bad ? ' bad' : ''}` }, h('div', { class: 'value' }, value),
    h('div', { class: 'label' }, label), hint ? h('div', { class: 'hint' }, hint) : null);
}

function cards(json) {
  const { verdict } = json;
  const out = [card(format.percent(verdict.mpi_share), 'in MPI', 'of the time of all ranks', verdict.mpi_share > 0.3)];
  if (verdict.waiting_share !== null)
    out.push(card(format.percent(verdict.waiting_share), 'waiting', 'of the time of all ranks', verdict.waiting_share > 0.1));
  for (const factor of verdict.factors)
    out.push(card(format.percent(factor.value), factor.title, factor.caption, factor.value < 0.8));
  return h('div', { class: 'cards' }, out);
}

function cause(wait) {
  if (!wait.cause) return null;
  const { rank, from, to } = wait.cause;
  const where = wait.cause.is_call ? `in ${to}` : from === to ? `from ${from} to the next time there`
    : from && to ? `between ${from} and ${to}` : from || to;
  return h('div', { class: 'hint' }, `The largest part of it goes back to ${rank >= 0 ? `rank ${rank}` : 'ranks not known'}`,
    rank >= 0 && where ? [', ', named(where)] : '', ` (${format.duration(wait.cause.ns)}).`);
}

function topWaits(json, links) {
  return h('ol', { class: 'top' }, json.verdict.top.map((wait) => h('li', {},
    h('strong', {}, `${wait.title} in ${wait.call}`),
    `: ${format.duration(wait.ns)}, ${format.percent(wait.share)} of all time, ${format.counted(wait.count, 'wait')}. `,
    `Most on rank ${wait.rank} (${format.duration(wait.rank_ns)}). `,
    h('span', { class: 'path' }, named(wait.path)), ' ',
    button('Show these calls', () => links.show(`${wait.call} ${wait.site}`, wait.rank)), ' ',
    wait.example ? button(`Longest: ${format.duration(wait.example.ns)}`,
      () => links.goto(wait.example.rank, wait.example.thread, wait.example.seq)) : null,
    cause(wait))));
}

function topPaths(json, links) {
  return [h('p', {}, `Who waited for whom needs times of single calls, and this trace has none: ${json.no_waits} ` +
    'Where the time in MPI went is known:'),
  h('ol', { class: 'top' }, json.verdict.top.map((row) => h('li', {}, h('strong', {}, row.call),
    `: ${format.duration(row.ns)}, ${format.percent(row.share)} of all time, ${format.counted(row.count, 'call')}. `,
    h('span', { class: 'path' }, named(row.path)), ' ',
    button('Show these calls', () => links.show(`${row.call} ${row.site}`)))))];
}

/** The yellow bar: what is missing. */
export function warning(info) {
  if (info.complete && info.losses.length === 0) return null;
  const lines = info.losses.map((loss) => h('li', {}, loss.reason.replace(/_/g, ' '),
    loss.calls ? `, ${format.count(loss.calls)} calls` : '', loss.rank !== undefined ? `, rank ${loss.rank}` : '',
    loss.detail ? `: ${loss.detail}` : ''));
  return h('div', { class: 'bar', role: 'alert' },
    h('strong', {}, info.complete ? 'Something was lost or left out.' : 'This trace is incomplete: what follows is what there is.'),
    lines.length > 0 ? h('ul', {}, lines) : null);
}

export function verdictSection(data, links) {
  const { json } = data;
  const { info } = json;
  const isEstimate = json.verdict.efficiency && json.verdict.efficiency.source === 'totals';
  return section('verdict', 'Verdict',
    'Parallel efficiency below 80 % is worth a look; the factor that is lowest says where to look first.',
    json.verdict.text ? h('p', { class: 'sentence' }, named(json.verdict.text)) : null,
    h('p', {}, `${format.count(info.ranks)} ranks, ${format.count(info.calls)} calls, `,
      `${format.duration(info.duration_ns)} from MPI_Init to MPI_Finalize.`),
    cards(json), isEstimate ? h('p', { class: 'hint' }, 'Factors from the ranks\' totals in and outside of MPI; ' +
      'with times of single calls communication splits into serialisation and transfer.') : null,
    h('h3', {}, json.verdict.top_are_waits ? 'What was waited for most' : 'Most time in MPI'),
    json.verdict.top.length === 0 ? h('p', {}, 'Nothing.')
      : json.verdict.top_are_waits ? topWaits(json, links) : topPaths(json, links));
}
