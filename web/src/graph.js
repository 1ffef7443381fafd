// The ranks as a graph: near each other where they exchange messages. Places come from Graphviz, or from the
// program's own grid.
import { amountLegend, edgeCss, logLevel, themed } from './colours.js';
import { button, canvasBox, choice, h, placeIn, replace, section, tip } from './dom.js';
import * as format from './format.js';
import { bindChoice } from './state.js';

const kSize = 10000;  // of the unit square that places are in
const kHow = { neato: 'Laid out by Graphviz (neato).', sfdp: 'Laid out by Graphviz (sfdp).',
  grid: 'Laid out as the program\'s own Cartesian grid.',
  circle: 'Laid out as a circle: nothing better is known.' };

/** Places on the program's grid: rows down, columns across, further dimensions obliquely; null without one. */
function gridPlaces(data, nodes, block) {
  const { grid } = data.json;
  const ranks = data.column('grid.rank');
  if (!grid || block !== 1 || ranks.length !== nodes) return null;
  const { dims } = grid;
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  const at = Array.from({ length: nodes }, () => []);
  ranks.forEach((rank, cell) => {
    if (!(rank >= 0 && rank < nodes)) return;
    let rest = cell;
    for (let d = dims.length - 1, level = 0; d >= 0; --d, ++level) {
      const c = rest % dims[d];
      rest = Math.floor(rest / dims[d]);
      at[rank][d] = c;
      if (level === 0) x[rank] += c;
      else if (level === 1) y[rank] += c;
      else {
        x[rank] += (c * 0.37) / (level - 1);
        y[rank] -= (c * 0.31) / (level - 1);
      }
    }
  });
  const least = [Math.min(...x), Math.min(...y)];
  const size = Math.max(Math.max(...x) - least[0], Math.max(...y) - least[1], 1e-9);
  return { at, x: x.map((v) => ((v - least[0]) / size) * kSize), y: y.map((v) => ((v - least[1]) / size) * kSize) };
}

export class Graph {
  constructor(data, links) {
    this.links = links;
    this.json = data.json.graph;
    const from = this.json.edges;
    this.x = data.column('graph.x');
    this.y = data.column('graph.y');
    this.own = { x: this.x, y: this.y };
    this.how = h('p', { class: 'hint' });
    this.grid = gridPlaces(data, this.json.nodes, this.json.block);
    this.metric = 'bytes';
    this.readEdges(data, from);
    // A torus is a tangle to any layout that only knows its edges; a ring is not.
    this.setLayout(this.grid && data.json.grid.dims.length > 1 ? 'grid' : 'own');
    this.view = { x: 0, y: 0, zoom: 1 };
    this.chosen = -1;
    this.text = h('p', { class: 'exact', role: 'status' });
    this.legendBox = h('span');
    this.box = canvasBox({ class: 'square', 'aria-label': 'Graph of the ranks; arrow keys choose a rank, + and - zoom' },
      (width) => Math.min(width, 520), (context, width, height) => this.draw(context, width, height));
    this.listen();
  }
  setLayout(name) {
    this.layout = name;
    const places = name === 'grid' ? this.grid : this.own;
    this.x = places.x;
    this.y = places.y;
    const isGrid = name === 'grid' || this.json.layout === 'grid';
    replace(this.how, isGrid ? `${kHow.grid} Edges round its ends are dashed.` : kHow[this.json.layout] || '');
  }
  /** Between opposite ends of a dimension: drawn thin, across the whole grid. */
  wraps(edge) {
    if (this.layout !== 'grid') return false;
    return this.grid.at[edge.a].some((c, d) => Math.abs(c - this.grid.at[edge.b][d]) > 1);
  }
  // Both directions of a pair are one edge.
  readEdges(data, from) {
    const source = data.column(`${from}.source`);
    const dest = data.column(`${from}.dest`);
    const values = { bytes: 'bytes', messages: 'messages', ns: 'ns' };
    const known = new Map();
    this.edges = [];
    for (let i = 0; i < source.length; ++i) {
      const a = Math.min(source[i], dest[i]);
      const b = Math.max(source[i], dest[i]);
      const key = a * this.json.nodes + b;
      let edge = known.get(key);
      if (!edge) {
        edge = { a, b, bytes: 0, messages: 0, ns: 0 };
        known.set(key, edge);
        this.edges.push(edge);
      }
      for (const name of Object.keys(values)) edge[name] += data.column(`${from}.${name}`)[i];
    }
    this.nodes = Array.from(this.x, () => ({ bytes: 0, messages: 0, ns: 0, edges: [] }));
    for (const edge of this.edges)
      for (const node of new Set([edge.a, edge.b])) {
        for (const name of Object.keys(values)) this.nodes[node][name] += edge[name];
        this.nodes[node].edges.push(edge);
      }
  }
  element() {
    const block = this.json.block > 1 ? ` Each node stands for ${this.json.block} ranks.` : '';
    return section('graph', 'Topology',
      'Look for the shape: a mesh, a ring, a star. A few thick edges in a thin mesh, or one node that all edges lead ' +
      'to, are worth a question.',
      h('div', { class: 'controls' }, bindChoice('graph', choice('Weight', [['bytes', 'bytes'], ['messages', 'messages'], ['ns', 'time']],
        'bytes', (metric) => {
          this.metric = metric;
          this.box.redraw();
        }), 'bytes'),
      this.grid && this.json.layout !== 'grid' ? bindChoice('layout', choice('Layout', [['own', 'by messages'], ['grid', 'Cartesian grid']],
        this.layout, (layout) => {
          this.setLayout(layout);
          this.box.redraw();
        }), this.layout) : null,
      button('+', () => this.zoom(1.5), 'Zoom in'), button('−', () => this.zoom(1 / 1.5), 'Zoom out'),
      button('All', () => this.zoom(0), 'The whole graph'), this.legendBox),
      this.box.box, this.text, this.how, h('p', { class: 'hint' }, block));
  }
  place(node) {
    const size = Math.min(this.box.width, this.box.height) - 40;
    const scale = (v, axis) => ((v / kSize - 0.5) * this.view.zoom + 0.5) * size + 20 + this.view[axis];
    const left = (this.box.width - size - 40) / 2;
    return [left + scale(this.x[node], 'x'), scale(this.y[node], 'y')];
  }
  draw(context, width, height) {
    context.fillStyle = themed('--surface');
    context.fillRect(0, 0, width, height);
    let least = Infinity;
    let most = 0;
    for (const edge of this.edges) {
      most = Math.max(most, edge[this.metric]);
      if (edge[this.metric] > 0) least = Math.min(least, edge[this.metric]);
    }
    const text = format.metricText[this.metric];
    replace(this.legendBox, most > 0 ? amountLegend(h, text(least), text(most), edgeCss) : '');
    for (const edge of this.edges) {
      if (edge.a === edge.b) continue;
      const level = logLevel(edge[this.metric], least, most);
      const [x0, y0] = this.place(edge.a);
      const [x1, y1] = this.place(edge.b);
      context.strokeStyle = edgeCss(level);
      context.lineWidth = (edge.a === this.chosen || edge.b === this.chosen ? 2.5 : 0) + 1 + 2.6 * level;
      const isWrap = this.wraps(edge);
      context.setLineDash(isWrap ? [2, 6] : []);
      if (isWrap) context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
    }
    context.setLineDash([]);
    this.drawNodes(context);
  }
  drawNodes(context) {
    const crowd = Math.sqrt(this.nodes.length);
    const radius = Math.max(1.5, Math.min(9, (150 * this.view.zoom) / crowd / 3));
    context.font = '10px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (let node = 0; node < this.nodes.length; ++node) {
      const [x, y] = this.place(node);
      context.fillStyle = node === this.chosen ? themed('--chosen') : themed('--node');
      context.strokeStyle = themed('--ink');
      context.lineWidth = node === this.chosen ? 2 : 0.7;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (radius < 7) continue;
      context.fillStyle = themed('--ink');
      context.fillText(String(node * this.json.block), x, y + 0.5);
    }
    context.textAlign = 'start';
  }
  nodeAt(event) {
    const [px, py] = placeIn(this.box.canvas, event);
    let best = -1;
    let nearest = 14 ** 2;
    for (let node = 0; node < this.nodes.length; ++node) {
      const [x, y] = this.place(node);
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance < nearest) {
        nearest = distance;
        best = node;
      }
    }
    return best;
  }
  describe(node) {
    const { block } = this.json;
    const name = block === 1 ? `Rank ${node}` : `Ranks ${node * block} to ${(node + 1) * block - 1}`;
    const n = this.nodes[node];
    return `${name}: ${n.edges.length} partners, ${format.count(n.messages)} messages, ${format.bytes(n.bytes)}, ` +
      `${format.duration(n.ns)}`;
  }
  choose(node) {
    if (node < 0) return;
    this.chosen = node;
    replace(this.text, this.describe(node), ' ',
      this.json.block === 1 ? button('Its calls', () => this.links.show('dest=', node)) : null);
    this.box.redraw();
  }
  zoom(factor) {
    this.view = factor === 0 ? { x: 0, y: 0, zoom: 1 }
      : { x: this.view.x * factor, y: this.view.y * factor, zoom: Math.min(40, this.view.zoom * factor) };
    this.box.redraw();
  }
  // The nearest node in the direction of an arrow key.
  neighbour(dx, dy) {
    if (this.chosen < 0) return 0;
    const [x, y] = this.place(this.chosen);
    let best = this.chosen;
    let nearest = Infinity;
    for (let node = 0; node < this.nodes.length; ++node) {
      const [nx, ny] = this.place(node);
      const along = (nx - x) * dx + (ny - y) * dy;
      const across = Math.abs((nx - x) * dy) + Math.abs((ny - y) * dx);
      if (along > 1 && along + 2 * across < nearest) {
        nearest = along + 2 * across;
        best = node;
      }
    }
    return best;
  }
  listen() {
    const { canvas } = this.box;
    canvas.addEventListener('pointermove', (e) => {
      if (e.buttons && this.grab) {
        this.view.x = this.grab.x + e.clientX - this.grab.px;
        this.view.y = this.grab.y + e.clientY - this.grab.py;
        this.box.redraw();
        return;
      }
      const node = this.nodeAt(e);
      if (node >= 0) tip.show(e.clientX, e.clientY, this.describe(node));
      else tip.hide();
    });
    canvas.addEventListener('pointerleave', () => tip.hide());
    canvas.addEventListener('pointerdown', (e) => {
      this.grab = { px: e.clientX, py: e.clientY, x: this.view.x, y: this.view.y };
    });
    canvas.addEventListener('pointerup', (e) => {
      if (this.grab && Math.abs(e.clientX - this.grab.px) < 4) this.choose(this.nodeAt(e));
      this.grab = null;
    });
    canvas.addEventListener('keydown', (e) => {
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (moves[e.key]) this.choose(this.neighbour(...moves[e.key]));
      else if (e.key === '+' || e.key === 'w') this.zoom(1.5);
      else if (e.key === '-' || e.key === 's') this.zoom(1 / 1.5);
      else if (e.key === 'Escape') this.zoom(0);
      else return;
      e.preventDefault();
    });
  }
}
