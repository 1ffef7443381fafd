// A number of each rank as a small map, laid out as the program's own grid where it has one.
import { amount, amountCss, amountLegend, inkOn, themed } from './colours.js';
import { canvasBox, h, placeIn, replace, tip } from './dom.js';

const kLargest = 30;  // side of a rank's cell in pixels
const kLabelled = 15;  // from here on a cell has its rank's number in it
const kSmall = 32;    // up to so many ranks a cell has 8 pixels at least

/** {columns, rows, at(rank) -> [x, y], name}; a third dimension and more lie side by side. */
export function rankLayout(data, cells, block) {
  const { grid } = data.json;
  const place = new Map();
  if (grid && block === 1) {
    const ranks = data.column('grid.rank');
    const { dims } = grid;
    const across = dims[dims.length - 1];
    const down = dims.length > 1 ? dims[dims.length - 2] : 1;
    const slices = ranks.length / (across * down);
    const perLine = dims.length === 1 ? 1 : Math.max(1, Math.round(Math.sqrt((slices * down) / across)));
    const wide = slices > 1 ? across + 1 : across;
    const tall = slices > 1 ? down + 1 : down;
    ranks.forEach((rank, cell) => {
      const slice = Math.floor(cell / (across * down));
      const inside = cell % (across * down);
      place.set(rank, [(slice % perLine) * wide + (inside % across),
        Math.floor(slice / perLine) * tall + Math.floor(inside / across)]);
    });
    if (dims.length > 1)
      return { columns: Math.min(slices, perLine) * wide, rows: Math.ceil(slices / perLine) * tall,
        at: (rank) => place.get(rank), block, name: `${dims.join(' x ')} from ${grid.source}` };
  }
  const columns = cells <= kSmall ? Math.min(cells, 8) : Math.ceil(Math.sqrt(cells * 2));
  return { columns, rows: Math.ceil(cells / columns), block, at: (cell) => [cell % columns, Math.floor(cell / columns)],
    name: 'ranks in order, row by row' };
}

const hexOf = (rgb) => `#${rgb.map((v) => v.toString(16).padStart(2, '0')).join('')}`;

/** values by rank (or block); text(value) for people; onchoose(rank). */
export function rankMap(layout, values, text, label, onchoose) {
  let most = 0;
  for (const v of values) most = Math.max(most, v);
  const byPlace = new Map();
  for (let cell = 0; cell < values.length; ++cell) {
    const at = layout.at(cell);
    if (at) byPlace.set(at[1] * layout.columns + at[0], cell);
  }
  let cursor = -1;
  const margin = (width) => (Math.min(width / layout.columns, kLargest) >= kLabelled ? 0 : 24);
  const size = (width) => Math.min((width - margin(width)) / layout.columns, kLargest);
  const tall = (width) => {
    const wanted = layout.rows * (byPlace.size <= kSmall ? Math.max(size(width), 8) : Math.max(size(width), 2));
    return Math.ceil(Math.max(24, Math.min(byPlace.size <= kSmall ? Math.max(240, layout.rows * 10) : 240, wanted)));
  };
  const box = canvasBox({ 'aria-label': label }, tall, (context, width, height) => {
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, height);
    const w = size(width);
    const t = Math.min(Math.max(w, 8), height / layout.rows);
    const left = margin(width);
    box.canvas.dataset.cell = `${w},${t}`;
    const gap = Math.min(w, t) > 5 ? 1 : 0;
    context.font = `${Math.min(w, t) > 22 ? 10 : 8}px system-ui, sans-serif`;
    context.textBaseline = 'middle';
    for (const [place, cell] of byPlace) {
      const x = left + (place % layout.columns) * w;
      const y = Math.floor(place / layout.columns) * t;
      const level = most > 0 ? values[cell] / most : 0;
      context.fillStyle = most > 0 ? amountCss(level) : themed('--empty');
      context.fillRect(x, y, Math.max(w - gap, 0.5), Math.max(t - gap, 0.5));
      if (left === 0 && Math.min(w, t) >= kLabelled) {
        context.fillStyle = most > 0 ? inkOn(hexOf(amount(level))) : themed('--soft');
        context.textAlign = 'center';
        context.fillText(String(cell * layout.block), x + (w - gap) / 2, y + (t - gap) / 2 + 0.5, w - 3);
        context.textAlign = 'start';
      } else if (left > 0 && place % layout.columns === 0 && (t >= 8 || Math.floor(place / layout.columns) % Math.ceil(9 / t) === 0)) {
        context.fillStyle = themed('--soft');
        context.fillText(String(cell * layout.block), 0, y + Math.min(t / 2, 6), left - 3);
      }
      if (cell !== cursor) continue;
      context.strokeStyle = themed('--ink');
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(w - 3, 2), Math.max(t - 3, 2));
    }
  });
  const name = (cell) => (layout.block === 1 ? `rank ${cell}`
    : `ranks ${cell * layout.block} to ${(cell + 1) * layout.block - 1}`);
  const cellAt = (event) => {
    const [px, py] = placeIn(box.canvas, event);
    const w = size(box.width);
    const t = Math.min(Math.max(w, 8), box.height / layout.rows);
    const column = Math.floor((px - margin(box.width)) / w);
    return column < 0 || column >= layout.columns ? undefined : byPlace.get(Math.floor(py / t) * layout.columns + column);
  };
  const status = h('span', { class: 'exact', role: 'status' });
  box.canvas.addEventListener('pointermove', (e) => {
    const cell = cellAt(e);
    if (cell === undefined) tip.hide();
    else tip.show(e.clientX, e.clientY, `${name(cell)}: ${text(values[cell])}`);
  });
  box.canvas.addEventListener('pointerleave', () => tip.hide());
  box.canvas.addEventListener('click', (e) => {
    const cell = cellAt(e);
    if (cell !== undefined && layout.block === 1 && onchoose) onchoose(cell);
  });
  box.canvas.addEventListener('keydown', (e) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -layout.columns, ArrowDown: layout.columns }[e.key];
    if (e.key === 'Enter' && cursor >= 0 && layout.block === 1 && onchoose) onchoose(cursor);
    if (by === undefined) return;
    e.preventDefault();
    const at = cursor < 0 ? [0, 0] : layout.at(cursor);
    const next = cursor < 0 ? byPlace.values().next().value : byPlace.get(at[1] * layout.columns + at[0] + by);
    if (next === undefined) return;
    cursor = next;
    status.textContent = `${name(cursor)}: ${text(values[cursor])}`;
    box.redraw();
  });
  const legend = h('div', { class: 'map-legend' });
  const fillLegend = () => {
    let least = Infinity;
    for (const v of values) least = Math.min(least, v);
    replace(legend, most > 0 ? amountLegend(h, least === most ? text(most) : text(0), text(most)) : 'nothing');
  };
  fillLegend();
  document.addEventListener('themechange', fillLegend);
  return h('div', { class: 'rank-map' }, box.box, legend, status);
}

/** "min, mean, max" of values. */
export function spreadText(values, text) {
  let least = Infinity;
  let most = -Infinity;
  let sum = 0;
  for (const v of values) {
    least = Math.min(least, v);
    most = Math.max(most, v);
    sum += v;
  }
  const mean = values.length > 0 ? sum / values.length : 0;
  return values.length === 0 ? '' : `${text(least)} to ${text(most)}, mean ${text(Math.round(mean))}`;
}
