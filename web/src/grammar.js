// Sequences as grammars: positions, sums and places without expanding anything. As src/grammar/: rule 0 is the
// start, a rule refers to rules with higher numbers only.

/** The last i in [from, to) with array[i] <= value; array[from] <= value. */
function lastNotAbove(array, from, to, value) {
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (array[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Sums of a number that each terminal has: of whole rules, and before each symbol within its rule. */
export class Fold {
  constructor(grammar, weightOf) {
    this.rule = new Float64Array(grammar.rules);
    this.before = new Float64Array(grammar.symbol.length);
    this.weightOf = weightOf;
    for (let r = grammar.rules - 1; r >= 0; --r) {
      let sum = 0;
      for (let i = grammar.begin(r); i < grammar.end[r]; ++i) {
        this.before[i] = sum;
        sum += this.once(grammar, i) * grammar.count[i];
      }
      this.rule[r] = sum;
    }
  }
  /** One repetition of symbol i. */
  once(grammar, i) {
    const id = grammar.id(i);
    return grammar.isRule(i) ? this.rule[id] : this.weightOf(id);
  }
}

export class Grammar {
  constructor(end, symbol, count) {
    this.end = end;
    this.symbol = symbol;  // 2 * id, + 1 for a rule
    this.count = count;
    this.rules = end.length;
    this.folds = new Map();
    this.length = this.rules > 0 ? new Fold(this, () => 1) : null;
    this.total = this.rules > 0 ? this.length.rule[0] : 0;
  }
  begin(r) {
    return r === 0 ? 0 : this.end[r - 1];
  }
  id(i) {
    return Math.floor(this.symbol[i] / 2);
  }
  isRule(i) {
    return this.symbol[i] % 2 === 1;
  }

  /** A fold, made once for each key. */
  fold(key, weightOf) {
    let fold = this.folds.get(key);
    if (!fold) this.folds.set(key, (fold = new Fold(this, weightOf)));
    return fold;
  }

  /** The terminal number seq. */
  terminal(seq) {
    let rule = 0;
    let rest = seq;
    for (;;) {
      const i = lastNotAbove(this.length.before, this.begin(rule), this.end[rule], rest);
      rest -= this.length.before[i];
      if (!this.isRule(i)) return this.id(i);
      rule = this.id(i);
      rest %= this.length.rule[rule];
    }
  }

  /** Sum over the terminals before number seq. */
  prefix(fold, seq) {
    if (seq >= this.total) return fold.rule[0];
    let rule = 0;
    let rest = seq;
    let sum = 0;
    for (;;) {
      const i = lastNotAbove(this.length.before, this.begin(rule), this.end[rule], rest);
      sum += fold.before[i];
      rest -= this.length.before[i];
      if (!this.isRule(i)) return sum + rest * fold.weightOf(this.id(i));
      rule = this.id(i);
      const times = Math.floor(rest / this.length.rule[rule]);
      sum += times * fold.rule[rule];
      rest -= times * this.length.rule[rule];
    }
  }

  /** The number of the terminal in which the sum passes `target`, counted from 0; -1 past the end. */
  find(fold, target) {
    if (!(target < fold.rule[0])) return -1;
    let rule = 0;
    let rest = target;
    let seq = 0;
    for (;;) {
      const i = lastNotAbove(fold.before, this.begin(rule), this.end[rule], rest);
      rest -= fold.before[i];
      seq += this.length.before[i];
      const once = fold.once(this, i);
      const times = once > 0 ? Math.min(Math.floor(rest / once), this.count[i] - 1) : 0;
      rest -= times * once;
      if (!this.isRule(i)) return seq + times;
      rule = this.id(i);
      seq += times * this.length.rule[rule];
    }
  }

  /** The number of the terminal at `target` of stretch * fold + gap * calls; the last one past the end. */
  locate(fold, stretch, gap, target) {
    let rule = 0;
    let rest = target;
    let seq = 0;
    for (;;) {
      let low = this.begin(rule);
      let high = this.end[rule];
      const at = (i) => stretch * fold.before[i] + gap * this.length.before[i];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (at(middle) <= rest) low = middle;
        else high = middle;
      }
      rest = Math.max(0, rest - at(low));
      seq += this.length.before[low];
      const length = this.isRule(low) ? this.length.rule[this.id(low)] : 1;
      const once = stretch * fold.once(this, low) + gap * length;
      const times = once > 0 ? Math.min(Math.floor(rest / once), this.count[low] - 1) : 0;
      rest -= times * once;
      if (!this.isRule(low)) return seq + times;
      seq += times * length;
      rule = this.id(low);
    }
  }
}

/** The grammars of the page; those too large for it are null. */
export function readGrammars(data) {
  const rules = data.column('grammar.rules');
  const ends = data.column('grammar.rule_end');
  const symbols = data.column('grammar.symbol');
  const counts = data.column('grammar.count');
  const out = [];
  let rule = 0;
  let symbol = 0;
  for (const n of rules) {
    if (n === 0) {
      out.push(null);
      continue;
    }
    const end = ends.subarray(rule, rule + n);
    const size = end[n - 1];
    out.push(new Grammar(end, symbols.subarray(symbol, symbol + size), counts.subarray(symbol, symbol + size)));
    rule += n;
    symbol += size;
  }
  return out;
}
