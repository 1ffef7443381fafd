// Functions of files and of stdio that the program called itself: `record --posix on`.
import { h, section } from './dom.js';
import * as format from './format.js';
import { table } from './table.js';

const least = (s, text) => (s.min === s.max ? text(s.max) : `${text(s.min)} to ${text(s.max)} (rank ${s.max_rank})`);

/** Null for a trace that does not have them. */
export function posixSection(data) {
  const { posix } = data.json;
  if (!posix) return null;
  const all = posix.reduce((sum, r) => sum + r.time_ns, 0);
  const columns = [
    { title: 'function', value: (r) => r.function, text: (r) => r.function },
    { title: 'calls', number: true, value: (r) => r.calls, text: (r) => format.count(r.calls), sum: format.count },
    { title: 'errors', number: true, value: (r) => r.errors, text: (r) => format.count(r.errors), sum: format.count },
    { title: 'bytes', number: true, value: (r) => r.bytes, text: (r) => format.bytes(r.bytes), sum: format.bytes },
    { title: 'time', number: true, value: (r) => r.time_ns, text: (r) => format.duration(r.time_ns),
      share: (r) => (all > 0 ? r.time_ns / all : 0), sum: format.duration },
    { title: 'mean', number: true, value: (r) => r.time_ns / r.calls, text: (r) => format.duration(r.time_ns / r.calls) },
    { title: 'longest', number: true, value: (r) => r.max_ns, text: (r) => format.duration(r.max_ns) },
    { title: 'ranks', number: true, value: (r) => r.ranks, text: (r) => format.count(r.ranks) },
    { title: 'calls of a rank', value: (r) => r.calls_of_a_rank.max, text: (r) => least(r.calls_of_a_rank, format.count) },
    { title: 'time of a rank', value: (r) => r.time_ns_of_a_rank.max,
      text: (r) => least(r.time_ns_of_a_rank, format.duration) }];
  return section('posix', 'Files: POSIX and stdio functions',
    'Look for very many small reads and writes, for calls that fail, and for one rank that does what others wait for.',
    posix.length > 0 ? table(columns, posix, { filter: (r) => r.function, caption: 'POSIX functions' })
      : h('p', {}, 'The program called none of them.'));
}
