// What the colours of the timeline stand for: classes of calls, functions, or behaviours of segments.
import { classColour, kClassTitles, kFunctionColours, kOtherColour, rgb } from '../colours.js';
import { RowPainter, Strip } from './strip.js';

const kWords = { category: 'category', function: 'function', behaviour: 'behaviour' };

/** A way to colour: kinds by number, 0 is the program itself. {name, titles, colours, palette, of(group, terminal)} */
export class Kinds {
  constructor(name, titles, colours, of) {
    this.name = name;
    this.titles = titles;
    this.colours = colours;
    this.palette = colours.map(rgb);
    this.count = colours.length;
    this.of = of;
    this.tables = new Map();
  }
  /** The row's table of times, as model.share and model.classes have it for categories: {share, kind}, by bin. */
  table(model, row) {
    let table = this.tables.get(row.index);
    if (table) return table;
    const [from, to] = [row.index * model.bins, (row.index + 1) * model.bins];
    table = this.name === 'category'
      ? { share: model.share.subarray(from, to), kind: model.classes.subarray(from, to) } : this.makeTable(model, row);
    this.tables.set(row.index, table);
    return table;
  }
  /** Drawn once at the table's resolution: the page has a table of categories only. */
  makeTable(model, row) {
    const strip = new Strip(model.bins, this.count);
    if (row.grammar) {
      const painter = new RowPainter(model, { from: model.begin, to: model.end, width: model.bins }, null, this);
      painter.named = false;
      painter.paintCalls(row, strip);
    }
    const out = { share: new Uint8Array(model.bins), kind: new Uint8Array(model.bins) };
    for (let bin = 0; bin < model.bins; ++bin) {
      const { sum, best } = strip.at(bin);
      out.share[bin] = Math.round(255 * Math.min(1, sum));
      out.kind[bin] = best;
    }
    return out;
  }
}

function byCategory(model) {
  return new Kinds('category', kClassTitles, kClassTitles.map((_, c) => classColour(c) || '#000000'),
    (group, terminal) => model.classOf(group, terminal));
}

/** Functions by their time; those that take least share one colour. */
function byFunction(model) {
  const { functions } = model.json;
  const time = new Float64Array(functions.length);
  model.signature.call.forEach((call, id) => {
    time[call] += model.signature.count[id] * model.signature.mean[id];
  });
  const order = Array.from(time.keys()).sort((a, b) => time[b] - time[a] || a - b);
  const named = order.slice(0, kFunctionColours.length);
  const kindOf = new Uint8Array(functions.length).fill(named.length + 1);
  named.forEach((call, i) => {
    kindOf[call] = i + 1;
  });
  const titles = ['in the program', ...named.map((call) => functions[call])];
  const colours = ['#000000', ...kFunctionColours.slice(0, named.length)];
  if (order.length > named.length) {
    titles.push(`${order.length - named.length} others`);
    colours.push(kOtherColour);
  }
  return new Kinds('function', titles, colours, (group, terminal) => kindOf[model.signature.call[group.signatures[terminal]]]);
}

/** Segments by the representative that stands for them; the calls in them have no colour of their own. */
function byBehaviour(model) {
  const { rows } = model.behaviours;
  const most = kFunctionColours.length;
  const titles = ['in no segment', ...rows.slice(0, most).map((row) => row.name)];
  const colours = ['#000000', ...kFunctionColours.slice(0, Math.min(most, rows.length))];
  if (rows.length > most) {
    titles.push(`${rows.length - most} others`);
    colours.push(kOtherColour);
  }
  const out = new Kinds('behaviour', titles, colours, () => 0);
  out.kindOfBehaviour = (behaviour) => Math.min(behaviour, most) + 1;
  return out;
}

const kMakers = { category: byCategory, function: byFunction, behaviour: byBehaviour };

/** The ways that a model can be coloured in: [name, text]. */
export function kindChoices(model) {
  return Object.entries(kWords).filter(([name]) => name !== 'behaviour' || model.behaviours);
}
export function makeKinds(model, name) {
  return (Object.hasOwn(kMakers, name) && (name !== 'behaviour' || model.behaviours) ? kMakers[name] : byCategory)(model);
}
