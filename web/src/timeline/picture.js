// The picture of the timeline: rows, names, waits, the chosen call, the selected stretch of time, names of rows, axis.
import { inkOn, rgb, themed } from '../colours.js';
import * as format from '../format.js';
import { Arrows } from './arrows.js';
import { drawRecorder } from './recorder.js';
import { RowPainter, Strip } from './strip.js';
import { WaitPainter } from './wait_painter.js';

export const kAxis = 24;
export const kLoop = 11;
export const kMostLoops = 3;
const kFrameMs = 12;  // for the rows, while the view moves; afterwards they are drawn in full
const kStillMs = 160;
const kLow = 4;       // height of rows, in pixels, of which some may be left out meanwhile
const kNamed = 11;    // from here on a row's calls have names
const kTall = 20;     // from here on a row is a bar with space around it

export class Picture {
  constructor(view) {
    this.view = view;
    this.arrows = new Arrows(view);
  }

  draw(context, width, height, ratio) {
    const { view } = this;
    const { layout } = view;
    const began = performance.now();
    const moves = began - (this.drawn || 0) < kStillMs;
    this.coarse = moves ? Math.min(Math.max(1, Math.ceil((this.cost || 0) / kFrameMs)), 16) : 1;
    this.context = context;
    layout.space = view.space;
    if (layout.isFit && layout.builtFor !== view.space) layout.build(view.space);
    view.scroll = Math.min(view.scroll, Math.max(0, layout.height - view.space));
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, height);
    const plot = { from: view.from, to: view.to, width: Math.max(1, Math.floor(view.plotWidth * ratio)) };
    this.painter = new RowPainter(view.model, plot, view.search, view.kinds);
    this.waits = new WaitPainter(view.model, plot);
    this.ratio = ratio;
    this.places = new Map();   // row index -> middle of its item
    this.heights = new Map();  // ... -> height
    this.drawRows(plot, ratio);
    this.drawCalls();
    drawRecorder(context, this);
    this.arrows.draw(context, this);
    this.drawSelection(height);
    this.drawGutter(height);
    this.drawAxis(width, height);
    this.drawn = performance.now();
    this.cost = (this.drawn - began) * this.coarse;
    clearTimeout(this.refine);
    if (this.coarse > 1) this.refine = setTimeout(() => view.box.redraw(), kStillMs + 20);
  }
  xOf(ns) {
    return this.view.gutter + this.painter.x(ns) / this.ratio;
  }
  clip() {
    const { view } = this;
    this.context.beginPath();
    this.context.rect(view.gutter, view.top, view.plotWidth, view.space);
    this.context.clip();
  }

  drawRows(plot, ratio) {
    const { layout, scroll, gutter, kinds } = this.view;
    const tall = Math.max(1, Math.floor(this.view.space * ratio));
    const image = this.context.createImageData(plot.width, tall);
    const pixels = new Uint32Array(image.data.buffer);
    const even = rgb(themed('--row'));
    const surface = rgb(themed('--surface'));
    const background = 0xff000000 | (surface[2] << 16) | (surface[1] << 8) | surface[0];
    const strip = new Strip(plot.width, kinds.count);
    const line = new Uint32Array(plot.width);
    const empty = new Uint32Array(plot.width).fill(background);
    let waits = null;  // the same line with its waits, for the lowest pixels of the row
    let shown = -1;
    for (let y = 0; y < tall; ++y) {
      const at = layout.at(y / ratio + scroll);
      const item = at < 0 ? null : layout.items[at];
      const inside = item ? (y / ratio + scroll - item.y) * ratio : 0;
      const isGap = item && item.height >= 5 && inside < (item.height >= kTall ? 3 : 1) * ratio;
      if (!item || isGap) {
        pixels.set(empty, y * plot.width);
        continue;
      }
      if (at !== shown && (item.height >= kLow || shown < 0 || y % this.coarse === 0)) {
        strip.clear();
        this.paintItem(item, strip);
        strip.colour(line, this.isOpenHead(item) ? surface : even, kinds.palette);
        waits = this.isOpenHead(item) ? null : this.waits.over(line, item);
        shown = at;
      }
      const isLow = waits && item.height * ratio - inside <= (item.height >= kTall ? 5 : 3) * ratio;
      pixels.set(isLow ? waits : line, y * plot.width);
    }
    this.context.putImageData(image, Math.floor(gutter * ratio), Math.floor(this.view.top * ratio));
  }
  /** The head of an open group: its rows are below it. */
  isOpenHead(item) {
    return item.kind === 'group' && this.view.layout.open.has(item.group.number);
  }
  paintItem(item, strip) {
    const { top, scroll } = this.view;
    this.places.set(item.row.index, top + item.y + item.height / 2 - scroll);
    this.heights.set(item.row.index, item.height);
    if (this.isOpenHead(item)) return;
    if (item.kind === 'group' && this.painter.usesTable(item.height)) this.painter.paintTable(item.group.rows, strip);
    else this.painter.paint(item.row, strip, item.height);
  }

  // Names in the calls that have room, waits, and the chosen call.
  drawCalls() {
    const { context, painter, view } = this;
    context.save();
    this.clip();
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (const call of painter.visible) this.drawCall(call);
    const chosen = view.chosen();
    if (chosen && chosen.seq >= 0 && this.places.has(chosen.row.index)) this.drawChosen(chosen);
    context.restore();
  }
  drawCall(call) {
    const { context } = this;
    const { gutter, plotWidth, kinds, model } = this.view;
    const y = this.places.get(call.row.index);
    const height = this.heights.get(call.row.index);
    const x0 = gutter + Math.max(0, call.x0 / this.ratio);
    const x1 = gutter + Math.min(plotWidth, call.x1 / this.ratio);
    if (height < kNamed) return;
    if (call.x1 - call.x0 > 6) {
      context.fillStyle = themed('--surface');
      context.fillRect(gutter + call.x1 / this.ratio - 0.5, y - height / 2 + 1, 0.8, height - 1);
    }
    if (x1 - x0 < 20) return;
    const kind = kinds.of(call.row.group, call.terminal);
    context.fillStyle = call.isFound ? inkOn(kinds.colours[kind]) : themed('--ink');
    const name = model.name(call.row.group, call.terminal).replace(/^MPI_/, '');
    const time = model.timeOf(call.row, call.seq);
    for (const text of [`${name}  ${format.duration(time.end - time.begin)}`, name]) {
      if (context.measureText(text).width >= x1 - x0 - 6) continue;
      context.fillText(text, x0 + 3, y + 0.5);
      break;
    }
  }
  drawChosen(chosen) {
    const { context } = this;
    const time = this.view.model.timeOf(chosen.row, chosen.seq);
    const x0 = this.xOf(time.begin);
    const x1 = this.xOf(time.end);
    const y = this.places.get(chosen.row.index);
    const tall = Math.max(16, this.heights.get(chosen.row.index) - 2);
    context.strokeStyle = themed('--ink');
    context.lineWidth = 2;
    context.strokeRect(x0 - 1, y - tall / 2, Math.max(2, x1 - x0 + 2), tall);
  }

  drawSelection(height) {
    const { context, view } = this;
    const { selection } = view;
    if (!selection) return;
    const x0 = this.xOf(selection.from);
    const x1 = this.xOf(selection.to);
    context.save();
    context.beginPath();
    context.rect(view.gutter, 0, view.plotWidth, height);
    context.clip();
    context.fillStyle = themed('--surface');
    context.globalAlpha = 0.55;
    context.fillRect(view.gutter, view.top, x0 - view.gutter, height);
    context.fillRect(x1, view.top, view.gutter + view.plotWidth - x1, height);
    context.globalAlpha = 1;
    context.fillStyle = themed('--accent');
    context.fillRect(x0 - 1, 0, 2, height);
    context.fillRect(x1 - 1, 0, 2, height);
    context.fillRect(x0, 0, x1 - x0, 4);
    context.restore();
  }

  drawGutter(height) {
    const { context, view } = this;
    const { layout } = view;
    context.fillStyle = themed('--surface');
    context.fillRect(0, view.top, view.gutter, height);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    let last = -20;
    for (let i = Math.max(0, layout.at(view.scroll)); i < layout.items.length; ++i) {
      const item = layout.items[i];
      const y = view.top + item.y - view.scroll + item.height / 2;
      if (y > height + 10) break;
      const room = this.isOpenHead(item) ? 400 : view.gutter - 8;
      const label = this.fitting(this.label(item), room);
      if (i === view.selected.item) {
        context.fillStyle = themed('--chosen');
        const wide = Math.max(view.gutter - 3, this.isOpenHead(item) ? context.measureText(label).width + 8 : 0);
        context.fillRect(0, y - Math.max(item.height, 2) / 2, wide, Math.max(item.height, 2));
      } else if (y - last < 11) {
        continue;
      }
      context.fillStyle = themed(item.kind === 'group' ? '--ink' : '--soft');
      context.fillText(label, 4, y);
      last = y;
    }
  }
  fitting(text, room) {
    if (this.context.measureText(text).width <= room) return text;
    while (text.length > 1 && this.context.measureText(`${text}…`).width > room) text = text.slice(0, -1);
    return `${text}…`;
  }
  label(item) {
    const { layout } = this.view;
    const thread = item.row.thread > 0 ? `.${item.row.thread}` : '';
    if (item.kind === 'row') return `${item.group.rows.length > 1 && layout.order === 'groups' ? '   ' : ''}` +
      `rank ${item.row.rank}${thread}`;
    const sign = layout.open.has(item.group.number) ? '▾' : '▸';
    return `${sign} ${format.counted(item.group.size, 'rank')}: ${item.group.ranks}`;
  }

  drawAxis(width, height) {
    const { context, view } = this;
    const span = view.to - view.from;
    const rough = span / Math.max(2, view.plotWidth / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
    context.fillStyle = themed('--surface');
    context.fillRect(0, view.selection ? 4 : 0, width, view.top - (view.selection ? 4 : 0));
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const base = view.model.begin;
    for (let t = Math.ceil((view.from - base) / step) * step; t <= view.to - base; t += step) {
      const x = view.gutter + ((t + base - view.from) / span) * view.plotWidth;
      context.fillStyle = themed('--line');
      context.fillRect(x, kAxis - 6, 1, 6);
      context.fillStyle = themed('--soft');
      const text = this.axisText(t, step);
      if (x + context.measureText(text).width < width) context.fillText(text, x + 3, kAxis - 11);
    }
    this.drawLoops();
    context.strokeStyle = themed('--line');
    context.lineWidth = 1;
    context.strokeRect(view.gutter - 0.5, view.top - 0.5, view.plotWidth, height - view.top);
  }
  // As many digits as tell one tick from the next.
  axisText(t, step) {
    const [unit, scale] = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]].find(([, s]) => step >= s * 0.01) || ['ns', 1];
    return `${(t / scale).toFixed(Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)))} ${unit}`;
  }
  drawLoops() {
    const { context, view } = this;
    const chosen = view.chosen();
    view.loopPlaces = [];
    view.loops().forEach((loop, level) => {
      const begin = view.model.timeOf(chosen.row, loop.from).begin;
      const end = view.model.timeOf(chosen.row, loop.to - 1).end;
      const x0 = Math.max(view.gutter, this.xOf(begin));
      const x1 = Math.min(view.gutter + view.plotWidth, this.xOf(end));
      if (x1 <= x0) return;
      const y = kAxis + level * kLoop;
      context.fillStyle = themed('--loop');
      context.fillRect(x0, y, Math.max(2, x1 - x0), kLoop - 2);
      context.fillStyle = themed('--ink');
      context.font = '9px system-ui, sans-serif';
      const text = `${format.count(loop.rounds)} x ${format.counted(loop.once, 'call')}`;
      if (context.measureText(text).width < x1 - x0 - 4) context.fillText(text, x0 + 3, y + kLoop / 2 - 1);
      view.loopPlaces.push({ y, begin, end, loop });
    });
  }
}
