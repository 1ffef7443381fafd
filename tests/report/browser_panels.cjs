// Panels of iterations and behaviours, and the index of several runs. Part of browser.cjs.
const assert = require('node:assert');
const path = require('node:path');

module.exports = ({ test, open, key, settle, colours, range, expected, keep }) => {
  test('a chosen iteration is shown and selected in the timeline', async (browser) => {
    const context = await browser();
    const page = await open(context, 'panels');
    const text = (await page.$eval('#iterations', (e) => e.innerText)).replace(/\s+/g, ' ');
    for (const part of ['20 iterations on 32 ranks', 'number 7, rank 5', '1 outlier']) assert.ok(text.includes(part), `${part} in ${text}`);
    assert.ok(!text.includes('Trend'), `a line that explains nothing is no trend: ${text}`);
    assert.strictEqual(await page.$eval('#iterations tbody td', (e) => e.innerText), '7', 'the longest first');
    const begin = await page.evaluate(() => window.refrain.data.column('iterations.begin')[7]);
    const end = await page.evaluate(() => window.refrain.data.column('iterations.end')[7]);
    const selected = () => page.evaluate(() => window.refrain.timeline.view.selection);
    await page.click('#iterations tbody tr:first-child button');
    await settle(page);
    assert.deepStrictEqual(await selected(), { from: begin, to: end });
    const [from, to] = await range(page);
    assert.ok(from < begin && to > end && to - from < 2 * (end - begin), 'and the timeline is there');
    await key(page, 'ArrowRight', '#iterations canvas');
    await key(page, 'Enter', '#iterations canvas');
    assert.strictEqual((await selected()).from, await page.evaluate(() => window.refrain.data.column('iterations.begin')[8]));
    // In the middle of a bar.
    const canvas = await page.$('#iterations canvas');
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.click(box.x + 64 + ((box.width - 64) * 3.5) / 20, box.y + 100);
    await settle(page);
    assert.strictEqual((await selected()).from, await page.evaluate(() => window.refrain.data.column('iterations.begin')[3]));
    await page.waitForTimeout(400);
    assert.ok(page.url().includes('iteration=3'), page.url());
    assert.ok(await colours(page, '#iterations canvas') > 4);
    if (keep) await (await page.$('#iterations')).screenshot({ path: path.join(keep, 'iterations.png') });
    assert.deepStrictEqual(page.complaints, []);
    await context.close();
  });

  test('behaviours are rows, a map, and colours of the timeline', async (browser) => {
    const context = await browser();
    const page = await open(context, 'panels');
    const rows = await page.$$eval('#behaviours tbody tr', (all) => all.map((tr) => [...tr.cells].map((c) => c.innerText.trim())));
    assert.deepStrictEqual(rows.map((r) => [r[0], r[3], r[4]]), [['A', '639', '32'], ['B', '1', '1']]);
    // The cell of rank 5 and iteration 7, and its neighbours, by colour.
    const colour = (rank, iteration) => page.$eval('#behaviours canvas', (canvas, [r, i]) => {
      const ratio = canvas.width / canvas.clientWidth;
      const high = (canvas.clientHeight - 20) / 32;
      const wide = (canvas.clientWidth - 64) / 20;
      return [...canvas.getContext('2d', { willReadFrequently: true }).getImageData((64 + (i + 0.5) * wide) * ratio,
        (r + 0.5) * high * ratio, 1, 1).data].join(' ');
    }, [rank, iteration]);
    const usual = await colour(0, 0);
    assert.notStrictEqual(await colour(5, 7), usual);
    assert.strictEqual(await colour(5, 8), usual);
    assert.ok(await page.$eval('#behaviours canvas', (c) => (c.clientHeight - 20) / 32 >= 8), '8 pixels a rank');
    const before = await page.$eval('canvas.timeline', (c) => c.toDataURL());
    await page.click('#behaviours button:has-text("Colour the timeline")');
    await settle(page);
    assert.notStrictEqual(await page.$eval('canvas.timeline', (c) => c.toDataURL()), before);
    assert.strictEqual(await page.evaluate(() => window.refrain.timeline.view.kinds.name), 'behaviour');
    for (let i = 0; i < 8; ++i) await key(page, 'ArrowRight', '#behaviours canvas');
    for (let i = 0; i < 5; ++i) await key(page, 'ArrowDown', '#behaviours canvas');
    assert.ok((await page.$eval('#behaviours .exact', (e) => e.innerText)).startsWith('Rank 5, iteration 7: behaviour B'));
    if (keep) await (await page.$('#behaviours')).screenshot({ path: path.join(keep, 'behaviours.png') });
    if (keep) await (await page.$('#timeline')).screenshot({ path: path.join(keep, 'coloured.png') });
    assert.deepStrictEqual(page.complaints.filter((c) => !c.includes('willReadFrequently')), []);
    await context.close();
  });

  test('the time of the recorder is hatched', async (browser) => {
    const context = await browser();
    const page = await open(context, 'panels');
    assert.ok((await page.$eval('#timeline .classes', (e) => e.innerText)).includes('the recorder itself'));
    // Within rank 0's bar, in the half that is the recorder's, there is more change from pixel to pixel than in rank 1's.
    const changes = await page.$eval('canvas.timeline', (canvas) => {
      const { view } = window.refrain.timeline;
      const ratio = canvas.width / canvas.clientWidth;
      const context2d = canvas.getContext('2d');
      return [0, 1].map((row) => {
        const y = Math.floor((view.picture.places.get(row) - 8) * ratio);
        const { data } = context2d.getImageData(Math.floor((view.gutter + 2) * ratio), y, Math.floor(view.plotWidth * 0.4 * ratio), 1);
        const pixels = new Uint32Array(data.buffer);
        return pixels.filter((v, i) => i > 0 && v !== pixels[i - 1]).length;
      });
    });
    assert.ok(changes[0] > changes[1] + 50, `${changes}`);
    await context.close();
  });

  test('two runs are one above the other on one scale, with waits and noise', async (browser) => {
    for (const [width, scheme] of [[1280, 'light'], [390, 'dark']]) {
      const context = await browser({ width, height: 900 }, scheme);
      const page = await open(context, 'pair');
      const boxes = [];
      for (const canvas of await page.$$('canvas.compared')) boxes.push(await canvas.boundingBox());
      assert.strictEqual(boxes.length, 2);
      assert.ok(boxes[0].x === boxes[1].x && boxes[0].width === boxes[1].width && boxes[1].y > boxes[0].y + boxes[0].height);
      assert.ok(boxes.every((box) => box.height >= 32 * 24), 'rows are high');
      const { from, to, longest } = await page.evaluate(() => {
        const { timelines } = window.refrain;
        return { from: timelines.from, to: timelines.to, longest: Math.max(...timelines.runs.map((r) => r.json.length_ns)) };
      });
      assert.deepStrictEqual([from, to], [0, longest]);
      assert.ok(await colours(page, 'canvas.compared') > 3);
      const heads = await page.$$eval('#compare th', (all) => all.map((th) => th.innerText.trim()));
      assert.deepStrictEqual(heads, ['function', 'calls 1', 'time 1', 'waiting 1', 'calls 2', 'time 2', 'noise 2', 'waiting 2']);
      const waiting = await page.evaluate(() => window.refrain.data.json.traces.map((t) =>
        t.functions.reduce((a, f) => a + f.waiting_ns, 0)));
      for (const [i, name] of ['few', 'line'].entries()) {
        const all = expected[name].waits.patterns.reduce((a, p) => a + p.own_seconds * 1e9, 0);
        assert.ok(Math.abs(waiting[i] - all) < 100, `${waiting[i]} of ${all}`);
      }
      await key(page, 'w', 'canvas.compared');
      assert.ok(await page.evaluate(() => window.refrain.timelines.to - window.refrain.timelines.from) < 0.7 * longest, 'w zooms both');
      await page.waitForTimeout(400);
      assert.ok(page.url().includes('view='), page.url());
      await page.reload();
      await page.waitForSelector('html[data-ready]');
      assert.ok(await page.evaluate(() => window.refrain.timelines.to - window.refrain.timelines.from) < 0.7 * longest, 'and stays');
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'nothing sticks out');
      if (keep) await page.screenshot({ path: path.join(keep, `pair-${width}.png`), fullPage: true });
      assert.deepStrictEqual(page.complaints, []);
      await context.close();
    }
  });
};
