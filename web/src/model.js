// The run as the timeline sees it: rows (threads of ranks), their calls by number, and when each was.
import { runAt, runFind } from './data.js';
import { readBehaviours } from './segments.js';
import { readGrammars } from './grammar.js';
import { ListedMessages } from './timeline/listed.js';

/** The first index in [from, to) whose value is above `value`. */
function firstAbove(array, from, to, value) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (array[middle] <= value) from = middle + 1;
    else to = middle;
  }
  return from;
}

export class Model {
  constructor(data) {
    const json = data.json.timeline;
    this.json = json;
    this.info = data.json.info;
    this.hasTimes = json.has_times;
    this.begin = json.begin_ns;
    this.end = Math.max(json.end_ns, json.begin_ns + 1);
    this.isWhole = json.has_times && json.is_whole;
    this.bins = json.bins;
    this.share = data.column('table.share');
    this.classes = data.column('table.class');
    this.grammars = readGrammars(data);
    this.anchorSeq = data.column('anchor.seq');
    this.anchorBegin = data.column('anchor.begin');
    this.anchorLength = data.column('anchor.length');
    this.signature = {};
    for (const name of ['call', 'class', 'count', 'mean', 'min', 'max'])
      this.signature[name] = data.column(`signature.${name}`);
    this.readGroups(data);
    this.readRows(data);
    this.readWaits(data);
    this.behaviours = readBehaviours(data);
    this.listed = new ListedMessages(data, this.rows);
  }

  readGroups(data) {
    const sizes = data.column('group.signatures');
    const signatures = data.column('terminal.signature');
    const sites = data.column('terminal.site');
    const paths = data.column('terminal.path');
    let from = 0;
    this.groups = this.json.groups.map((group, number) => {
      const to = from + sizes[number];
      const out = { ...group, number, signatures: signatures.subarray(from, to), sites: sites.subarray(from, to),
        paths: paths.subarray(from, to), rows: [], terminals: new Map() };
      out.signatures.forEach((id, terminal) => out.terminals.set(id, terminal));
      from = to;
      return out;
    });
  }

  readRows(data) {
    const get = {};
    for (const name of ['rank', 'thread', 'group', 'grammar', 'calls', 'begin', 'end', 'anchors'])
      get[name] = data.column(`row.${name}`);
    let anchor = 0;
    this.rows = Array.from(get.rank, (rank, i) => {
      const group = this.groups[get.group[i]];
      const row = { index: i, rank, thread: get.thread[i], group, grammar: this.grammars[get.grammar[i]],
        calls: get.calls[i], begin: get.begin[i], end: get.end[i], anchors: anchor,
        anchorsEnd: anchor + get.anchors[i], place: runFind(group.members, rank) };
      anchor = row.anchorsEnd;
      group.rows.push(row);
      return row;
    });
    this.rowOf = new Map(this.rows.map((row) => [`${row.rank}.${row.thread}`, row]));
    this.rowOfRank = new Map(this.rows.map((row) => [row.rank, row]));  // of ranks with one thread
  }

  readWaits(data) {
    this.waits = new Map();  // "rank.thread.seq" -> number of the wait
    const rank = data.column('explained.rank');
    const thread = data.column('explained.thread');
    const seq = data.column('explained.seq');
    this.explained = { rank, thread, seq };
    for (const name of ['pattern', 'ns', 'partner', 'partner_seq', 'path', 'call', 'begin'])
      this.explained[name] = data.column(`explained.${name}`);
    for (let i = rank.length - 1; i >= 0; --i) this.waits.set(`${rank[i]}.${thread[i]}.${seq[i]}`, i);
    const { waits, messages } = data.json;
    const byRow = new Map();
    rank.forEach((r, i) => {
      const row = this.rowOf.get(`${r}.${thread[i]}`);
      if (!row) return;
      if (!byRow.has(row)) byRow.set(row, []);
      byRow.get(row).push(i);
    });
    // A wait lies at the begin of its call, where the timeline shows that (the analysis may have moved times that
    // contradict each other). `isWhole`: the page has all of them, not only the longest. Completions, waits for the last
    // to leave a collective, are only in the sums.
    const begin = this.explained.begin.map((ns, i) => {
      const row = this.rowOf.get(`${rank[i]}.${thread[i]}`);
      return row && row.grammar ? this.timeOf(row, seq[i]).begin : ns;
    });
    this.hasCompletions = waits !== null && data.column('waits.pattern').some((p) => waits.patterns[p].name.endsWith('completion'));
    this.waiting = { begin, ns: this.explained.ns, ofRow: (row) => byRow.get(row) || [],
      isWhole: waits !== null && rank.length >= waits.counts.waits,
      table: { rows: messages.wait_rows, columns: messages.wait_columns, share: data.column('waits.share') } };
    this.late = {};  // messages that were waited for longest
    for (const name of ['from', 'from_ns', 'to', 'to_ns']) this.late[name] = data.column(`late.${name}`);
    this.recorder = {};
    for (const name of ['row', 'begin', 'length']) this.recorder[name] = data.column(`own.${name}`);
  }

  // --- what a call is ---
  terminal(row, seq) {
    return row.grammar.terminal(seq);
  }
  name(group, terminal) {
    return this.json.functions[this.signature.call[group.signatures[terminal]]];
  }
  classOf(group, terminal) {
    return this.signature.class[group.signatures[terminal]];
  }
  mean(group, terminal) {
    return this.signature.mean[group.signatures[terminal]];
  }
  site(group, terminal) {
    return this.json.sites[group.sites[terminal]];
  }
  path(group, terminal) {
    return this.json.paths[group.paths[terminal]];
  }
  /** Parameters as text, and whether they are those of this rank. */
  parameters(row, terminal) {
    const detail = row.group.details[terminal];
    if (!detail) return null;
    const own = row.place < row.group.detailed;
    const at = own ? row.place : 0;
    const { texts, which, holes } = detail.text;
    const form = runAt(which, at);
    let before = 0;
    if (texts.length > 1) for (let i = 0; i < at; ++i) if (runAt(which, i) === form) ++before;
    let hole = 0;
    const numberAt = texts.length > 1 ? before : at;
    return { text: texts[form].replace(/\u0001/g, () => runAt(holes[form][hole++], numberAt)), own };
  }
  /** {comm, peer, tag} of an end of a message on this rank, or null. Peers are ranks of the world. */
  messageEnd(row, terminal, kind) {
    const detail = row.group.details[terminal];
    if (!detail || !detail[kind] || row.place >= row.group.detailed) return null;
    const [comm, peer, tag] = detail[kind].map((runs) => runAt(runs, row.place));
    return { comm, peer, tag };
  }

  /** A number of each rank of a group, as runs; 0 where it is not known. */
  bytesOf(runs, row) {
    return runs === undefined ? 0 : runAt(runs, row.place) || 0;
  }

  // --- when a call was ---
  weights(row) {
    return row.grammar.fold(`mean ${row.group.number}`, (terminal) => this.mean(row.group, terminal));
  }
  /** The calls around number seq that no anchor places: numbers [first, last) between two times. */
  stretch(row, anchor) {
    const has = (i) => i >= row.anchors && i < row.anchorsEnd;
    const before = has(anchor - 1);
    const after = has(anchor);
    const first = before ? this.anchorSeq[anchor - 1] + 1 : 0;
    const last = after ? this.anchorSeq[anchor] : row.calls;
    const from = before ? this.anchorBegin[anchor - 1] + this.anchorLength[anchor - 1] : row.begin;
    const to = Math.max(from, after ? this.anchorBegin[anchor] : row.end);
    if (last <= first) return { first, last, from, to };  // the usual case: nothing between two anchors
    const weights = this.weights(row);
    const base = row.grammar.prefix(weights, first);
    const sum = row.grammar.prefix(weights, last) - base;
    const calls = last - first;
    const scale = sum > to - from ? (to - from) / sum : 1;
    const gap = Math.max(0, (to - from - sum * scale) / Math.max(1, calls + (before ? 1 : 0)));
    return { first, last, from, to, base, scale, gap, lead: before ? gap : 0 };
  }
  anchorAfter(row, seq) {
    return firstAbove(this.anchorSeq, row.anchors, row.anchorsEnd, seq);
  }
  /** {begin, end, exact} */
  timeOf(row, seq) {
    const anchor = this.anchorAfter(row, seq);
    if (anchor > row.anchors && this.anchorSeq[anchor - 1] === seq) {
      const begin = this.anchorBegin[anchor - 1];
      return { begin, end: begin + this.anchorLength[anchor - 1], exact: this.hasTimes };
    }
    if (!row.grammar) return this.timeBetween(row, anchor, seq);
    const s = this.stretch(row, anchor);
    const sum = row.grammar.prefix(this.weights(row), seq) - s.base;
    const begin = s.from + s.lead + s.scale * sum + s.gap * (seq - s.first);
    return { begin, end: begin + s.scale * this.mean(row.group, this.terminal(row, seq)), exact: false };
  }
  /** Of a call whose kind is not known: between those that have times, evenly. */
  timeBetween(row, anchor, seq) {
    const before = anchor > row.anchors ? anchor - 1 : -1;
    const after = anchor < row.anchorsEnd ? anchor : -1;
    const first = before < 0 ? -1 : this.anchorSeq[before];
    const last = after < 0 ? row.calls : this.anchorSeq[after];
    const from = before < 0 ? row.begin : this.anchorBegin[before] + this.anchorLength[before];
    const to = Math.max(from, after < 0 ? row.end : this.anchorBegin[after]);
    const begin = from + ((to - from) * (seq - first)) / (last - first);
    return { begin, end: begin, exact: false };
  }
  /** The last call that begins at or before `ns`; -1 when none does. */
  callAt(row, ns) {
    if (!row.grammar || row.calls === 0) return -1;
    const anchor = firstAbove(this.anchorBegin, row.anchors, row.anchorsEnd, ns);
    const s = this.stretch(row, anchor);
    const known = anchor > row.anchors ? this.anchorSeq[anchor - 1] : -1;
    if (s.last <= s.first || ns < s.from + s.lead) return known;
    const target = s.scale * s.base + s.gap * s.first + (ns - s.from - s.lead);
    const seq = row.grammar.locate(this.weights(row), s.scale, s.gap, target);
    return Math.min(Math.max(seq, s.first), s.last - 1);
  }
}
