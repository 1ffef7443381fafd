// What can be seen: heights, widths, colours, legends. Part of browser.cjs.
const assert = require('node:assert');

const luminance = (colour) => {
  const [r, g, b] = colour.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const numbers = (text) => text.match(/\d+/g).map(Number);

module.exports = ({ test, open, key, settle, colours, expected }) => {
  test('few ranks have high rows, in a window used up to its width', async (browser) => {
    for (const width of [1280, 1920]) {
      const context = await browser({ width, height: 900 });
      for (const name of ['exact', 'few']) {
        const page = await open(context, name);
        const found = await page.evaluate(() => {
          const { view } = window.refrain.timeline;
          return { rows: view.layout.items.filter((i) => i.kind === 'row').map((i) => i.height), height: view.layout.height,
            space: view.space, width: view.box.width };
        });
        assert.ok(found.rows.length === expected[name].info.ranks && Math.min(...found.rows) >= 24, `${found.rows}`);
        assert.ok(found.height <= found.space, 'all rows are in sight');
        assert.ok(found.width > width - 100, `${found.width} of ${width}`);
        await page.close();
      }
      await context.close();
    }
  });

  test('the overview shows waits, the longest messages, names, and colours by function', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact');
    const shown = (wanted) => page.$eval('canvas.timeline', (canvas, [r, g, b]) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let n = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b) ++n;
      return n;
    }, wanted);
    assert.ok(await shown([0xd5, 0x5e, 0x00]) > 50, 'waits');
    assert.ok(await page.evaluate(() => window.refrain.timeline.view.picture.arrows.longest) > 0, 'longest messages');
    const drawn = await page.evaluate(() => {
      const { view } = window.refrain.timeline;
      const said = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function note(text, ...rest) {
        said.push(text);
        return fillText.call(this, text, ...rest);
      };
      view.picture.draw(view.box.canvas.getContext('2d'), view.box.width, view.box.height, view.box.ratio);
      CanvasRenderingContext2D.prototype.fillText = fillText;
      return said;
    });
    assert.ok(drawn.some((text) => /^Init {2}\d/.test(text)), `names in bars: ${drawn}`);
    const before = await page.$eval('canvas.timeline', (c) => c.toDataURL());
    await key(page, 'c');
    assert.notStrictEqual(await page.$eval('canvas.timeline', (c) => c.toDataURL()), before, 'c changes the colours');
    assert.ok((await page.$eval('#timeline .classes', (e) => e.innerText)).includes('MPI_Waitall'), 'functions in the legend');
    assert.deepStrictEqual(page.complaints, []);
    // Thousands of ranks as well.
    const large = await open(context, 'large');
    await large.selectOption('#timeline label:has-text("Colours") select', 'function');
    await settle(large);
    assert.ok(await colours(large, 'canvas.timeline') > 3);
    assert.deepStrictEqual(large.complaints, []);
    await context.close();
  });

  test('edges and cells can be seen on both themes', async (browser) => {
    for (const scheme of ['light', 'dark']) {
      const context = await browser({ width: 1280, height: 900 }, scheme);
      const page = await open(context, 'grid');
      const { surface, empty, edges, cells } = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement);
        const hex = (name) => style.getPropertyValue(name).trim().match(/[0-9a-f]{2}/gi).map((v) => parseInt(v, 16));
        const levels = Array.from({ length: 21 }, (_, i) => i / 20);
        const { edgeCss, amountCss } = window.refrain.colours;
        return { surface: hex('--surface'), empty: hex('--empty'), edges: levels.map(edgeCss), cells: levels.map(amountCss) };
      });
      for (const edge of edges) assert.ok(contrast(numbers(edge), surface) >= 3, `${scheme} ${edge}`);
      for (const cell of cells) assert.ok(contrast(numbers(cell), empty) >= 1.5, `${scheme} ${cell}`);
      assert.ok(contrast(numbers(cells[20]), empty) > contrast(numbers(cells[0]), empty), 'more stands out more');
      await context.close();
    }
  });

  test('density maps have labels and room, bins have names, one value has one colour', async (browser) => {
    for (const width of [1280, 390]) {
      const context = await browser({ width, height: 900 });
      for (const name of ['exact', 'few', 'line', 'column']) {
        const page = await open(context, name);
        const cells = await page.$$eval('#density canvas', (all) => all.map((c) => c.dataset.cell));
        assert.ok(cells.length > 3);
        for (const cell of cells) assert.ok(cell.split(',').every((v) => Number(v) >= 8), `${name} ${width}: ${cell}`);
        assert.strictEqual(await page.$$eval('#density .map-legend', (all) => all.filter((e) => e.innerText.trim() === '').length), 0);
        await page.close();
      }
      const page = await open(context, 'exact');
      const bins = await page.$eval('#sizes .chart', (e) => e.dataset.bins);
      for (const { from_bytes: from } of expected.exact.profile.sizes)
        if (from > 1 && from < 1024) assert.ok(bins.includes(`${from}–${2 * from - 1} B`), `${bins} has ${from}`);
      await context.close();
    }
    // Every rank of a ring sends as much as the others.
    const context = await browser();
    const page = await open(context, 'exact');
    await page.selectOption('#matrix select', 'messages');
    await settle(page);
    const messages = new Set(expected.exact.matrix.pairs.map((p) => p.messages));
    assert.strictEqual(await page.$$eval('#matrix .legend .strip', (all) => all.length), messages.size === 1 ? 0 : 1);
    await context.close();
  });
};
