// Numbers as people read them: the same text, from the same number, as src/report/units.cc and info_text.cc print in
// the terminal. Only the gap between thousands is narrower.

/** `v` with so many decimals; halves go to the even digit, as in C. */
function fixed(v, decimals) {
  const rest = v.toFixed(decimals + 20).slice(-20);
  if (!/^50*$/.test(rest)) return v.toFixed(decimals);
  const [down, up] = [v.toFixed(decimals + 20).slice(0, -20).replace(/\.$/, ''), v.toFixed(decimals)];
  return Number(down[down.length - 1]) % 2 === 0 ? down : up;
}

/** Three significant digits of a number from 1 to 1000, without zeros at its end. */
function three(v) {
  const text = fixed(v, v < 10 ? 2 : v < 100 ? 1 : 0);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

export function duration(ns) {
  if (!Number.isFinite(ns)) return '-';
  if (ns < 0) return `-${duration(-ns)}`;
  ns = Math.round(ns);
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 999.5e3) return `${three(ns / 1e3)} us`;
  if (ns < 999.5e6) return `${three(ns / 1e6)} ms`;
  return `${fixed(ns / 1e9, 2)} s`;
}

export function count(n) {
  const [whole, part] = String(n).split('.');
  return whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') + (part ? `.${part}` : '');
}

const kUnits = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

export function bytes(n) {
  if (n < 1024) return `${Math.round(n)} B`;
  let unit = 0;
  n /= 1024;
  for (; n >= 999.5 && unit + 1 < kUnits.length; ++unit) n /= 1024;
  return `${fixed(n, n >= 100 ? 0 : n >= 10 ? 1 : 2)} ${kUnits[unit]}`;
}

export function percent(share) {
  return Number.isFinite(share) ? `${fixed(100 * share, 1)} %` : '-';
}

/** A number of things in the mean: "2.5". */
export function significant(v) {
  return v >= 1000 ? count(Math.round(v)) : v > 0 ? three(v) : '0';
}

/** "1 call", "2 calls" */
export function counted(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** "256-511 B": the bin of powers of two that begins at `from` bytes. */
export function sizeBin(from) {
  if (from <= 1) return `${from} B`;
  const units = ['B', ...kUnits];
  let unit = 0;
  let size = from;
  for (; size >= 1024 && unit + 1 < units.length; ++unit) size /= 1024;
  if (unit === 0) return `${size}–${size * 2 - 1} B`;
  return size === 512 ? `512 ${units[unit]}–1 ${units[unit + 1] || ''}`.trim() : `${size}–${size * 2} ${units[unit]}`;
}

export const metricText = { calls: count, messages: count, bytes, ns: duration };
