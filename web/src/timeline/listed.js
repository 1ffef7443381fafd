// Messages that counting cannot find, as the analysis of waiting matched them, and the channels that this is about.
// A message is {from, to, done}, each {row, seq}: the calls that send it, post its receive and complete that.

const kNone = [];

/** By row and call: a list of messages. */
class ByCall {
  constructor(rows) {
    this.rows = rows.map(() => null);
  }
  add({ row, seq }, message) {
    const calls = this.rows[row.index] || (this.rows[row.index] = new Map());
    const known = calls.get(seq);
    if (known) known.push(message);
    else calls.set(seq, [message]);
  }
  get(row, seq) {
    const calls = this.rows[row.index];
    return (calls && calls.get(seq)) || kNone;
  }
}

export class ListedMessages {
  constructor(data, rows) {
    this.json = data.json.messages;
    this.sent = new ByCall(rows);
    this.received = new ByCall(rows);
    this.completed = new ByCall(rows);
    const get = {};
    for (const name of ['to', 'to_seq', 'from', 'from_seq', 'done', 'done_seq']) get[name] = data.column(`message.${name}`);
    const posted = new Float64Array(rows.length);
    const sent = new Float64Array(rows.length);
    for (let i = 0; i < get.to.length; ++i) {
      const [from, to, done] = [get.from[i], get.to[i], get.to[i] + get.done[i]];
      const seq = (posted[to] += get.to_seq[i]);
      const message = { from: { row: rows[from], seq: sent[from] += get.from_seq[i] }, to: { row: rows[to], seq },
        done: { row: rows[done], seq: seq + get.done_seq[i] } };
      this.sent.add(message.from, message);
      this.received.add(message.to, message);
      if (message.done.row !== message.to.row || message.done.seq !== seq) this.completed.add(message.done, message);
    }
    this.readOpen(data);
  }
  readOpen(data) {
    this.whole = new Set(data.column('uncounted.rank'));
    this.open = new Map();  // rank -> [{comm, source, tag}], -1 for any
    const ranks = data.column('open.rank');
    const [comm, source, tag] = ['comm', 'source', 'tag'].map((name) => data.column(`open.${name}`));
    ranks.forEach((rank, i) => {
      if (!this.open.has(rank)) this.open.set(rank, []);
      this.open.get(rank).push({ comm: comm[i], source: source[i], tag: tag[i] });
    });
  }

  /** Whether the n-th send and the n-th receive on a channel are one message. */
  isCounted(comm, sender, receiver, tag) {
    if (this.whole.has(sender) || this.whole.has(receiver)) return false;
    return !(this.open.get(receiver) || kNone).some((end) => end.comm === -1 ||
      (end.comm === comm && (end.source === -1 || end.source === sender) && (end.tag === -1 || end.tag === tag)));
  }
  /** How many messages the page knows of and cannot draw. */
  get missing() {
    return this.json.uncounted - this.json.listed;
  }
}
