// One row of the timeline as pixels. Only what the view shows at its resolution is looked at: of a rule that
// is narrower than a pixel its totals, of a loop its visible rounds.

const kFewCalls = 20000;  // of the whole page: these are always drawn one by one
const kDeepest = 3000;  // rules inside of each other; a program's loops are far from it
const kDim = 0.2;       // of calls that a search did not find
const kVisiblePx = 3;   // from here on a call has a name
const kNamedPx = 8;      // from here on a row is high enough for that
const kMostTables = 64;  // made for one picture
const kLeastPx = 0.25;   // width that a call has where there is nothing else: it is there all the same
export const kMostSenders = 400;  // whose messages may be drawn

export class Strip {
  /** kinds: how many; 0 is nothing. */
  constructor(width, kinds) {
    this.width = width;
    this.kinds = kinds;
    this.cover = new Float32Array(width * kinds);
    this.faint = new Float32Array(width * kinds);  // what calls would cover beyond their time
  }
  clear() {
    this.cover.fill(0);
    this.faint.fill(0);
  }
  /** As it was left by another one of the same width. */
  set(other) {
    this.cover.set(other.cover);
    this.faint.set(other.faint);
  }
  /** A call: of one that takes hardly any time a trace at least, in pixels that are empty otherwise. */
  addCall(x0, x1, c, part) {
    this.add(x0, x1, c, part);
    if (x1 - x0 < kLeastPx) this.add(Math.max(x0, x1), x0 + kLeastPx, c, part, this.faint);
  }
  /** From x0 to x1 in pixels, of kind c, this much of it. */
  add(x0, x1, c, part, into = this.cover) {
    if (!(x1 > 0) || !(x0 < this.width)) return;
    x0 = Math.max(x0, 0);
    x1 = Math.min(x1, this.width);
    const first = Math.floor(x0);
    const last = Math.min(Math.floor(x1), this.width - 1);
    for (let x = first; x <= last; ++x) {
      const share = Math.min(x1, x + 1) - Math.max(x0, x);
      if (share > 0) into[x * this.kinds + c] += share * part;
    }
  }
  /** How much of pixel x is covered, and by what most. Many short calls do not hide a long one. */
  at(x) {
    const found = this.most(x, 0);
    return found.sum < kLeastPx ? this.most(x, 1) : found;
  }
  most(x, faint) {
    let sum = 0;
    let best = 0;
    let most = 0;
    for (let c = 1; c < this.kinds; ++c) {
      const i = x * this.kinds + c;
      const v = this.cover[i] + faint * this.faint[i];
      sum += v;
      if (v > most) {
        most = v;
        best = c;
      }
    }
    return { sum, best };
  }
  /** Into 32-bit pixels; `base`: the colour of the empty row. */
  colour(out, base, palette) {
    for (let x = 0; x < this.width; ++x) {
      const { sum, best } = this.at(x);
      const level = sum > 0 ? 0.12 + 0.88 * Math.min(sum, 1) : 0;
      const to = palette[best];
      const r = base[0] + (to[0] - base[0]) * level;
      const g = base[1] + (to[1] - base[1]) * level;
      const b = base[2] + (to[2] - base[2]) * level;
      out[x] = 0xff000000 | (b << 16) | (g << 8) | r;
    }
  }
}

/** Time in each kind of calls, by rule; only kinds that the group's calls have. */
function kindFolds(model, row, kinds) {
  const folds = [];
  const used = new Set(Array.from(row.group.signatures, (_, terminal) => kinds.of(row.group, terminal)));
  for (const c of used) {
    const weightOf = (t) => (kinds.of(row.group, t) === c ? model.mean(row.group, t) : 0);
    const fold = row.grammar.fold(`${kinds.name} ${c} of ${row.group.number}`, weightOf);
    if (c > 0 && fold.rule[0] > 0) folds.push([c, fold]);
  }
  return folds;
}

/** Draws the calls of a row between two times into a strip. */
export class RowPainter {
  /** view: {from, to, width}; search: Set of terminals by group number, or null. */
  constructor(model, view, search, kinds) {
    this.model = model;
    this.kinds = kinds;
    this.view = view;
    this.scale = view.width / (view.to - view.from);
    this.search = search;
    this.visible = [];  // calls wide enough for a name: {row, seq, terminal, x0, x1}
    this.senders = [];  // calls that send, wide or not: {row, seq}
    this.calls = 0;     // drawn one by one
    this.twins = new Map();
    this.named = true;
  }
  x(ns) {
    return (ns - this.view.from) * this.scale;
  }

  /** Whether the table of times is fine enough for this view: the lower the rows, the coarser it may be. */
  usesTable(height) {
    const { model } = this;
    if (model.bins === 0 || this.search) return false;
    if (model.isWhole && model.anchorBegin.length <= kFewCalls && height >= kNamedPx) return false;
    return ((model.end - model.begin) / model.bins) * this.scale <= (height < 4 ? 24 : 2);
  }

  /** height: of the row in pixels; low ones have no names, arrows or waits. */
  paint(row, strip, height) {
    this.named = height >= kNamedPx;
    if (this.kinds.name === 'behaviour') {
      this.paintSegments(row, strip);
      return;
    }
    if (!row.grammar || this.usesTable(height)) {
      this.paintTable([row], strip);
      return;
    }
    const same = this.twins.get(row.group.number);
    if (same && Math.abs(same.row.end - row.end) * this.scale < 0.5 && same.row.begin === row.begin) {
      strip.set(same);
      return;
    }
    const before = this.visible.length + this.senders.length;
    this.paintCalls(row, strip);
    // Without times, ranks of a group differ in their length at most.
    if (row.anchors === row.anchorsEnd && this.visible.length + this.senders.length === before)
      this.twins.set(row.group.number, { row, cover: strip.cover.slice(), faint: strip.faint.slice() });
  }

  /** The mean of some rows. */
  paintTable(all, strip) {
    const { model, view } = this;
    const step = this.kinds.name === 'category' ? 1 : Math.ceil(all.length / kMostTables);
    const rows = step > 1 ? all.filter((_, i) => i % step === 0) : all;
    const binNs = (model.end - model.begin) / model.bins;
    const first = Math.max(0, Math.floor((view.from - model.begin) / binNs));
    const last = Math.min(model.bins - 1, Math.floor((view.to - model.begin) / binNs));
    const part = 1 / (255 * rows.length);
    const tables = rows.map((row) => this.kinds.table(model, row));
    for (let b = first; b <= last; ++b) {
      const x0 = this.x(model.begin + b * binNs);
      const x1 = this.x(model.begin + (b + 1) * binNs);
      for (const { share, kind } of tables) if (share[b] > 0) strip.add(x0, x1, kind[b], share[b] * part);
    }
  }

  /** Of each segment the colour of what stands for it. */
  paintSegments(row, strip) {
    const { segments } = this.model.behaviours;
    for (const i of this.model.behaviours.ofRow(row)) {
      const x0 = this.x(segments.start[i]);
      const x1 = this.x(segments.start[i] + segments.length[i]);
      if (x1 < 0 || x0 > strip.width) continue;
      strip.add(x0, Math.max(x1 - (x1 - x0 > 4 ? 1 : 0), x0 + kLeastPx), this.kinds.kindOfBehaviour(segments.row[i]), 1);
    }
  }

  paintCalls(row, strip) {
    const { model, view } = this;
    this.row = row;
    this.strip = strip;
    this.folds = kindFolds(model, row, this.kinds);
    this.weights = model.weights(row);
    this.found = this.search ? this.search.get(row.group.number) : null;
    const seq = Math.max(0, model.callAt(row, view.from));
    let anchor = model.anchorAfter(row, seq);
    if (anchor > row.anchors && model.anchorSeq[anchor - 1] >= seq) --anchor;
    for (;;) {
      const s = model.stretch(row, anchor);
      if (s.last > s.first && s.to > view.from && s.from < view.to) this.paintStretch(s);
      if (anchor >= row.anchorsEnd || s.to > view.to) break;
      const begin = model.anchorBegin[anchor];
      this.call(model.anchorSeq[anchor], begin, begin + model.anchorLength[anchor]);
      ++anchor;
    }
  }

  call(seq, begin, end, known) {
    const x0 = this.x(begin);
    const x1 = this.x(end);
    if (x1 < 0 || x0 > this.strip.width) return;
    const terminal = known === undefined ? this.model.terminal(this.row, seq) : known;
    const isFound = !this.found || this.found.has(terminal);
    const c = this.kinds.of(this.row.group, terminal);
    this.strip.addCall(x0, x1, c, isFound ? 1 : kDim);
    ++this.calls;
    if (!this.named) return;
    if (this.senders.length < kMostSenders && this.sends(terminal, seq)) this.senders.push({ row: this.row, seq });
    if (x1 - x0 >= kVisiblePx) this.visible.push({ row: this.row, seq, terminal, x0, x1, isFound });
  }

  sends(terminal, seq) {
    const detail = this.row.group.details[terminal];
    if (detail !== undefined) return detail.send !== undefined || detail.starts !== undefined;
    return this.model.listed.sent.get(this.row, seq).length > 0;
  }

  paintStretch(s) {
    this.s = s;
    this.clipFrom = Math.max(this.view.from, s.from);
    this.clipTo = Math.min(this.view.to, s.to);
    this.onePx = 1 / this.scale;
    this.visit(0, s.from + s.lead - s.scale * s.base - s.gap * s.first, 0, 0);
  }

  /** Where symbol i begins within its rule. */
  at(i) {
    return this.s.scale * this.weights.before[i] + this.s.gap * this.row.grammar.length.before[i];
  }

  visit(rule, time, seq, depth) {
    const { grammar } = this.row;
    const end = grammar.end[rule];
    let i = this.symbolAt(rule, this.clipFrom - time);
    while (i < end) {
      const start = time + this.at(i);
      if (start > this.clipTo) return;
      const id = grammar.id(i);
      const isRule = grammar.isRule(i);
      const once = this.s.scale * this.weights.once(grammar, i) + this.s.gap * (isRule ? grammar.length.rule[id] : 1);
      const count = grammar.count[i];
      if (once * count < this.onePx || depth > kDeepest) {
        // A pixel's worth of symbols at once.
        const next = Math.max(i + 1, this.symbolAt(rule, start + this.onePx - time));
        this.block(rule, i, next, time);
        i = next;
        continue;
      }
      if (once < this.onePx) this.block(rule, i, i + 1, time);
      else this.rounds(i, id, isRule, start, once, seq + grammar.length.before[i], depth);
      ++i;
    }
  }

  /** The visible ones of `count` times a symbol. */
  rounds(i, id, isRule, start, once, seq, depth) {
    const { grammar } = this.row;
    const first = Math.max(0, Math.floor((this.clipFrom - start) / once));
    const last = Math.min(grammar.count[i] - 1, Math.floor((this.clipTo - start) / once));
    for (let k = first; k <= last; ++k) {
      const begin = start + k * once;
      if (isRule) {
        this.visit(id, begin, seq + k * grammar.length.rule[id], depth + 1);
      } else if (seq + k >= this.s.first && seq + k < this.s.last) {
        this.call(seq + k, begin, begin + this.s.scale * this.weights.weightOf(id), id);
      }
    }
  }

  /** The symbol of a rule that is there `ns` after the rule's begin. */
  symbolAt(rule, ns) {
    let low = this.row.grammar.begin(rule);
    let high = this.row.grammar.end[rule];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.at(middle) <= ns) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Symbols [first, last) of a rule as one, by their totals. */
  block(rule, first, last, time) {
    const { grammar } = this.row;
    const end = grammar.end[rule];
    const from = Math.max(time + this.at(first), this.clipFrom);
    const length = grammar.length;
    const whole = last < end ? this.at(last) : this.s.scale * this.weights.rule[rule] + this.s.gap * length.rule[rule];
    const to = Math.min(time + whole, this.clipTo);
    const all = whole - this.at(first);
    if (!(to > from) || !(all > 0)) return;
    const sum = (fold) => (last < end ? fold.before[last] : fold.rule[rule]) - fold.before[first];
    const bright = this.found ? kDim + (1 - kDim) * this.foundShare(sum) : 1;
    for (const [c, fold] of this.folds) {
      const part = (this.s.scale * sum(fold)) / all;
      if (part > 0) this.strip.add(this.x(from), this.x(to), c, part * bright);
    }
  }

  foundShare(sum) {
    const key = this.found;
    const fold = this.row.grammar.fold(key, (t) => (key.has(t) ? 1 : 0));
    const all = sum(this.row.grammar.length);
    return all > 0 ? sum(fold) / all : 0;
  }
}
