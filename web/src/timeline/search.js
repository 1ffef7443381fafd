// Which calls a text stands for, and the next of them.

/** Terminals by group whose name, place or parameters contain all words of the text; null for no text. */
export function findCalls(model, text) {
  const words = text.toLowerCase().split(/\s+/).filter((w) => w !== '');
  if (words.length === 0) return null;
  const out = new Map();
  for (const group of model.groups) {
    const found = new Set();
    const row = group.rows[0];
    for (let terminal = 0; row && terminal < group.signatures.length; ++terminal) {
      const parameters = model.parameters(row, terminal);
      const all = [model.name(group, terminal), model.path(group, terminal), parameters ? parameters.text : '']
        .join(' ').toLowerCase();
      if (words.every((word) => all.includes(word))) found.add(terminal);
    }
    out.set(group.number, found);
  }
  return out;
}

/** How often a row makes calls of a set. */
export function countOf(row, found) {
  if (!row.grammar || found.size === 0) return 0;
  return row.grammar.fold(found, (t) => (found.has(t) ? 1 : 0)).rule[0];
}

/** Number of the next call of the set after seq (before it, with back), round the ends; -1: none. */
export function nextCall(row, found, seq, back) {
  const all = countOf(row, found);
  if (all === 0) return -1;
  const fold = row.grammar.fold(found, (t) => (found.has(t) ? 1 : 0));
  const before = row.grammar.prefix(fold, Math.max(0, back ? seq : seq + 1));
  const wanted = back ? (before - 1 + all) % all : before % all;
  return row.grammar.find(fold, wanted);
}
