// Ranks that stand for others: a map of clusters, the leads as a tree, and times before and after.
import { h, section } from './dom.js';
import * as format from './format.js';
import { rankLayout, rankMap, spreadText } from './ranks.js';

const kRow = 18;     // of the tree, in pixels
const kWide = 420;
const kLabel = 190;
const kNames = ['same calls and partners', 'other partners', 'other calls'];
const kSvg = 'http://www.w3.org/2000/svg';

/** Null for a trace in which every rank stands for itself. */
export function clustersSection(data, links) {
  const { clusters } = data.json;
  if (!clusters) return null;
  const layout = rankLayout(data, clusters.cells, clusters.block);
  const of = data.column('clusters.of');
  const columns = { own: data.column('clusters.own_ns'), shown: data.column('clusters.shown_ns'),
    sends: data.column('clusters.sends'), leadSends: data.column('clusters.lead_sends') };
  const name = (c) => (clusters.list[c]
    ? `lead ${clusters.list[c].lead}, ${format.counted(clusters.list[c].ranks, 'rank')}` : '');
  const map = (title, values, text, spread) => h('figure', {},
    h('figcaption', {}, h('strong', {}, title), ' ', spread), rankMap(layout, values, text, `${title} by rank`,
      (rank) => links.show('MPI_', rank)));
  return section('clusters', 'Clusters',
    'A few ranks, the leads, stand for all. Look for members that take other times than their lead: where the two maps ' +
    'of times differ, the lead says little of them.',
    h('p', { class: 'hint' }, `${clusters.list.length} leads by ${clusters.method}, ${clusters.endpoints} endpoints; ` +
      `${clusters.stood_for_ranks} ranks are stood for. `,
    clusters.replayable ? 'It can be replayed.' : `It cannot be replayed: ${clusters.why_not}.`),
    h('div', { class: 'maps' },
      map('Cluster', of, name, `${clusters.list.length} clusters`),
      map('Mean time of a call, before', columns.own, format.duration, spreadText(columns.own, format.duration)),
      map('Mean time of a call, after', columns.shown, format.duration, spreadText(columns.shown, format.duration)),
      map('Sends, before', columns.sends, format.count, spreadText(columns.sends, format.count)),
      map('Sends of the lead', columns.leadSends, format.count, spreadText(columns.leadSends, format.count))),
    clusters.joins.length > 0 ? h('figure', { class: 'dendrogram' },
      h('figcaption', {}, h('strong', {}, 'Leads'), ' in the order in which they would become one, the nearest first; ' +
        'a line says in what they differ'), tree(clusters)) : null);
}

/** The leads one below the other, in an order in which no lines cross. */
function tree({ list, joins }) {
  const order = [];
  const visit = (node) => {
    if (node < list.length) order.push(node);
    else joins[node - list.length].slice(0, 2).forEach(visit);
  };
  visit(list.length + joins.length - 1);
  const at = new Array(list.length + joins.length);  // [x, y] of each branch
  order.forEach((lead, row) => {
    at[lead] = [0, (row + 0.5) * kRow];
  });
  // By the order of joins: many are equally far where ranks differ in calls.
  const x = (join) => ((join + 1) / (joins.length + 1)) * (kWide - kLabel);
  const svg = element('svg', { width: kWide, height: (order.length + 1) * kRow, role: 'img',
    'aria-label': 'Leads by how far they are from each other' });
  order.forEach((lead) => {
    const text = element('text', { x: 0, y: at[lead][1] + 4, class: 'lead' });
    text.textContent = `rank ${list[lead].lead} for ${list[lead].ranks}: ${list[lead].members[0] || ''}`;
    svg.append(text);
  });
  joins.forEach(([left, right, height], i) => {
    const [a, b] = [at[left], at[right]];
    const to = x(i);
    at[list.length + i] = [to, (a[1] + b[1]) / 2];
    svg.append(element('path', { d: `M${kLabel + a[0]} ${a[1]}H${kLabel + to}V${b[1]}H${kLabel + b[0]}`, class: 'join' },
      kNames[Math.min(2, Math.floor(height))]));
  });
  return svg;
}

function element(tag, attributes, title) {
  const out = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, String(value));
  if (title) {
    const words = document.createElementNS(kSvg, 'title');
    words.textContent = title;
    out.append(words);
  }
  return out;
}
