// The index: several runs side by side, each against the first.
import { CompareTimelines } from './compare_timelines.js';
import { h, section } from './dom.js';
import * as format from './format.js';
import { table } from './table.js';
import { warning } from './verdict.js';

function change(now, first) {
  if (!(first > 0) || now === first) return '';
  const by = now / first - 1;
  return ` (${by > 0 ? '+' : ''}${(100 * by).toFixed(1)} %)`;
}

function against(title, value, text, first) {
  return { title, number: true, value, text: (t) => text(value(t)) + (t === first ? '' : change(value(t), value(first))) };
}

/** How far two runs that do the same may be apart, in the time of a function; of all ranks. */
function noiseOf(trace, call) {
  const noise = trace.noise_ns ? trace.noise_ns[call] : undefined;
  return noise === undefined ? null : noise * (trace.noise_is_of_a_rank ? trace.ranks : 1);
}

function timeText(row, i, noise) {
  const [first, now] = [row.of[0], row.of[i]];
  if (!now) return '-';
  const text = format.duration(now.time_ns);
  if (i === 0 || !first) return text;
  const isNoise = noise !== null && Math.abs(now.time_ns - first.time_ns) <= noise;
  return [text, h('span', { class: isNoise ? 'in-noise' : 'past-noise' }, change(now.time_ns, first.time_ns))];
}

function functions(traces) {
  const names = new Map();
  traces.forEach((trace, i) => {
    for (const row of trace.functions) {
      if (!names.has(row.call)) names.set(row.call, traces.map(() => null));
      names.get(row.call)[i] = row;
    }
  });
  const rows = [...names].map(([call, of]) => ({ call, of }));
  const get = (row, i, name) => (row.of[i] && row.of[i][name] !== null ? row.of[i][name] : 0);
  const columns = (trace, i) => [
    { title: `calls ${i + 1}`, number: true, value: (r) => get(r, i, 'count'), sum: format.count,
      text: (r) => (r.of[i] ? format.count(r.of[i].count) : '-') },
    { title: `time ${i + 1}`, number: true, value: (r) => get(r, i, 'time_ns'), sum: format.duration,
      node: (r) => timeText(r, i, noiseOf(trace, r.call)) },
    i === 0 ? null : { title: `noise ${i + 1}`, number: true, value: (r) => noiseOf(trace, r.call) || 0,
      text: (r) => (noiseOf(trace, r.call) === null ? '-' : `± ${format.duration(noiseOf(trace, r.call))}`) },
    trace.verdict.waiting_share === null ? null : { title: `waiting ${i + 1}`, number: true,
      value: (r) => get(r, i, 'waiting_ns'), sum: format.duration,
      text: (r) => (r.of[i] ? format.duration(get(r, i, 'waiting_ns')) +
        (i > 0 && r.of[0] ? change(get(r, i, 'waiting_ns'), get(r, 0, 'waiting_ns')) : '') : '-') }];
  return table([{ title: 'function', value: (r) => r.call, text: (r) => r.call },
    ...traces.flatMap(columns).filter((column) => column !== null)], rows, { filter: (r) => r.call, caption: 'functions' });
}

export function comparePage(data) {
  const { traces } = data.json;
  const first = traces[0];
  const timelines = new CompareTimelines(data);
  window.refrain = { data, format, timelines };  // for tests, and for people with a console
  const columns = [
    { title: 'run', value: (t) => t.file, node: (t) => [`${traces.indexOf(t) + 1} `, h('a', { href: encodeURIComponent(t.file) }, t.file)] },
    { title: 'program', value: (t) => t.program, text: (t) => t.command || t.program },
    against('ranks', (t) => t.ranks, format.count, first),
    against('calls', (t) => t.calls, format.count, first),
    against('duration', (t) => t.duration_ns, format.duration, first),
    against('in MPI', (t) => t.verdict.mpi_share, format.percent, first),
    against('efficiency', (t) => (t.verdict.efficiency ? t.verdict.efficiency.parallel : 0), format.percent, first),
    against('waiting', (t) => t.verdict.waiting_share ?? 0, format.percent, first),
    against('messages', (t) => t.messages, format.count, first),
    against('bytes', (t) => t.bytes, format.bytes, first)];
  return [
    h('header', {}, h('h1', {}, `${traces.length} runs`)),
    traces.filter((t) => !t.complete).map((t) => [h('p', {}, t.file), warning(t)]),
    section('runs', 'Runs', 'Look for numbers that differ from the first run; in brackets by how much.',
      table(columns, traces, { most: 100, caption: 'runs' })),
    timelines.element(),
    section('compare', 'Functions', 'Look for functions that take longer than in the first run, or are called more often. ' +
      'Noise is how far two runs that do the same may be apart, as `refrain diff` estimates it; a change within it is grey.',
      functions(traces))];
}
