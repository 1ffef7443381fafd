// From one end of a message to the other, by counting: the n-th send on a channel (communicator, source,
// destination, tag) goes to the n-th receive on it. Both counts are sums over grammars. Where that does not hold, after
// receives from anybody and on ranks with several threads, messages are listed one by one (listed.js).

const kMostCalls = 20000;  // looked at for the completion of a receive

/** How many messages each call of the row begins on a channel, as a fold; null where nothing is on it. */
function channelFold(model, row, kind, comm, peer, tag) {
  if (!row.grammar) return null;
  const key = `${kind} ${comm} ${peer} ${tag} ${row.rank}`;
  const known = row.grammar.folds.get(key);
  if (known !== undefined) return known;
  const weights = new Map();
  const isOn = (terminal) => {
    const end = model.messageEnd(row, terminal, kind);
    return end && end.comm === comm && end.peer === peer && end.tag === tag;
  };
  row.group.details.forEach((detail, terminal) => {
    if (detail[kind] && !detail.persistent && isOn(terminal)) weights.set(terminal, 1);
    for (const signature of detail.starts || []) {
      const made = row.group.terminals.get(signature);
      if (made === undefined || !row.group.details[made][kind] || !isOn(made)) continue;
      weights.set(terminal, (weights.get(terminal) || 0) + 1);
    }
  });
  const fold = weights.size > 0 ? row.grammar.fold(key, (t) => weights.get(t) || 0) : null;
  row.grammar.folds.set(key, fold);
  return fold;
}

/** The call that completes the request of call seq on a channel: itself where it makes none; -1: not found. */
function completionOf(model, row, seq, channel) {
  const terminal = model.terminal(row, seq);
  const detail = row.group.details[terminal];
  if (!detail) return -1;
  const isOn = (id) => {
    const end = model.messageEnd(row, row.group.terminals.get(id), 'receive');
    return end && end.comm === channel.comm && end.peer === channel.sender && end.tag === channel.tag;
  };
  const wanted = new Set(detail.starts ? detail.starts.filter(isOn)
    : detail.request ? [row.group.signatures[terminal]] : []);
  if (wanted.size === 0) return seq;
  for (let next = seq + 1; next < Math.min(row.calls, seq + kMostCalls); ++next) {
    const other = row.group.details[model.terminal(row, next)];
    if (other && (other.completes || []).some((id) => wanted.has(id))) return next;
  }
  return -1;
}

/** What a call sends or receives itself, also when it starts persistent requests. */
function endsOf(model, row, seq, kind) {
  const terminal = model.terminal(row, seq);
  const detail = row.group.details[terminal];
  if (!detail) return [];
  if (detail[kind] && !detail.persistent) return [model.messageEnd(row, terminal, kind)];
  const made = (detail.starts || []).map((id) => row.group.terminals.get(id)).filter((t) => t !== undefined);
  return made.filter((t) => row.group.details[t][kind]).map((t) => model.messageEnd(row, t, kind));
}

/**
 * Messages that call seq sends (kind 'send') or receives: {from: {row, seq}, to: {row, seq}}, with the calls
 * that begin them; listed ones have `done` as well, the call that completes the receive.
 */
export function messagesOf(model, row, seq, kind) {
  const { listed } = model;
  const other = kind === 'send' ? 'receive' : 'send';
  const out = [...(kind === 'send' ? listed.sent : listed.received).get(row, seq)];
  if (!row.grammar) return out;
  const before = new Map();  // of a call with several on one channel
  const key = (end) => `${end.comm} ${end.peer} ${end.tag}`;
  for (const end of endsOf(model, row, seq, kind)) {
    if (!end || end.peer < 0 || end.tag < 0) continue;
    const [sender, receiver] = kind === 'send' ? [row.rank, end.peer] : [end.peer, row.rank];
    if (!listed.isCounted(end.comm, sender, receiver, end.tag)) continue;
    const own = channelFold(model, row, kind, end.comm, end.peer, end.tag);
    const peer = model.rowOfRank.get(end.peer);
    if (!own || !peer) continue;
    const theirs = channelFold(model, peer, other, end.comm, row.rank, end.tag);
    if (!theirs) continue;
    const number = row.grammar.prefix(own, seq) + (before.get(key(end)) || 0);
    before.set(key(end), (before.get(key(end)) || 0) + 1);
    const partner = peer.grammar.find(theirs, number);
    if (partner < 0) continue;
    const here = { row, seq };
    const there = { row: peer, seq: partner };
    const channel = { comm: end.comm, sender, tag: end.tag };
    out.push(kind === 'send' ? { from: here, to: there, channel } : { from: there, to: here, channel });
  }
  return out;
}

/** The call in which a message is received. */
export function doneOf(model, { to, done, channel }) {
  if (done) return done;
  const seq = completionOf(model, to.row, to.seq, channel);
  return seq < 0 ? to : { row: to.row, seq };
}

/** Messages that end in a completion: those of the requests that it completes. */
export function completedBy(model, row, seq) {
  const listed = model.listed.completed.get(row, seq);
  return row.grammar ? [...listed, ...countedBy(model, row, seq)] : listed;
}
function countedBy(model, row, seq) {
  const detail = row.group.details[model.terminal(row, seq)];
  if (!detail || !detail.completes) return [];
  const out = [];
  const wanted = new Set(detail.completes);
  for (let before = seq - 1; before >= Math.max(0, seq - 2000) && wanted.size > 0; --before) {
    const terminal = model.terminal(row, before);
    const id = row.group.signatures[terminal];
    if (!wanted.has(id)) continue;
    wanted.delete(id);
    out.push(...messagesOf(model, row, before, 'receive').filter((message) => !message.done));
  }
  return out;
}

/** All messages that a call has to do with. */
export function messagesAt(model, row, seq) {
  return [...messagesOf(model, row, seq, 'send'), ...messagesOf(model, row, seq, 'receive'),
    ...completedBy(model, row, seq)];
}
