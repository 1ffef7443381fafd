// Colours that people tell apart whatever their eyes: Okabe and Ito's palette for kinds of calls, cividis
// (Nunez, Anderton, Renslow 2018) for amounts. Never colour alone: every picture has numbers on hover.

// By analysis::CallClass.
const kClasses = ['', '#0072b2', '#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#c9b400', '#8a8f98'];
export const kWaiting = '#d55e00';
export const kClassTitles = ['in the program', 'send', 'receive', 'completion', 'collective', 'one-sided', 'file',
  'other'];


// Of functions and behaviours, the first for what takes most: Paul Tol's bright and muted palettes, told apart by most eyes.
export const kFunctionColours = ['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66ccee', '#aa3377', '#ee8866', '#44aa99',
  '#9988cc', '#999933', '#882255', '#77aadd'];
export const kOtherColour = '#8a8f98';

export function classColour(c) {
  return kClasses[c] || kClasses[7];
}

export function rgb(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/** Black or white, whatever can be read on it. */
export function inkOn(hex) {
  const [r, g, b] = rgb(hex);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#000000' : '#ffffff';
}

const kCividis = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55',
  '#fee838'].map(rgb);

function along(stops, level) {
  const at = Math.min(Math.max(level, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i)));
}

let dark = null;  // whether the page is; asked once for each change
document.addEventListener('themechange', () => {
  dark = null;
});
function isDark() {
  if (dark === null) dark = rgb(themed('--surface')).reduce((a, b) => a + b) < 384;
  return dark;
}

/** 0 to 1. The more, the farther from the page's colour; the least can be told from an empty place. */
export function amount(level) {
  const at = Math.min(Math.max(level, 0), 1);
  return along(kCividis, isDark() ? 0.25 + 0.75 * at : 0.82 * (1 - at));
}
export function amountCss(level) {
  return `rgb(${amount(level).join(',')})`;
}

// Of lines, which are thin: three times the contrast of the page's colour at least.
const kEdges = { light: ['#868f9c', '#003a70'].map(rgb), dark: ['#6f7b8a', '#ffd75e'].map(rgb) };
export function edgeCss(level) {
  return `rgb(${along(isDark() ? kEdges.dark : kEdges.light, level).join(',')})`;
}

/** Level of a value on a logarithmic scale, so that a value a thousand times the others hides none. */
export function logLevel(value, least, most) {
  if (!(value > 0)) return 0;
  if (!(most > least)) return 1;
  return 0.05 + (0.95 * (Math.log(value) - Math.log(least))) / (Math.log(most) - Math.log(least));
}

/** A colour of the style sheet, which knows light from dark. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A strip that shows what the colours of amounts mean; one colour where there is one value. */
export function amountLegend(h, least, most, css = amountCss) {
  if (least === most) {
    const mark = h('span', { class: 'mark', 'aria-hidden': 'true' });
    mark.style.background = css(1);
    return h('span', { class: 'legend' }, h('span', {}, mark, most));
  }
  const stops = Array.from({ length: 10 }, (_, i) => css(i / 9)).join(',');
  const strip = h('span', { class: 'strip', 'aria-hidden': 'true' });
  strip.style.background = `linear-gradient(90deg, ${stops})`;
  return h('span', { class: 'legend' }, least, ' ', strip, ' ', most);
}
