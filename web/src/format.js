// Numbers as people read them.

const kUnits = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];

export function duration(ns) {
  if (!Number.isFinite(ns)) return '-';
  const size = Math.abs(ns);
  for (const [unit, scale] of kUnits)
    if (size >= scale || unit === 'ns') return `${significant(ns / scale)} ${unit}`;
  return '0 ns';
}

export function significant(v) {
  if (v === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v))));
  return v.toFixed(Math.min(digits, 3)).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

export function count(n) {
  const [whole, part] = String(n).split('.');
  return whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') + (part ? `.${part}` : '');
}

export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let i = 0;
  while (n >= 1024 && i + 1 < units.length) {
    n /= 1024;
    ++i;
  }
  return `${i === 0 ? n : n.toFixed(2)} ${units[i]}`;
}

export function percent(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '-';
}

export const metricText = { calls: count, messages: count, bytes, ns: duration };
