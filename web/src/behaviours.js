// Segments by what stands for them: representatives as rows, and which of them each rank did in each iteration.
import { kFunctionColours, kOtherColour, themed } from './colours.js';
import { button, canvasBox, choice, h, placeIn, replace, section, tip } from './dom.js';
import * as format from './format.js';
import { bindChoice } from './state.js';
import { table } from './table.js';

const kLeft = 64;
const kSmall = 32;

export const behaviourColour = (i) => kFunctionColours[i] || kOtherColour;

export class Behaviours {
  constructor(data, model, links) {
    this.data = data;
    this.model = model;
    this.links = links;
    this.found = model.behaviours;
  }
  element() {
    const { found } = this;
    if (!found) return null;
    const mark = (i) => {
      const box = h('span', { class: 'mark', 'aria-hidden': 'true' });
      box.style.background = behaviourColour(i);
      return box;
    };
    const rows = found.rows.map((row, i) => ({ ...row, i }));
    const list = table([
      { title: 'behaviour', value: (r) => r.name, node: (r) => [mark(r.i), r.name] },
      { title: 'of', value: (r) => r.part, text: (r) => r.part },
      { title: 'longest call', value: (r) => r.label, text: (r) => r.label },
      { title: 'segments', number: true, value: (r) => r.segments, text: (r) => format.count(r.segments), sum: format.count },
      { title: 'ranks', number: true, value: (r) => r.ranks, text: (r) => format.count(r.ranks) },
      { title: 'a rank', number: true, value: (r) => r.segments / Math.max(1, r.ranks),
        text: (r) => format.significant(r.segments / Math.max(1, r.ranks)) },
      { title: 'mean', number: true, value: (r) => r.duration_ns.mean, text: (r) => format.duration(r.duration_ns.mean) },
      { title: 'max', number: true, value: (r) => r.duration_ns.max, text: (r) => format.duration(r.duration_ns.max) },
      { title: 'all', number: true, value: (r) => r.duration_ns.sum, text: (r) => format.duration(r.duration_ns.sum),
        sum: format.duration },
      { title: 'in MPI', number: true, value: (r) => r.mpi_share, text: (r) => format.percent(r.mpi_share) },
    ], rows, { most: 12, caption: 'behaviours' });
    return section('behaviours', 'Behaviours',
      'Segments of the run that are alike are one behaviour. Look for ranks and iterations that do something else than ' +
      'their neighbours.',
      h('div', { class: 'controls' }, button('Colour the timeline by behaviour', () => this.links.colourBy('behaviour'))),
      list, this.maps());
  }

  /** Rank by iteration, of one loop. */
  maps() {
    const { segments, rows } = this.found;
    this.loops = [...new Set(rows.map((row) => row.loop).filter((loop) => loop !== null && loop !== undefined))];
    if (this.loops.length === 0) return null;
    this.loop = this.loops[0];
    this.cells = new Map();  // loop -> {ranks, least, most, of: 'rank iteration' -> segment}
    for (let i = 0; i < segments.row.length; ++i) {
      const { loop } = rows[segments.row[i]];
      if (loop === null || loop === undefined || segments.iteration[i] < 0) continue;
      if (!this.cells.has(loop)) this.cells.set(loop, { ranks: [], least: Infinity, most: 0, of: new Map() });
      const cells = this.cells.get(loop);
      if (cells.ranks[cells.ranks.length - 1] !== segments.rank[i]) cells.ranks.push(segments.rank[i]);
      cells.least = Math.min(cells.least, segments.iteration[i]);
      cells.most = Math.max(cells.most, segments.iteration[i]);
      cells.of.set(`${segments.rank[i]} ${segments.iteration[i]}`, i);
    }
    for (const cells of this.cells.values()) cells.ranks = [...new Set(cells.ranks)].sort((a, b) => a - b);
    this.loops = this.loops.filter((loop) => this.cells.has(loop));
    if (this.loops.length === 0) return null;
    this.status = h('p', { class: 'exact', role: 'status' });
    this.box = canvasBox({ class: 'behaviour-map', 'aria-label': 'Behaviour of each rank in each iteration; arrow keys choose one' },
      () => this.tall(), (context, width, height) => this.draw(context, width, height));
    this.listen();
    const { iterations } = this.data.json;
    const name = (loop) => (iterations && iterations.loops[loop] ? iterations.loops[loop].label || iterations.loops[loop].name
      : `loop ${loop}`);
    return h('div', {}, h('h3', {}, 'Ranks (down) and iterations (across)'),
      this.loops.length > 1 ? bindChoice('map', choice('Loop', this.loops.map((l) => [String(l), name(l)]), String(this.loop),
        (loop) => {
          this.loop = Number(loop);
          this.box.redraw();
        }), String(this.loop)) : null, this.box.box, this.status);
  }
  get shown() {
    return this.cells.get(this.loop);
  }
  tall() {
    const { length } = this.shown.ranks;
    return 20 + (length <= kSmall ? length * Math.max(12, Math.min(24, 200 / length)) : 384);
  }
  draw(context, width, height) {
    const { ranks, least, most, of } = this.shown;
    const { segments } = this.found;
    const high = (height - 20) / ranks.length;
    const wide = (width - kLeft) / (most - least + 1);
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, height);
    context.fillStyle = themed('--empty');
    context.fillRect(kLeft, 0, width - kLeft, height - 20);
    ranks.forEach((rank, line) => {
      for (let iteration = least; iteration <= most; ++iteration) {
        const i = of.get(`${rank} ${iteration}`);
        if (i === undefined) continue;
        context.fillStyle = behaviourColour(segments.row[i]);
        context.fillRect(kLeft + (iteration - least) * wide, line * high, Math.max(0.6, wide - (wide > 5 ? 1 : 0)),
          Math.max(0.6, high - (high > 5 ? 1 : 0)));
      }
    });
    context.fillStyle = themed('--soft');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const skip = Math.ceil(12 / high);
    ranks.forEach((rank, line) => line % skip === 0 && context.fillText(`rank ${rank}`, 2, (line + 0.5) * high, kLeft - 6));
    const every = Math.max(1, Math.ceil(50 / wide));
    for (let iteration = least; iteration <= most; iteration += every)
      context.fillText(String(iteration), kLeft + (iteration - least) * wide, height - 9);
    if (!this.cursor) return;
    context.strokeStyle = themed('--ink');
    context.lineWidth = 2;
    context.strokeRect(kLeft + this.cursor[0] * wide, this.cursor[1] * high, Math.max(3, wide), Math.max(3, high));
  }
  segmentAt([x, y]) {
    const { ranks, least, of } = this.shown;
    return of.get(`${ranks[y]} ${x + least}`);
  }
  describe(i) {
    const { segments, rows } = this.found;
    return `Rank ${segments.rank[i]}, iteration ${format.count(segments.iteration[i])}: behaviour ${rows[segments.row[i]].name}, ` +
      `${format.duration(segments.length[i])}`;
  }
  choose(cell) {
    const { ranks, least, most } = this.shown;
    this.cursor = [Math.min(Math.max(0, cell[0]), most - least), Math.min(Math.max(0, cell[1]), ranks.length - 1)];
    const i = this.segmentAt(this.cursor);
    replace(this.status, i === undefined ? '' : [this.describe(i), ' ', button('Show it', () => this.go(i))]);
    this.box.redraw();
    return i;
  }
  go(i) {
    const { segments } = this.found;
    this.links.showTime(segments.start[i], segments.start[i] + segments.length[i], segments.rank[i]);
  }
  listen() {
    const { canvas } = this.box;
    const cellAt = (event) => {
      const [x, y] = placeIn(canvas, event);
      const { ranks, least, most } = this.shown;
      const cell = [Math.floor(((x - kLeft) / (this.box.width - kLeft)) * (most - least + 1)),
        Math.floor((y / (this.box.height - 20)) * ranks.length)];
      return cell[0] < 0 || cell[1] >= ranks.length ? null : cell;
    };
    canvas.addEventListener('pointermove', (event) => {
      const cell = cellAt(event);
      const i = cell ? this.segmentAt(cell) : undefined;
      if (i === undefined) tip.hide();
      else tip.show(event.clientX, event.clientY, this.describe(i));
    });
    canvas.addEventListener('pointerleave', () => tip.hide());
    canvas.addEventListener('click', (event) => {
      const cell = cellAt(event);
      const i = cell ? this.choose(cell) : undefined;
      if (i !== undefined) this.go(i);
    });
    canvas.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!by) return;
      event.preventDefault();
      this.choose(this.cursor ? [this.cursor[0] + by[0], this.cursor[1] + by[1]] : [0, 0]);
    });
  }
}
