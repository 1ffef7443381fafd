// Tables that a column sorts, and a text filters.
import { h, replace } from './dom.js';
import { count } from './format.js';

/**
 * columns: {title, value(row) for sorting, text(row) or node(row), number: true for right-aligned, share(row)
 * for a bar behind}. Shows `most` rows, and a button for the rest. What is not shown is a last line, "others", with the
 * sums of columns that have `sum`, a function from the sum to its text. `rest`: {count, [title]: sum} of rows that the
 * page does not have.
 */
export function table(columns, rows, { most = 20, filter = null, caption = '', rest = null } = {}) {
  const state = { column: -1, down: true, all: false, text: '' };
  const body = h('tbody');
  const head = h('tr', {}, columns.map((column, i) => h('th', { scope: 'col', class: column.number ? 'number' : null },
    h('button', { type: 'button', class: 'plain', onclick: () => sort(i) }, column.title))));
  const more = h('button', { type: 'button', onclick: () => {
    state.all = !state.all;
    fill();
  } });
  function sort(i) {
    state.down = state.column === i ? !state.down : columns[i].number === true;
    state.column = i;
    fill();
  }
  function fill() {
    let shown = rows;
    if (filter && state.text) shown = shown.filter((row) => filter(row).toLowerCase().includes(state.text));
    if (state.column >= 0) {
      const { value } = columns[state.column];
      const by = (a, b) => (typeof a === 'number' ? a - b : String(a).localeCompare(String(b)));
      shown = [...shown].sort((a, b) => (state.down ? -1 : 1) * by(value(a), value(b)));
    }
    const all = shown.length;
    const left = state.all ? [] : shown.slice(most);
    if (!state.all) shown = shown.slice(0, most);
    replace(body, shown.map((row) => h('tr', {}, columns.map((column) => {
      const cell = h('td', { class: column.number ? 'number' : null }, column.node ? column.node(row) : column.text(row));
      if (column.share) cell.style.setProperty('--share', `${(100 * Math.min(1, column.share(row))).toFixed(1)}%`);
      if (column.share) cell.classList.add('bar-cell');
      return cell;
    }))));
    const missing = rest && !(filter && state.text) ? rest : null;
    if (left.length + (missing ? missing.count : 0) > 0) body.append(others(left, missing));
    head.querySelectorAll('th').forEach((th, i) => th.setAttribute('aria-sort',
      i !== state.column ? 'none' : state.down ? 'descending' : 'ascending'));
    more.hidden = all <= most;
    more.textContent = state.all ? 'Fewer' : `All ${all} rows`;
  }
  /** What is not shown, as one line, so that the columns add up. */
  function others(left, missing) {
    const sum = (column) => left.reduce((a, row) => a + column.value(row), 0);
    return h('tr', { class: 'others' }, columns.map((column, i) => {
      if (i === 0) return h('td', {}, `others (${count(left.length + (missing ? missing.count : 0))})`);
      const more = missing && missing[column.title] !== undefined ? missing[column.title] : 0;
      return h('td', { class: column.number ? 'number' : null }, column.sum ? column.sum(sum(column) + more) : '');
    }));
  }
  const field = filter ? h('input', { type: 'search', placeholder: 'filter', 'aria-label': `Filter ${caption}`,
    oninput: () => {
      state.text = field.value.toLowerCase();
      fill();
    } }) : null;
  fill();
  return h('div', { class: 'table-box' }, field, h('div', { class: 'scroll' },
    h('table', {}, caption ? h('caption', {}, caption) : null, h('thead', {}, head), body)), more);
}
