// Where the time and the bytes went: by function, by call site, and as a tree of call paths.
import { button, h, replace, section } from './dom.js';
import * as format from './format.js';
import { named } from './names.js';
import { state } from './state.js';
import { table } from './table.js';

function columns(profile, first) {
  return [...first,
    { title: 'calls', number: true, value: (r) => r.count, text: (r) => format.count(r.count), sum: format.count },
    { title: 'time', number: true, value: (r) => r.time_ns, text: (r) => format.duration(r.time_ns),
      share: (r) => r.mpi_share, sum: format.duration },
    { title: 'of MPI', number: true, value: (r) => r.mpi_share, text: (r) => format.percent(r.mpi_share), sum: format.percent },
    { title: 'of run', number: true, value: (r) => r.run_share, text: (r) => format.percent(r.run_share), sum: format.percent },
    { title: 'min', number: true, value: (r) => r.min_ns, text: (r) => format.duration(r.min_ns) },
    { title: 'mean', number: true, value: (r) => r.mean_ns, text: (r) => format.duration(r.mean_ns) },
    { title: 'max', number: true, value: (r) => r.max_ns, text: (r) => format.duration(r.max_ns) },
    { title: 'bytes', number: true, value: (r) => r.bytes, text: (r) => format.bytes(r.bytes), sum: format.bytes }];
}

const link = (links, text) => ({ title: 'where', value: () => 0, node: (r) => button('calls', () => links.show(text(r)),
  'Show these calls in the timeline') });

/** Nodes {label, count, time_ns, bytes, children, call, site}; paths are outermost first. */
function tree(profile) {
  const root = { label: '', count: 0, time_ns: 0, bytes: 0, children: new Map() };
  const step = (node, key, label, row) => {
    let child = node.children.get(key);
    if (!child) node.children.set(key, (child = { label, count: 0, time_ns: 0, bytes: 0, children: new Map() }));
    child.count += row.count;
    child.time_ns += row.time_ns;
    child.bytes += row.bytes;
    return child;
  };
  for (const row of profile.call_paths) {
    let node = root;
    let site = '';
    for (const place of row.path) {
      site = place.site || 'unknown';
      const label = place.in_function ? `${place.in_function} ${site}` : site;
      node = step(node, label, label, row);
    }
    node = step(node, `call ${row.call}`, row.call, row);
    node.call = row.call;
    node.site = site === 'unknown' ? '' : site;
  }
  return root;
}

function treeElement(node, all, links, depth) {
  const children = [...node.children.values()].sort((a, b) => b.time_ns - a.time_ns);
  return h('ul', depth === 0 ? { class: 'tree', 'aria-label': 'Call paths' } : {}, children.map((child) => {
    const numbers = h('span', { class: 'numbers' }, format.duration(child.time_ns), ' ',
      format.percent(all > 0 ? child.time_ns / all : 0), ' ', format.counted(child.count, 'call'));
    const bar = h('span', { class: 'tree-bar', 'aria-hidden': 'true' });
    bar.style.width = `${all > 0 ? (100 * child.time_ns) / all : 0}%`;
    if (child.call)
      return h('li', {}, bar, h('strong', {}, child.label), ' ', numbers, ' ',
        button('calls', () => links.show(`${child.call} ${child.site}`), 'Show these calls in the timeline'));
    return h('li', {}, bar, h('details', { open: depth < 3 }, h('summary', {}, named(child.label), ' ', numbers),
      treeElement(child, all, links, depth + 1)));
  }));
}

export function profileSection(data, links) {
  const { profile } = data.json;
  const box = h('div', { id: 'profile-table' });
  const views = {
    function: () => table(columns(profile, [{ title: 'function', value: (r) => r.call, text: (r) => r.call },
      link(links, (r) => r.call)]), profile.functions, { filter: (r) => r.call, caption: 'functions' }),
    site: () => table(columns(profile, [
      { title: 'site', value: (r) => r.site || '', node: (r) => h('span', { title: r.file || r.module || '' },
        r.site || 'unknown', r.in_function ? [' in ', named(r.in_function)] : '') },
      { title: 'function', value: (r) => r.call, text: (r) => r.call },
      link(links, (r) => `${r.call} ${r.site || ''}`)]), profile.sites,
    { filter: (r) => `${r.site} ${r.in_function} ${r.call} ${r.file}`, caption: 'call sites' }),
    path: () => treeElement(tree(profile), profile.all.time_ns, links, 0),
  };
  let by = 'function';
  const show = (key) => {
    by = key;
    tabs.querySelectorAll('button').forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.by === key)));
    replace(box, views[key]());
  };
  const tabs = h('div', { class: 'controls', role: 'group', 'aria-label': 'Profile by' },
    [['function', 'by function'], ['site', 'by call site'], ['path', 'by call path']].map(([key, text]) => {
      const tab = button(text, () => {
        show(key);
        state.changed();
      });
      tab.dataset.by = key;
      return tab;
    }));
  state.bind('profile', () => (by === 'function' ? null : by), (text) => show(Object.hasOwn(views, text) ? text : 'function'));
  show('function');
  return section('profile', 'Profile',
    'Look at the first rows: a function whose maximum is far above its mean waits for somebody; many calls with few ' +
    'bytes each could be one call.', tabs, box);
}

/** Sizes of messages, and what each collective took. */
export function collectiveTable(data, links) {
  const { functions } = data.json.timeline;
  const isCollective = new Set();
  const calls = data.column('signature.call');
  const classes = data.column('signature.class');
  const kind = data.json.timeline.classes.indexOf('collective');
  calls.forEach((call, i) => {
    if (classes[i] === kind) isCollective.add(functions[call]);
  });
  const rows = data.json.profile.functions.filter((row) => isCollective.has(row.call));
  if (rows.length === 0) return h('p', {}, 'The program calls no collective function.');
  return table(columns(data.json.profile, [{ title: 'collective', value: (r) => r.call, text: (r) => r.call },
    link(links, (r) => r.call)]), rows, { caption: 'collectives' });
}
