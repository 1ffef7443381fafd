// What was chosen is in the URL's fragment; and search from anywhere. Part of browser.cjs.
const assert = require('node:assert');

const shown = (page) => page.evaluate(() => {
  const { timeline, matrix } = window.refrain;
  const { view } = timeline;
  const chosen = view.chosen();
  return { from: Math.round(view.from), to: Math.round(view.to), selection: view.selection, call: [chosen.row.rank, chosen.seq],
    colours: view.kinds.name, order: view.layout.order, height: view.layout.rowHeight, find: timeline.searchField.value,
    keys: document.querySelector('details:has(.keys)').open, metric: matrix.metric, cursor: matrix.cursor,
    profile: document.querySelector('#profile [aria-pressed=true]').innerText,
    waits: document.querySelector('#waits [aria-pressed=true] span').innerText,
    theme: document.documentElement.dataset.theme || 'auto', fragment: window.refrain.state.text() };
});

module.exports = ({ test, open, key, settle }) => {
  test('a reload, or another window, shows the same', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact');
    const first = await shown(page);
    assert.strictEqual(first.fragment, '', 'the first view needs none');
    await key(page, 'w');
    await key(page, 'ArrowDown');
    await key(page, 'ArrowRight');
    await key(page, 'r');
    await key(page, 'w');
    await key(page, 'c');
    await key(page, ']');
    await page.selectOption('#timeline label:has-text("Rows") select', 'ranks');
    await key(page, 'ArrowDown');
    await key(page, 'ArrowRight');
    await page.fill('#timeline input[type=search]', 'MPI_Waitall');
    await page.click('summary:has-text("Keys")');
    await page.selectOption('#matrix select', 'messages');
    await key(page, 'ArrowRight', '#matrix canvas');
    await page.click('#profile [data-by=site]');
    await page.click('#waits .item:has-text("Late sender")');
    await page.click('nav button');
    await page.waitForTimeout(400);
    const before = await shown(page);
    for (const name of Object.keys(first)) assert.notDeepStrictEqual(before[name], first[name], `${name} was changed`);
    const url = page.url();
    assert.ok(url.includes('view=') && url.includes('selected='), url);
    await page.reload();
    await page.waitForSelector('html[data-ready]');
    await settle(page);
    assert.deepStrictEqual(await shown(page), before);
    const other = await open(context, 'exact', new URL(url).hash);
    assert.deepStrictEqual(await shown(other), before);
    await other.close();
    // Links to sections keep it.
    await page.click('nav a:has-text("Waits")');
    await page.waitForTimeout(400);
    assert.ok(page.url().includes('at=waits') && page.url().includes('view='), page.url());
    assert.deepStrictEqual(page.complaints, []);
    await context.close();
  });

  test('a fragment that makes no sense is borne', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact', '#view=x,1&selected=9,-4,2&call=1,2,3e9&colours=no&rows=8&pairs=0,0,-1&wait=%3Cb%3E&' +
      'profile=constructor&height=1e99&groups=-1,77&theme=evil&find=%3Cimg%20src=x%20onerror=alert(1)%3E');
    assert.strictEqual(await page.$$eval('#timeline canvas', (all) => all.length), 1);
    assert.strictEqual(await page.$$eval('img', (all) => all.length), 0);
    assert.deepStrictEqual(page.complaints, []);
    await context.close();
  });

  test('/ searches from anywhere', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact');
    for (const place of ['#matrix canvas', '#waits button', '#environment']) {
      await page.evaluate((selector) => {
        document.activeElement.blur();
        document.querySelector(selector).focus();
        document.querySelector(selector).scrollIntoView();
      }, place);
      await page.keyboard.press('/');
      assert.ok(await page.evaluate(() => document.activeElement === window.refrain.timeline.searchField), place);
    }
    await page.keyboard.type('a/b');
    assert.strictEqual(await page.evaluate(() => window.refrain.timeline.searchField.value), 'a/b', 'a slash in a field is a slash');
    const box = await (await page.$('#timeline')).boundingBox();
    assert.ok(box.y < 200 && box.y > -200, 'and it is in sight');
    await context.close();
  });
};
