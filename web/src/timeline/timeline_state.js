// What the timeline shows, in the URL's fragment (state.js).
import { numbersOf, state } from '../state.js';

export function bindTimeline(timeline) {
  const { view, model } = timeline;
  const { layout } = view;
  const ns = (value) => Math.round(value - model.begin);
  state.bind('rows', () => (layout.order === 'groups' ? null : layout.order), (text) => {
    const order = text === 'ranks' ? 'ranks' : 'groups';
    timeline.rowsChoice.querySelector('select').value = order;
    if (order === layout.order) return;
    layout.order = order;
    view.selected = { item: 0, seq: -1 };
    view.rebuild();
  });
  const list = (open) => [...open].sort((a, b) => a - b).join(',');
  const first = list(layout.open);
  state.bind('groups', () => (list(layout.open) === first ? null : list(layout.open)), (text) => {
    const wanted = (text === null ? first : text).split(',').filter((t) => t !== '').map(Number);
    layout.open = new Set(wanted.filter((g) => model.groups[g]));
    view.rebuild();
  });
  state.bind('height', () => (layout.isFit ? 'fit' : layout.rowHeight === layout.firstHeight ? null : layout.rowHeight),
    (text) => {
      layout.isFit = text === 'fit';
      const [height] = numbersOf(text, 1) || [layout.firstHeight];
      layout.rowHeight = Math.min(Math.max(height, 3), 60);
      view.rebuild();
    });
  state.bind('colours', () => (view.kinds.name === 'category' ? null : view.kinds.name),
    (text) => timeline.colourBy(text || 'category'));
  state.bind('find', () => timeline.searchField.value || null, (text) => {
    if (timeline.searchField.value === (text || '')) return;
    timeline.searchField.value = text || '';
    timeline.search();
  });
  state.bind('call', () => {
    const chosen = view.chosen();
    return chosen && chosen.seq >= 0 ? `${chosen.row.rank},${chosen.row.thread},${chosen.seq}` : null;
  }, (text) => {
    const [rank, thread, seq] = numbersOf(text, 3) || [-1];
    const row = model.rowOf.get(`${rank}.${thread}`);
    if (row && row.grammar && seq >= 0 && seq < row.calls) view.choose(layout.find(row), seq);
    else view.choose(0, -1);
  });
  state.bind('view', () => (view.from === model.begin && view.to === model.end ? null : `${ns(view.from)},${ns(view.to)}`),
    (text) => {
      const [from, to] = numbersOf(text, 2) || [0, model.end - model.begin];
      view.setRange(model.begin + from, model.begin + to);
    });
  state.bind('selected', () => (view.selection ? `${ns(view.selection.from)},${ns(view.selection.to)}` : null), (text) => {
    const range = numbersOf(text, 2);
    if (range) view.select(model.begin + range[0], model.begin + range[1]);
    else view.select(null);
  });
}
