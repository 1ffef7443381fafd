// The segments of the run by what stands for them, as `refrain reduce` matches them.

/** data.json.behaviours with its segments by row of the timeline; null where the page has none. */
export function readBehaviours(data) {
  const { behaviours } = data.json;
  if (!behaviours || behaviours.rows.length === 0) return null;
  const segments = {};
  for (const name of ['rank', 'thread', 'start', 'length', 'row', 'iteration'])
    segments[name] = data.column(`behaviours.${name}`);
  const of = new Map();
  segments.rank.forEach((rank, i) => {
    const key = `${rank}.${segments.thread[i]}`;
    if (!of.has(key)) of.set(key, []);
    of.get(key).push(i);
  });
  return { ...behaviours, segments, ofRow: (row) => of.get(`${row.rank}.${row.thread}`) || [] };
}
