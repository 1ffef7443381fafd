// Wait states, as CUBE shows them: metric, then call path, then rank; each pane holds what is chosen in the
// one before.
import { button, h, replace, section } from './dom.js';
import * as format from './format.js';
import { named } from './names.js';
import { rankLayout, rankMap, spreadText } from './ranks.js';
import { state } from './state.js';
import { table } from './table.js';

export class Waits {
  constructor(data, links) {
    this.links = links;
    this.data = data;
    this.json = data.json.waits;
    this.columns = {};
    for (const name of ['pattern', 'path', 'call', 'rank', 'ns', 'count']) this.columns[name] = data.column(`waits.${name}`);
    this.pattern = 0;
    this.path = null;  // null: all
    this.panes = [h('div', { class: 'pane' }), h('div', { class: 'pane' }), h('div', { class: 'pane' })];
    this.list = h('div');
  }
  element() {
    const { json } = this;
    if (!json)
      return section('waits', 'Wait states', 'Who waited for whom, and where.', h('p', {}, this.data.json.no_waits));
    this.fill();
    state.bind('wait', () => (this.pattern === 0 && this.path === null ? null
      : [json.patterns[this.pattern].name, ...(this.path === null ? [] : this.path.split(' '))].join(',')), (text) => {
      const [name, path, call] = (text || '').split(',');
      this.pattern = Math.max(0, json.patterns.findIndex((p) => p.name === name));
      this.path = json.paths[path] !== undefined && json.calls[call] !== undefined ? `${path} ${call}` : null;
      this.fill();
    });
    const unsure = Object.entries(json.counts).filter(([name, n]) => n > 0 &&
      !['calls', 'messages', 'collective_calls', 'waits'].includes(name));
    return section('waits', 'Wait states',
      'Choose a kind of waiting on the left, then where it happens, and see on which ranks. What waits go back to, ' +
      'below, is what to change: the rank named there does something for longer than the others.',
      h('div', { class: 'panes' }, this.panes), this.list, this.delays(), this.criticalPath(),
      unsure.length > 0 ? h('p', { class: 'hint' }, 'Less sure: ',
        unsure.map(([name, n]) => `${name.replace(/_/g, ' ')} ${format.count(n)}`).join(', ')) : null);
  }
  contains(outer, inner) {
    for (let p = inner; ; p = this.json.patterns[p].parent) {
      if (p === outer) return true;
      if (this.json.patterns[p].parent === p) return false;
    }
  }
  /** Sums over severities of a pattern and what it contains. */
  sums(pattern, keyOf) {
    const out = new Map();
    const { columns } = this;
    for (let i = 0; i < columns.ns.length; ++i) {
      if (!this.contains(pattern, columns.pattern[i])) continue;
      const key = keyOf(i);
      if (key === undefined) continue;
      const sum = out.get(key) || { ns: 0, count: 0 };
      sum.ns += columns.ns[i];
      sum.count += columns.count[i];
      out.set(key, sum);
    }
    return out;
  }
  share(ns) {
    return this.json.total_ns > 0 ? format.percent(ns / this.json.total_ns) : '-';
  }
  item(text, sum, chosen, onclick, depth = 0) {
    const out = h('button', { type: 'button', class: 'plain item', 'aria-pressed': String(chosen), onclick },
      h('span', {}, named(text)), h('span', { class: 'numbers' }, `${format.duration(sum.ns)} ${this.share(sum.ns)}`));
    out.style.paddingLeft = `${0.4 + depth}em`;
    return out;
  }
  fill() {
    const { json, columns } = this;
    const patterns = json.patterns.map((p, i) => ({ ...p, i, sum: this.sums(i, () => 0).get(0) || { ns: 0, count: 0 } }));
    replace(this.panes[0], h('h3', {}, 'Kind of waiting'), patterns.filter((p) => p.i === 0 || p.sum.ns > 0)
      .map((p) => this.item(p.title, p.sum, p.i === this.pattern, () => {
        this.pattern = p.i;
        this.path = null;
        this.fill();
        state.changed();
      }, p.depth)));
    const paths = this.sums(this.pattern, (i) => `${columns.path[i]} ${columns.call[i]}`);
    const sorted = [...paths].sort((a, b) => b[1].ns - a[1].ns);
    const names = (key) => key.split(' ').map(Number);
    replace(this.panes[1], h('h3', {}, 'Call path'),
      this.item('all', this.sums(this.pattern, () => 0).get(0) || { ns: 0 }, this.path === null, () => this.choosePath(null)),
      sorted.map(([key, sum]) => this.item(`${json.paths[names(key)[0]]} > ${json.calls[names(key)[1]]}`, sum,
        key === this.path, () => this.choosePath(key))));
    this.fillRanks();
    this.fillList();
  }
  choosePath(path) {
    this.path = path;
    this.fill();
    state.changed();
  }
  isOnPath(i) {
    return this.path === null || this.path === `${this.columns.path[i]} ${this.columns.call[i]}`;
  }
  fillRanks() {
    const { ranks } = this.data.json.matrix;
    const block = Math.max(1, Math.ceil(ranks / 16384));
    const values = new Float64Array(Math.ceil(ranks / block));
    for (const [rank, sum] of this.sums(this.pattern, (i) => (this.isOnPath(i) ? this.columns.rank[i] : undefined)))
      values[Math.floor(rank / block)] += sum.ns;
    replace(this.panes[2], h('h3', {}, 'Rank'), h('p', { class: 'hint' }, spreadText(values, format.duration)),
      rankMap(rankLayout(this.data, values.length, block), values, format.duration, 'Waiting by rank',
        (rank) => this.links.longestWait(rank, this.pattern)));
  }
  fillList() {
    const { json } = this;
    const get = (name) => this.data.column(`explained.${name}`);
    const rows = [];
    const pattern = get('pattern');
    for (let i = 0; i < pattern.length; ++i) {
      if (!this.contains(this.pattern, pattern[i])) continue;
      if (this.path !== null && this.path !== `${get('path')[i]} ${get('call')[i]}`) continue;
      rows.push(i);
    }
    replace(this.list, h('h3', {}, 'The calls behind it, the longest waits first'), table([
      { title: 'rank', number: true, value: (i) => get('rank')[i], text: (i) => get('rank')[i] },
      { title: 'waited', number: true, value: (i) => get('ns')[i], text: (i) => format.duration(get('ns')[i]), sum: format.duration },
      { title: 'for rank', number: true, value: (i) => get('partner')[i],
        text: (i) => (get('partner')[i] < 0 ? '-' : get('partner')[i]) },
      { title: 'kind', value: (i) => json.patterns[pattern[i]].title, text: (i) => json.patterns[pattern[i]].title },
      { title: 'call', value: (i) => json.calls[get('call')[i]], text: (i) => json.calls[get('call')[i]] },
      { title: 'where', value: (i) => get('seq')[i], node: (i) => button('show',
        () => this.links.goto(get('rank')[i], get('thread')[i], get('seq')[i]), 'Show this call in the timeline') },
    ], rows, { most: 8, caption: 'waits' }));
  }
  place(p) {
    return p.path === null ? this.json.calls[p.call] : `${this.json.calls[p.call]} at ${this.json.paths[p.path]}`;
  }
  /** Columns that say between which calls, or in which one. */
  stretch() {
    const from = (d) => (d.is_call ? 'in the call' : this.place(d.from));
    return [{ title: 'from', value: from, text: (d) => named(from(d)) },
      { title: 'to', value: (d) => this.place(d.to), text: (d) => named(this.place(d.to)) }];
  }
  /** What the page does not have, for the line "others" of a table. */
  rest(name, titles) {
    const rest = this.json[name];
    return rest && rest.count > 0 ? { count: rest.count, ...Object.fromEntries(titles.map((t) => [t, rest.ns])) } : null;
  }
  delays() {
    return h('div', {}, h('h3', {}, 'What waits go back to'), table([
      { title: 'rank', number: true, value: (d) => d.rank, text: (d) => (d.rank < 0 ? 'not known' : d.rank) },
      { title: 'costs', number: true, value: (d) => d.ns, text: (d) => format.duration(d.ns),
        sum: format.duration },
      { title: 'share', number: true, value: (d) => d.ns, text: (d) => this.share(d.ns), sum: (ns) => this.share(ns) },
      { title: 'kind', value: (d) => this.json.patterns[d.pattern].title, text: (d) => this.json.patterns[d.pattern].title },
      ...this.stretch()], this.json.delays,
    { most: 8, caption: 'causes', rest: this.rest('delays_rest', ['costs', 'share']) }));
  }
  criticalPath() {
    const { json } = this;
    const all = json.critical_ns;
    return h('div', {}, h('h3', {}, `Critical path: ${format.duration(all)}`), table([
      { title: 'rank', number: true, value: (d) => d.rank, text: (d) => d.rank },
      { title: 'time', number: true, value: (d) => d.ns, text: (d) => format.duration(d.ns), sum: format.duration },
      { title: 'of the path', number: true, value: (d) => d.ns, text: (d) => format.percent(d.ns / all),
        sum: (ns) => format.percent(ns / all) },
      ...this.stretch()], json.critical_path,
    { most: 6, caption: 'critical path', rest: this.rest('critical_path_rest', ['time', 'of the path']) }));
  }
}
