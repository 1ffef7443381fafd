// What ran, where, and what recording it cost.
import { h, section } from './dom.js';
import * as format from './format.js';

// Shown in their own way, or elsewhere.
const kOwn = new Set(['groups', 'losses', 'recorder_cost', 'hosts', 'times', 'segments', 'plain_trace', 'cores',
  'programs', 'spawned']);
const kTexts = { duration_ns: format.duration, in_mpi_ns: format.duration, outside_ns: format.duration,
  recorder_in_run_ns: format.duration,
  file_bytes: format.bytes, calls: format.count };

function spread(s, text) {
  return `${text(s.mean)} a rank, ${text(s.least)} (rank ${s.least_rank}) to ${text(s.greatest)} (rank ${s.greatest_rank})`;
}

export function environmentSection(data) {
  const { info, trace } = data.json;
  const rows = [['trace', trace]];
  for (const [key, value] of Object.entries(info)) {
    if (kOwn.has(key) || value === '') continue;
    const text = kTexts[key] ? kTexts[key](value) : String(value);
    rows.push([key.replace(/_ns$/, '').replace(/_/g, ' '), text]);
  }
  if (info.programs && info.programs.length > 1)
    for (const p of info.programs)
      rows.push([`program of rank${p.rank_count === 1 ? '' : 's'} ${p.ranks}`, `${p.program}: ${p.command}`]);
  for (const job of info.spawned || [])
    rows.push(['spawned', `${job.trace || 'no trace known'}: ${job.processes} of ${job.command}, by rank ${job.rank}`]);
  rows.push(['hosts', info.hosts.join(', ')]);
  if (info.cores) {
    for (const kind of info.cores.by_host)
      rows.push(['cores', `${kind.cores} on ${kind.hosts > 1 ? `each of ${format.count(kind.hosts)} hosts (` +
        `${kind.first_host}, ...)` : kind.first_host}, ${kind.usable_cores} for its ${kind.ranks} ranks` +
        `${kind.crowded_ranks > 0 ? `: ${kind.crowded_ranks} of them share ${kind.crowded_cores}` : ''}`]);
    if (info.cores.involuntary_switches !== null)
      rows.push(['involuntary switches', format.count(info.cores.involuntary_switches)]);
  }
  const cost = info.recorder_cost;
  if (cost) {
    rows.push(['time of the recorder', spread(cost.time_ns, format.duration)]);
    rows.push(['memory of the recorder', spread(cost.memory_bytes, format.bytes)]);
    if (info.duration_ns > 0)
      rows.push(['overhead of the recorder', `${format.percent(cost.time_ns.mean / info.duration_ns)} of the run, on ` +
        'the mean of its ranks']);
  }
  if (info.times) rows.push(['times', `${format.bytes(info.times.bytes)} for ${format.count(info.times.calls)} calls`]);
  if (info.segments) rows.push(['segments', `${info.segments.method}: ${format.count(info.segments.representatives)} ` +
    `representatives of ${format.count(info.segments.segments)} segments`]);
  const plain = info.plain_trace;
  if (plain) rows.push(['conventional trace', `${format.bytes(plain.bytes)} in ${format.count(plain.flushes)} flushes of ` +
    `${format.bytes(plain.buffer_bytes)}, ${plain.write ? format.duration(plain.write_ns) : 'thrown away'}`]);
  for (const loss of info.losses)
    rows.push(['loss', `${loss.reason}${loss.calls ? `, ${format.count(loss.calls)} calls` : ''}` +
      `${loss.rank !== undefined ? `, rank ${loss.rank}` : ''}${loss.detail ? `: ${loss.detail}` : ''}`]);
  return section('environment', 'Environment',
    'Look here first when two runs differ: another library, other hosts, another command.',
    h('dl', { class: 'environment' }, rows.map(([key, value]) => [h('dt', {}, key), h('dd', {}, value)])));
}
