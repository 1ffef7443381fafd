// Maps of what each rank did: calls, time and bytes of each function, and waiting.
import { choice, h, replace, section } from './dom.js';
import * as format from './format.js';
import { rankLayout, rankMap, spreadText } from './ranks.js';
import { bindChoice } from './state.js';

const kShown = 8;

export function densitySection(data, links) {
  const { density } = data.json;
  const { cells, block } = density;
  const layout = rankLayout(data, cells, block);
  const columns = { ns: data.column('density.ns'), calls: data.column('density.calls'),
    bytes: data.column('density.bytes') };
  const waiting = data.column('waits.rank_waiting');
  const box = h('div', { class: 'maps' });
  const more = h('button', { type: 'button', onclick: () => {
    state.all = !state.all;
    fill();
  } });
  const state = { metric: 'ns', all: false };
  const part = (metric, f) => columns[metric].subarray(f * cells, (f + 1) * cells);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const map = (title, values, text, onchoose) => h('figure', {},
    h('figcaption', {}, h('strong', {}, title), ' ', spreadText(values, text)),
    rankMap(layout, values, text, `${title} by rank`, onchoose));
  function fill() {
    const text = format.metricText[state.metric];
    const functions = density.functions.map((name, f) => ({ name, values: part(state.metric, f) }))
      .map((f) => ({ ...f, total: sum(f.values) })).filter((f) => f.total > 0).sort((a, b) => b.total - a.total);
    const all = new Float64Array(cells);
    for (const f of functions) f.values.forEach((v, i) => {
      all[i] += v;
    });
    const shown = state.all ? functions : functions.slice(0, kShown);
    replace(box, map('All of MPI', all, text, (rank) => links.show('MPI_', rank)),
      state.metric === 'ns' && waiting.length > 0
        ? map('Waiting', blocks(waiting, cells, block), text, (rank) => links.longestWait(rank)) : null,
      shown.map((f) => map(f.name, f.values, text, (rank) => links.show(f.name, rank))));
    more.hidden = functions.length <= kShown;
    more.textContent = state.all ? 'Fewer' : `All ${functions.length} functions`;
  }
  fill();
  return section('density', 'Density maps',
    'Look for ranks that differ from their neighbours: a border, a corner, one node. Below each map is what its ' +
    'colours mean. A click shows the calls of that rank.',
    h('div', { class: 'controls' }, bindChoice('density', choice('Show', [['ns', 'time'], ['calls', 'calls'], ['bytes', 'bytes']], 'ns',
      (metric) => {
        state.metric = metric;
        fill();
      }), 'ns')),
    h('p', { class: 'hint' }, `Layout: ${layout.name}.`, density.time_is_exact ? ''
      : ' Times of a rank\'s functions follow from mean durations, and add up to its own time in MPI.'), box, more);
}

function blocks(values, cells, block) {
  if (block === 1) return values;
  const out = new Float64Array(cells);
  values.forEach((v, rank) => {
    out[Math.floor(rank / block)] += v;
  });
  return out;
}
