// Which rows the timeline has, from top to bottom: groups of ranks that do the same, open or closed, or ranks.

const kOpenUpTo = 64;  // rows; with more, groups begin closed
export const kSmall = 32;  // up to so many ranks all rows are in sight, and high enough to read
const kHeights = [[4, 44], [8, 36], [16, 28], [kSmall, 24], [Infinity, 18]];  // [rows, pixels]
export const kGroupHeight = 18;

export class Layout {
  constructor(model) {
    this.model = model;
    this.order = 'groups';
    this.firstHeight = kHeights.find(([rows]) => model.rows.length <= rows)[1];
    this.rowHeight = this.firstHeight;
    this.isFit = false;
    const isSmall = model.rows.length <= kOpenUpTo;
    this.open = new Set(model.groups.filter((g) => isSmall || g.rows.length === 1).map((g) => g.number));
    this.build(400);
  }

  /** {kind: 'group' or 'row', group, row, y, height}, where a closed group stands for its rows. */
  build(space) {
    this.builtFor = space;
    const items = [];
    if (this.order === 'ranks') {
      for (const row of this.model.rows) items.push({ kind: 'row', row, group: row.group });
    } else {
      for (const group of this.model.groups) {
        if (group.rows.length === 0) continue;
        if (group.rows.length > 1) items.push({ kind: 'group', group, row: group.rows[0] });
        if (this.open.has(group.number) || group.rows.length === 1)
          for (const row of group.rows) items.push({ kind: 'row', row, group });
      }
    }
    const heads = items.filter((item) => item.kind === 'group').length;
    const rows = items.length - heads;
    const height = this.isFit && rows > 0 ? Math.max(0.05, (space - heads * kGroupHeight) / rows) : this.rowHeight;
    let y = 0;
    for (const item of items) {
      item.y = y;
      item.height = item.kind === 'group' ? kGroupHeight : height;
      y += item.height;
    }
    this.items = items;
    this.height = y;
  }

  toggle(group) {
    if (!this.open.delete(group.number)) this.open.add(group.number);
  }

  /** The number of the item at y, or -1. */
  at(y) {
    if (y < 0 || y >= this.height) return -1;
    let low = 0;
    let high = this.items.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.items[middle].y <= y) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The item of a row, whose group is opened for it. */
  find(row) {
    const isHere = (item) => item.kind === 'row' && item.row === row;
    let at = this.items.findIndex(isHere);
    if (at < 0) {
      this.open.add(row.group.number);
      this.build(this.space || 400);
      at = this.items.findIndex(isHere);
    }
    return at;
  }
}

/** Loops around a call, outermost first: {from, to, once, rounds} in numbers of calls. */
export function loopsAround(row, seq) {
  const out = [];
  const { grammar } = row;
  if (!grammar || seq < 0) return out;
  let rule = 0;
  let from = 0;
  for (;;) {
    let i = grammar.begin(rule);
    let low = i;
    let high = grammar.end[rule];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (from + grammar.length.before[middle] <= seq) low = middle;
      else high = middle;
    }
    i = low;
    const start = from + grammar.length.before[i];
    const isRule = grammar.isRule(i);
    const once = isRule ? grammar.length.rule[grammar.id(i)] : 1;
    const count = grammar.count[i];
    if (count > 1 || isRule) out.push({ from: start, to: start + once * count, once, rounds: count });
    if (!isRule) return out;
    rule = grammar.id(i);
    from = start + Math.floor((seq - start) / once) * once;
  }
}
