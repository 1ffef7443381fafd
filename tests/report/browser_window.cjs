// A selected stretch of time: its profile, matrix and waits. Part of browser.cjs.
const assert = require('node:assert');

/** By the page, and by looking at every call of every rank. */
const both = (page, from, to) => page.evaluate(([a, b]) => {
  const { model, windowOf } = window.refrain;
  const found = windowOf(model, a, b);
  const last = b >= model.end ? Infinity : b;
  const calls = {};
  const pairs = {};
  for (const row of model.rows)
    for (let seq = 0; seq < row.calls; ++seq) {
      const { begin, end } = model.timeOf(row, seq);
      const name = model.name(row.group, model.terminal(row, seq));
      const ns = Math.min(end, b) - Math.max(begin, a);
      const isIn = begin >= a && begin < last;
      if (isIn || ns > 0) calls[name] = calls[name] || [0, 0];
      if (isIn) ++calls[name][0];
      if (ns > 0) calls[name][1] += ns;
      if (!isIn) continue;
      const end0 = model.messageEnd(row, model.terminal(row, seq), 'send');
      if (!end0 || end0.peer < 0) continue;
      pairs[`${row.rank} ${end0.peer}`] = (pairs[`${row.rank} ${end0.peer}`] || 0) + 1;
    }
  const rounded = (ns) => Math.round(ns / 10) * 10;
  return { page: [Object.fromEntries(found.functions.map((f) => [f.call, [f.count, rounded(f.ns)]])),
    Object.fromEntries(found.pairs.map((p) => [`${p.source} ${p.dest}`, p.messages]))],
  slow: [Object.fromEntries(Object.entries(calls).map(([name, [n, ns]]) => [name, [n, rounded(ns)]])), pairs] };
}, [from, to]);
const sorted = (value) => JSON.parse(JSON.stringify(value), (k, v) => (v && typeof v === 'object' && !Array.isArray(v)
  ? Object.fromEntries(Object.entries(v).sort()) : v));

module.exports = ({ test, open, key, settle, range, expected, keep }) => {
  test('the profile, matrix and waits of a window are those of its calls', async (browser) => {
    const context = await browser();
    for (const name of ['exact', 'grid', 'few']) {
      const page = await open(context, name);
      const [begin, end] = await range(page);
      const at = (share) => Math.round(begin + share * (end - begin));
      for (const [a, b] of [[0, 1], [0.2, 0.7], [0.5, 0.5001], [0.9, 1]]) {
        const { page: fast, slow } = await both(page, at(a), at(b));
        assert.deepStrictEqual(sorted(fast), sorted(slow), `${name} ${a} to ${b}`);
      }
      await page.close();
    }
    await context.close();
  });

  test('windows that tile the run add up to what profile, matrix and waits say', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact');
    const sums = await page.evaluate(() => {
      const { model, windowOf } = window.refrain;
      const out = { calls: {}, ns: {}, pairs: {}, waits: {} };
      const add = (map, name, value) => {
        map[name] = (map[name] || 0) + value;
      };
      for (let i = 0; i < 7; ++i) {
        const edge = (k) => Math.round(model.begin + (k * (model.end - model.begin)) / 7);
        const found = windowOf(model, edge(i), edge(i + 1));
        for (const f of found.functions) {
          add(out.calls, f.call, f.count);
          add(out.ns, f.call, f.ns);
        }
        for (const p of found.pairs) add(out.pairs, `${p.source} ${p.dest} ${p.messages > 0}`, p.bytes);
        for (const w of found.waits) add(out.waits, window.refrain.data.json.waits.patterns[w.pattern].name, w.ns);
      }
      return out;
    });
    const { profile, matrix, waits } = expected.exact;
    for (const f of profile.functions) {
      assert.strictEqual(sums.calls[f.call], f.count, f.call);
      assert.ok(Math.abs(sums.ns[f.call] - f.time_ns) <= 0.02 * f.time_ns + 10, `${f.call} ${sums.ns[f.call]} ${f.time_ns}`);
    }
    for (const p of matrix.pairs) assert.strictEqual(sums.pairs[`${p.source} ${p.dest} true`], p.bytes, `${p.source} to ${p.dest}`);
    for (const p of waits.patterns)
      if (p.own_seconds > 0 && !p.pattern.endsWith('completion')) assert.ok(Math.abs(sums.waits[p.pattern] - p.own_seconds * 1e9) < 20, `${p.pattern} ${sums.waits[p.pattern]}`);
    await context.close();
  });

  test('a range is selected with the mouse and with keys', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact');
    const selection = () => page.evaluate(() => window.refrain.timeline.view.selection);
    const drag = async (y, modifier) => {
      const canvas = await page.$('canvas.timeline');
      await canvas.scrollIntoViewIfNeeded();
      const box = await canvas.boundingBox();
      if (modifier) await page.keyboard.down(modifier);
      await page.mouse.move(box.x + 300, box.y + y);
      await page.mouse.down();
      await page.mouse.move(box.x + 400, box.y + y, { steps: 4 });
      await page.mouse.move(box.x + 500, box.y + y, { steps: 4 });
      await page.mouse.up();
      if (modifier) await page.keyboard.up(modifier);
      await page.waitForTimeout(150);
    };
    const whole = await range(page);
    await drag(10);
    const first = await selection();
    const px = (whole[1] - whole[0]) / await page.evaluate(() => window.refrain.timeline.view.plotWidth);
    assert.ok(Math.abs(first.to - first.from - 200 * px) < 3 * px, JSON.stringify(first));
    assert.deepStrictEqual(await range(page), whole, 'the view stays');
    const text = await page.$eval('.selection', (e) => e.innerText);
    for (const part of ['Profile', 'Messages', 'Waits', '% in MPI', 'MPI_']) assert.ok(text.includes(part), part);
    if (keep) await (await page.$('#timeline')).screenshot({ path: `${keep}/selection.png` });
    await key(page, 'Escape');
    assert.strictEqual(await selection(), null);
    await drag(80, 'Shift');
    assert.deepStrictEqual(await selection(), first, 'Shift and drag');
    await key(page, 'Escape');
    await page.click('button:has-text("Select time")');
    await drag(80);
    assert.deepStrictEqual(await selection(), first, 'drag in the mode');
    await page.click('button:has-text("Select time")');
    await key(page, 'z');
    const [from, to] = await range(page);
    assert.ok(Math.abs(from - first.from) < 2 && Math.abs(to - first.to) < 2, 'z zooms to it');
    await key(page, 'Escape');
    await key(page, 'r');
    assert.ok(Math.abs((await selection()).from - from) < 2, 'r selects what is in sight');
    await key(page, 'Escape');
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    const keyed = await selection();
    assert.ok(Math.abs(keyed.to - keyed.from - 0.04 * (to - from)) < 0.001 * (to - from), 'Shift and an arrow');
    await page.waitForTimeout(150);
    await page.fill('.selection input >> nth=0', '0');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.strictEqual((await selection()).from, whole[0], 'numbers can be typed');
    assert.deepStrictEqual(page.complaints, []);
    await context.close();
  });
};
