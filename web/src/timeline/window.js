// Profile, matrix and waits of a stretch of time [from, to). A call, a message or a wait is counted in the window in which
// its call begins, and its time with the part that lies in the window: so windows that tile the run add up to the run.

const kEachCall = 4;     // calls for each terminal: with more in the window, terminals are counted in the grammar
const kMostFolded = 4e6;  // terminals times symbols

/** Numbers of the calls that begin in [from, to): [first, last). */
function callsIn(model, row, from, to) {
  const at = (ns) => {
    if (ns >= model.end) return row.calls;  // also those that begin when the run ends
    const seq = model.callAt(row, ns);
    if (seq < 0) return 0;
    return model.timeOf(row, seq).begin < ns ? seq + 1 : firstAt(model, row, seq, ns);
  };
  return [at(from), at(to)];
}
// Of several calls that begin at once, the first.
function firstAt(model, row, seq, ns) {
  while (seq > 0 && model.timeOf(row, seq - 1).begin >= ns) --seq;
  return seq;
}

/** How often each terminal is among the calls [first, last) of a row: Map. */
function countTerminals(row, first, last) {
  const out = new Map();
  const { grammar, group } = row;
  const terminals = group.signatures.length;
  if (last - first <= kEachCall * terminals || terminals * grammar.symbol.length > kMostFolded) {
    for (let seq = first; seq < last; ++seq) {
      const t = grammar.terminal(seq);
      out.set(t, (out.get(t) || 0) + 1);
    }
    return out;
  }
  for (let t = 0; t < terminals; ++t) {
    const fold = grammar.fold(`terminal ${t}`, (other) => (other === t ? 1 : 0));
    const n = grammar.prefix(fold, last) - grammar.prefix(fold, first);
    if (n > 0) out.set(t, n);
  }
  return out;
}

/** Calls add(terminal, ns) for the time of each call of a row that lies in the window. */
function addTimes(model, row, from, to, first, last, add) {
  const part = (begin, end) => Math.min(end, to) - Math.max(begin, from);
  // The call before the first one may reach into the window.
  let seq = first > 0 && model.timeOf(row, first - 1).end > from ? first - 1 : first;
  while (seq < last) {
    const anchor = model.anchorAfter(row, seq);
    const isAnchor = anchor > row.anchors && model.anchorSeq[anchor - 1] === seq;
    const next = anchor < row.anchorsEnd ? Math.min(last, model.anchorSeq[anchor]) : last;
    if (isAnchor || next - seq <= 2) {
      const { begin, end } = model.timeOf(row, seq);
      add(model.terminal(row, seq), part(begin, end));
      ++seq;
      continue;
    }
    // Between anchors calls have their mean durations, scaled alike.
    const s = model.stretch(row, anchor);
    for (const [t, n] of countTerminals(row, seq, next)) add(t, n * s.scale * model.mean(row.group, t));
    const { begin, end } = model.timeOf(row, next - 1);  // the last one may reach out of the window
    if (end > to) add(model.terminal(row, next - 1), part(begin, end) - (end - begin));
    seq = next;
  }
}

/** Messages that a call of a terminal sends: {peer, bytes}. */
function sendsOf(model, row, terminal) {
  const detail = row.group.details[terminal];
  if (!detail) return [];
  const end = (t) => {
    const { send, bytes } = row.group.details[t] || {};
    if (!send) return null;
    const found = model.messageEnd(row, t, 'send');
    return found && found.peer >= 0 ? { peer: found.peer, bytes: model.bytesOf(bytes, row) } : null;
  };
  if (detail.send && !detail.persistent) return [end(terminal)].filter(Boolean);
  return (detail.starts || []).map((id) => row.group.terminals.get(id)).filter((t) => t !== undefined).map(end).filter(Boolean);
}

function addWaits(model, row, from, to, out) {
  const { waiting, explained } = model;
  for (const i of waiting.ofRow(row)) {
    const begin = waiting.begin[i];
    const ns = Math.min(begin + waiting.ns[i], to) - Math.max(begin, from);
    if (!(ns > 0)) continue;
    const key = `${explained.pattern[i]} ${explained.path[i]} ${explained.call[i]}`;
    const sum = out.get(key) || { pattern: explained.pattern[i], path: explained.path[i], call: explained.call[i], ns: 0,
      count: 0, ranks: new Map() };
    sum.ns += ns;
    if (begin >= from && begin < to) ++sum.count;
    sum.ranks.set(row.rank, (sum.ranks.get(row.rank) || 0) + ns);
    out.set(key, sum);
  }
}

/** {functions, pairs, waits, runNs, mpiNs, calls, isExact, missing}: what the verbs say of this window. */
export function windowOf(model, from, to) {
  const functions = new Map();
  const pairs = new Map();
  const waits = new Map();
  const out = { runNs: 0, mpiNs: 0, calls: 0, missing: 0 };
  for (const row of model.rows) {
    const inside = Math.min(to, row.end) - Math.max(from, row.begin);
    if (inside > 0) out.runNs += inside;
    addWaits(model, row, from, to, waits);
    if (!row.grammar) {
      ++out.missing;
      continue;
    }
    const [first, last] = callsIn(model, row, from, to);
    const of = (terminal) => {
      const name = model.name(row.group, terminal);
      if (!functions.has(name)) functions.set(name, { call: name, count: 0, ns: 0 });
      return functions.get(name);
    };
    for (const [terminal, n] of countTerminals(row, first, last)) {
      of(terminal).count += n;
      out.calls += n;
      for (const { peer, bytes } of sendsOf(model, row, terminal)) {
        const key = `${row.rank} ${peer}`;
        const pair = pairs.get(key) || { source: row.rank, dest: peer, messages: 0, bytes: 0 };
        pair.messages += n;
        pair.bytes += n * bytes;
        pairs.set(key, pair);
      }
    }
    addTimes(model, row, from, to, first, last, (terminal, ns) => {
      if (!(ns !== 0)) return;
      of(terminal).ns += ns;
      out.mpiNs += ns;
    });
  }
  const sorted = (map, by) => [...map.values()].sort((a, b) => by(b) - by(a));
  return { ...out, functions: sorted(functions, (f) => f.ns), pairs: sorted(pairs, (p) => p.bytes),
    waits: sorted(waits, (w) => w.ns) };
}
