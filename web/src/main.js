// The page, from its data.
import './style.css';
import { Behaviours } from './behaviours.js';
import { clustersSection } from './clusters.js';
import * as colours from './colours.js';
import { comparePage } from './compare.js';
import { readData } from './data.js';
import { densitySection } from './density.js';
import { button, h, replace, tip } from './dom.js';
import { environmentSection } from './environment.js';
import * as format from './format.js';
import { Graph } from './graph.js';
import { Iterations } from './iterations.js';
import { Matrix } from './matrix.js';
import { Model } from './model.js';
import { foldNames } from './names.js';
import { posixSection } from './posix.js';
import { profileSection } from './profile.js';
import { state } from './state.js';
import { sizesSection } from './sizes.js';
import { Timeline } from './timeline/section.js';
import { windowOf } from './timeline/window.js';
import { verdictSection, warning } from './verdict.js';
import { Waits } from './waits.js';

// What the navigation calls a section: its id with a capital letter, except these.
const kTitles = { graph: 'Topology', posix: 'Files' };
const titleOf = (id) => kTitles[id] || id[0].toUpperCase() + id.slice(1);

function themeButton() {
  const next = { auto: 'light', light: 'dark', dark: 'auto' };
  const root = document.documentElement;
  const show = (theme) => {
    root.dataset.theme = theme;
    out.textContent = `Theme: ${theme}`;
    document.dispatchEvent(new Event('themechange'));
  };
  const out = button('Theme: auto', () => {
    show(next[root.dataset.theme || 'auto']);
    state.changed();
  }, 'Light or dark');
  state.bind('theme', () => (['light', 'dark'].includes(root.dataset.theme) ? root.dataset.theme : null),
    (theme) => show(Object.hasOwn(next, theme) ? theme : 'auto'));
  return out;
}

/** The search of the timeline, from anywhere on the page. */
function listenForSearch(timeline) {
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(input|select|textarea)$/i.test(event.target.tagName)) return;
    event.preventDefault();
    timeline.focusSearch();
  });
}

/** The command line, or with several programs that of each and its ranks. */
function commands(info) {
  const programs = info.programs || [];
  if (programs.length < 2) return [info.command];
  return programs.map((p) => `${p.command} (rank${p.rank_count === 1 ? '' : 's'} ${p.ranks})`);
}

function reportPage(data) {
  foldNames(data.json.fold_names !== false);
  const { info } = data.json;
  const model = new Model(data);
  const timeline = new Timeline(model, data.json.waits);
  // What other sections lead to: the calls behind a number.
  const links = {
    show: (text, rank) => timeline.show(text, rank),
    goto: (rank, thread, seq) => timeline.goto(rank, thread, seq),
    showTime: (from, to, rank) => timeline.showTime(from, to, rank),
    colourBy: (name) => {
      timeline.colourBy(name);
      timeline.come();
    },
    longestWait(rank, pattern) {
      const { explained } = model;
      const waits = new Waits(data, links);
      for (let i = 0; i < explained.rank.length; ++i)
        if (explained.rank[i] === rank && (!pattern || waits.contains(pattern, explained.pattern[i]))) {
          timeline.goto(rank, explained.thread[i], explained.seq[i]);
          return;
        }
    },
  };
  const name = info.program.split('/').pop();
  const matrix = new Matrix(data, links);
  const graph = new Graph(data, links);
  // For tests, and for people with a console.
  window.refrain = { data, model, timeline, matrix, graph, format, state, colours, windowOf };
  listenForSearch(timeline);
  const sections = [verdictSection(data, links), timeline.element(), new Iterations(data, links).element(),
    new Behaviours(data, model, links).element(), [matrix.element(), graph.element()], densitySection(data, links),
    clustersSection(data, links), profileSection(data, links), posixSection(data), sizesSection(data, links), new Waits(data, links).element(), environmentSection(data)];
  const titles = sections.flat().filter(Boolean).map((e) => h('a', { href: `#${e.id}` }, titleOf(e.id)));
  return [
    h('header', {}, h('h1', {}, name || 'Refrain report'), commands(info).map((c) => h('p', { class: 'command' }, c)),
      h('nav', { 'aria-label': 'Sections' }, titles, themeButton())),
    warning(info), sections.map((e) => (Array.isArray(e) ? h('div', { class: 'two' }, e) : e)),
    h('footer', {}, `refrain report of ${data.json.trace}`)];
}

async function start() {
  const page = document.getElementById('page');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
    () => document.dispatchEvent(new Event('themechange')));
  try {
    const data = await readData(document.getElementById('data'));
    replace(page, data.json.kind === 'index' ? comparePage(data) : reportPage(data), tip.element);
    requestAnimationFrame(() => {
      state.start();
      document.documentElement.dataset.ready = 'yes';
    });
  } catch (error) {
    replace(page, h('p', { class: 'bar', role: 'alert' }, `This page cannot be drawn: ${error.message}. It needs a ` +
      'browser of 2023 or later.'));
    throw error;
  }
}
start();
