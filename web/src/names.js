// Names of C++ functions: template arguments fold to "<…>", and the tooltip has them. The same rules as those of
// src/reader/function_names.cc, for text that may be a whole call path.
import { h } from './dom.js';

let folds = true;

export function foldNames(wanted) {
  folds = wanted;
}

const kOperator = /^operator(<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>)?/;
const kOpening = { ')': '(', '}': '{', ']': '[' };

/** Past the bracket that closes the one at `at`; -1: none does. */
function pastClosing(text, at) {
  const open = [];
  for (let i = at; i < text.length; ++i) {
    const c = text[i];
    if ('<({['.includes(c)) open.push(c);
    else if (c === '>') {
      if (open[open.length - 1] === '<' && text[i - 1] !== '-') open.pop();
    } else if (kOpening[c]) {
      while (open.length > 0 && open[open.length - 1] !== kOpening[c]) open.pop();
      if (open.length === 0) return -1;
      open.pop();
    }
    if (open.length === 0) return i + 1;
  }
  return -1;
}

export function folded(text) {
  const isWord = (i) => i >= 0 && i < text.length && /[\w\u0080-\uffff]/.test(text[i]);
  let out = '';
  for (let i = 0; i < text.length;) {
    let opens = -1;
    const operator = text[i] === 'o' && !isWord(i - 1) ? kOperator.exec(text.slice(i, i + 11)) : null;
    if (operator && (operator[1] || !isWord(i + 8))) {
      const space = text.startsWith(' <', i + operator[0].length) ? ' ' : '';
      out += operator[0] + space;
      i += operator[0].length + space.length;
      if (text[i] === '<') opens = i;
    } else if (text[i] === '<' && isWord(i - 1)) {
      opens = i;
    } else if (text.startsWith('{lambda(', i)) {
      out += '{lambda';
      i += 7;
      if (text[i + 1] !== ')') opens = i;
    } else {
      out += text[i++];
    }
    if (opens < 0) continue;
    const end = pastClosing(text, opens);
    if (end < 0) return out + text.slice(i);
    out += `${text[opens]}…${text[end - 1]}`;
    i = end;
  }
  return out;
}

/** Text, or an element where something of it is folded. */
export function named(text) {
  const short = folds ? folded(text) : text;
  return short === text ? text : h('span', { title: text }, short);
}
