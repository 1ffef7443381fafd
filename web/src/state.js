// What the reader of the page chose, in the fragment of its URL: reloading the page, or sending its address, shows the
// same. Only what differs from the page's first view is written, as "#name=value&...".

const kWriteMs = 200;

class State {
  constructor() {
    this.parts = new Map();  // name -> {get() -> text or null, set(text or null)}
    this.section = null;     // that a link led to
    this.isRestoring = false;
  }

  /** `get` returns null for the first view, which `set(null)` restores. `set` must bear any text. */
  bind(name, get, set) {
    this.parts.set(name, { get, set });
  }

  /** To be called after each change. */
  changed() {
    if (this.isRestoring) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), kWriteMs);
  }
  text() {
    const out = new URLSearchParams();
    if (this.section) out.set('at', this.section);
    for (const [name, { get }] of this.parts) {
      const value = get();
      if (value !== null && value !== undefined) out.set(name, value);
    }
    return out.toString().replace(/%2C/g, ',');
  }
  write() {
    const text = this.text();
    const url = new URL(window.location.href);
    url.hash = text;
    if (url.href !== window.location.href) window.history.replaceState(null, '', url);
  }

  /** From the fragment. A plain "#matrix", which a link of the page leaves, is a section and changes nothing else. */
  read() {
    const text = window.location.hash.slice(1);
    if (text !== '' && !text.includes('=')) {
      this.section = text;
      this.changed();
      return;
    }
    const values = new URLSearchParams(text);
    this.section = values.get('at');
    this.isRestoring = true;
    for (const [name, { set }] of this.parts) set(values.get(name));
    this.isRestoring = false;
    const element = this.section ? document.getElementById(this.section) : null;
    if (element) element.scrollIntoView({ block: 'start' });
  }
  start() {
    if (window.location.hash !== '') this.read();
    window.addEventListener('hashchange', () => this.read());
  }
}
export const state = new State();

/** A drop-down list (of choice()) whose value is in the state. */
export function bindChoice(name, label, first) {
  const select = label.querySelector('select');
  select.addEventListener('change', () => state.changed());
  state.bind(name, () => (select.value === first ? null : select.value), (text) => {
    const value = text === null ? first : text;
    if (select.value === value || ![...select.options].some((o) => o.value === value)) return;
    select.value = value;
    select.dispatchEvent(new Event('change'));
  });
  return label;
}

/** A <details> that is open or closed as the state says. */
export function bindDetails(name, details) {
  const first = details.open;
  details.addEventListener('toggle', () => state.changed());
  state.bind(name, () => (details.open === first ? null : details.open ? 'open' : 'closed'), (text) => {
    details.open = text === null ? first : text === 'open';
  });
  return details;
}

/** "12,34" as numbers, or null where it is something else. */
export function numbersOf(text, count) {
  const out = text === null ? [] : text.split(',').map(Number);
  return out.length === count && out.every(Number.isFinite) ? out : null;
}
