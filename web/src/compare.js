// The index: several runs side by side, each against the first.
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

function functions(traces) {
  const names = new Map();
  traces.forEach((trace, i) => {
    for (const row of trace.functions) {
      if (!names.has(row.call)) names.set(row.call, traces.map(() => null));
      names.get(row.call)[i] = row;
    }
  });
  const rows = [...names].map(([call, of]) => ({ call, of }));
  const time = (row, i) => (row.of[i] ? row.of[i].time_ns : 0);
  return table([{ title: 'function', value: (r) => r.call, text: (r) => r.call },
    ...traces.flatMap((trace, i) => [
      { title: `calls ${i + 1}`, number: true, value: (r) => (r.of[i] ? r.of[i].count : 0),
        text: (r) => (r.of[i] ? format.count(r.of[i].count) : '-') },
      { title: `time ${i + 1}`, number: true, value: (r) => time(r, i),
        text: (r) => (r.of[i] ? format.duration(time(r, i)) + (i > 0 ? change(time(r, i), time(r, 0)) : '') : '-') }])],
  rows, { filter: (r) => r.call, caption: 'functions' });
}

export function comparePage(data) {
  const { traces } = data.json;
  const first = traces[0];
  const columns = [
    { title: 'run', value: (t) => t.file, node: (t) => [`${traces.indexOf(t) + 1} `, h('a', { href: encodeURIComponent(t.file) }, t.file)] },
    { title: 'program', value: (t) => t.program, text: (t) => t.command || t.program },
    against('ranks', (t) => t.ranks, format.count, first),
    against('calls', (t) => t.calls, format.count, first),
    against('duration', (t) => t.duration_ns, format.duration, first),
    against('in MPI', (t) => t.verdict.mpi_share, format.percent, first),
    against('efficiency', (t) => (t.verdict.efficiency ? t.verdict.efficiency.parallel : 0), (v) => v.toFixed(2), first),
    against('messages', (t) => t.messages, format.count, first),
    against('bytes', (t) => t.bytes, format.bytes, first)];
  return [
    h('header', {}, h('h1', {}, `${traces.length} runs`)),
    traces.filter((t) => !t.complete).map((t) => [h('p', {}, t.file), warning(t)]),
    section('runs', 'Runs', 'Look for numbers that differ from the first run; in brackets by how much.',
      table(columns, traces, { most: 100, caption: 'runs' })),
    section('compare', 'Functions', 'Look for functions that take longer than in the first run, or are called more often.',
      functions(traces))];
}
