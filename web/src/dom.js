// Elements made from data. Text is always a text node: nothing of a trace is ever markup.

/** h('a', {href: '#x', class: 'y', onclick: f}, 'text', child, ...) */
export function h(tag, attributes, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) out.addEventListener(name.slice(2), value);
    else out.setAttribute(name, value === true ? '' : String(value));
  }
  append(out, children);
  return out;
}

export function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/** A part of the page: its heading, what to look for in it, and its content. */
export function section(id, title, hint, ...children) {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title),
    h('p', { class: 'hint' }, hint), ...children);
}

/** A drop-down list with its label; `options`: [value, text]. */
export function choice(label, options, value, onchange) {
  const select = h('select', { onchange: () => onchange(select.value) },
    options.map(([v, text]) => h('option', { value: v, selected: v === value }, text)));
  return h('label', { class: 'choice' }, `${label} `, select);
}

export function button(text, onclick, title) {
  return h('button', { type: 'button', onclick, title }, text);
}

/** A canvas that fills its box at the screen's resolution; draw(context, width, height) in CSS pixels. */
export function canvasBox(attributes, height, draw) {
  const canvas = h('canvas', { tabindex: 0, role: 'img', ...attributes });
  const box = h('div', { class: 'canvas-box' }, canvas);
  const state = { canvas, box, width: 0, height: 0, redraw: () => {} };
  let waiting = false;
  const paint = () => {
    waiting = false;
    const width = Math.max(1, Math.floor(box.clientWidth));
    const tall = Math.floor(typeof height === 'function' ? height(width) : height);
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (canvas.width !== Math.floor(width * ratio) || canvas.height !== Math.floor(tall * ratio)) {
      canvas.width = Math.floor(width * ratio);
      canvas.height = Math.floor(tall * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${tall}px`;
    }
    state.width = width;
    state.height = tall;
    state.ratio = ratio;
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(context, width, tall, ratio);
  };
  state.redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(paint);
  };
  new ResizeObserver(state.redraw).observe(box);
  document.addEventListener('themechange', state.redraw);
  return state;
}

/** The pointer's place in a canvas, in CSS pixels. */
export function placeIn(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** A note beside the pointer, one for the page. Also read out to those who cannot see it. */
class Tip {
  constructor() {
    this.element = h('div', { class: 'tip', role: 'status', hidden: true });
  }
  show(x, y, ...children) {
    replace(this.element, ...children);
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect();
    const left = Math.min(x + 14, window.innerWidth - box.width - 8);
    const below = y + 16 + box.height < window.innerHeight;
    this.element.style.left = `${Math.max(8, left)}px`;
    this.element.style.top = `${below ? y + 16 : Math.max(8, y - box.height - 12)}px`;
  }
  hide() {
    this.element.hidden = true;
  }
}
export const tip = new Tip();
