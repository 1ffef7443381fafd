// How long a frame of a page's timeline takes while it moves, in ms: median, 95 of 100; and drawing
// one in full, with every row.
//   node report_frames.cjs CHROMIUM PAGE PROFILE_FOLDER
const { chromium } = require('playwright-core');

const [executablePath, page, profile] = process.argv.slice(2);

/** In the page: moves as the keys do, one step a frame, with all rows in sight. */
async function measure() {
  const { view } = window.refrain.timeline;
  view.layout.order = 'ranks';
  view.layout.isFit = true;
  view.rebuild();
  const next = () => new Promise(requestAnimationFrame);
  const steps = [];
  for (let i = 0; i < 40; ++i) steps.push(() => view.zoom(1.1, (view.from + view.to) / 2));
  for (let i = 0; i < 40; ++i) steps.push(() => view.pan(0.02));
  for (let i = 0; i < 40; ++i) steps.push(() => view.zoom(1 / 1.1, (view.from + view.to) / 2));
  for (let i = 0; i < 8; ++i) steps[i](), await next();  // what is found out once
  const times = [];
  let before = await next();
  for (const step of steps) {
    step();
    const now = await next();
    times.push(now - before);
    before = now;
  }
  times.sort((a, b) => a - b);
  await new Promise((done) => setTimeout(done, 400));
  view.changed();
  await next();
  await next();
  return [times[times.length >> 1], times[Math.floor(times.length * 0.95)], view.cost];
}

(async () => {
  const context = await chromium.launchPersistentContext(profile, { executablePath,
    viewport: { width: 1280, height: 900 },
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'] });
  const tab = await context.newPage();
  await tab.goto(`file://${page}`);
  await tab.waitForSelector('html[data-ready]', { timeout: 120000 });
  const found = await tab.evaluate(measure);
  console.log(found.join(' '));
  await context.close();
})();
