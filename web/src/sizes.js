// How large messages are: a histogram by powers of two, drawn by uPlot, with its numbers as a table.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { themed } from './colours.js';
import { choice, h, replace, section } from './dom.js';
import * as format from './format.js';
import { collectiveTable } from './profile.js';
import { bindChoice } from './state.js';
import { table } from './table.js';

const kWidestBin = 160;
const kLabelPx = 96;  // of a bin's name
const kKinds = { p2p: ['messages', '#0072b2'], collective: ['collectives', '#009e73'], rma: ['one-sided', '#cc79a7'],
  io: ['files', '#c9b400'] };

/** Powers of ten from 1, a few of them where there are many. */
function powers(low, high) {
  const last = Math.floor(Math.log10(high));
  const step = Math.ceil((last + 1) / 7);
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => 10 ** (i * step));
}

const binOf = (bucket) => format.sizeBin(bucket === 0 ? 0 : 2 ** (bucket - 1));

/** Bars in the middle of their bin, of several kinds beside each other: uPlot's `disp`. `series`: by kind, then bin. */
function barsOf(series, kind, x) {
  const present = x.map((_, i) => series.map((values, k) => (values[i] === null ? -1 : k)).filter((k) => k >= 0));
  const width = (i) => 0.8 / Math.max(1.5, present[i].length);
  return uPlot.paths.bars({ disp: {
    x0: { unit: 1, values: () => x.map((b, i) => b + (present[i].indexOf(kind) - present[i].length / 2) * width(i)) },
    size: { unit: 1, values: () => x.map((_, i) => width(i)) } } });
}

function chart(sizes, metric) {
  const kinds = Object.keys(kKinds).filter((kind) => sizes.some((s) => s.kind === kind));
  const bucket = (s) => (s.from_bytes === 0 ? 0 : Math.round(Math.log2(s.from_bytes)) + 1);
  const first = Math.min(...sizes.map(bucket));
  const last = Math.max(...sizes.map(bucket));
  const x = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const series = kinds.map((kind) => x.map((b) => {
    const found = sizes.find((s) => s.kind === kind && bucket(s) === b);
    return found && found[metric] > 0 ? found[metric] : null;
  }));
  const box = h('div', { class: 'chart' });
  const text = metric === 'bytes' ? format.bytes : format.count;
  const make = () => {
    box.replaceChildren();
    const width = Math.max(260, Math.min(box.clientWidth, 80 + x.length * kWidestBin));
    const every = Math.ceil((x.length * kLabelPx) / (width - 80));
    box.dataset.bins = x.map(binOf).join(' ');
    const axis = { stroke: themed('--soft'), grid: { stroke: themed('--grid') }, ticks: { stroke: themed('--line') } };
    return new uPlot({
      width, height: 240, legend: { live: false }, cursor: { show: false },
      scales: { x: { time: false, range: [first - 0.5, last + 0.5] }, y: { distr: 3, log: 10,
        range: (u, low, high) => [0.5, Math.max(10, (high || 1) * 2)] } },
      axes: [{ ...axis, grid: { show: false }, splits: () => x, values: () => x.map((b) => ((b - first) % every === 0
        ? binOf(b) : '')) },
      { ...axis, splits: (u, i, low, high) => powers(low, high), values: (u, ticks) => ticks.map(text), size: 74 }],
      series: [{}, ...kinds.map((kind, k) => ({ label: kKinds[kind][0], stroke: themed('--ink'), width: 1,
        fill: kKinds[kind][1], points: { show: false }, paths: barsOf(series, k, x) }))],
    }, [x, ...series], box);
  };
  let plot = null;
  let shown = 0;
  const redo = () => {
    shown = box.clientWidth;
    if (plot) plot.destroy();
    plot = make();
  };
  new ResizeObserver(() => {
    if (!plot || Math.abs(shown - box.clientWidth) > 2) redo();
  }).observe(box);
  document.addEventListener('themechange', redo);
  return box;
}

export function sizesSection(data, links) {
  const { sizes } = data.json.profile;
  const box = h('div');
  const show = (metric) => replace(box, chart(sizes, metric), table([
    { title: 'kind', value: (r) => r.kind, text: (r) => kKinds[r.kind][0] },
    { title: 'size', number: true, value: (r) => r.from_bytes, text: (r) => format.sizeBin(r.from_bytes) },
    { title: 'transfers', number: true, value: (r) => r.transfers, text: (r) => format.count(r.transfers), sum: format.count },
    { title: 'bytes', number: true, value: (r) => r.bytes, text: (r) => format.bytes(r.bytes), sum: format.bytes }], sizes,
  { most: 8, caption: 'sizes' }));
  if (sizes.length > 0) show('transfers');
  return section('sizes', 'Sizes of messages, and collectives',
    'Look for very many small messages, which cost the network\'s latency each, and for collectives with a large share ' +
    'of the time.',
    sizes.length > 0 ? bindChoice('sizes', choice('Show', [['transfers', 'number'], ['bytes', 'bytes']], 'transfers', show),
      'transfers')
      : h('p', {}, 'Nothing was transferred.'), box, h('h3', {}, 'Collectives'), collectiveTable(data, links));
}
