// What the page says is what the terminal says, to the last digit. Part of browser.cjs.
const assert = require('node:assert');

const plain = (text) => text.replace(/\s/g, '');

module.exports = ({ test, open, expected }) => {
  test('figures are those of the terminal', async (browser) => {
    const context = await browser();
    for (const name of ['exact', 'stats', 'grid', 'few']) {
      const page = await open(context, name);
      const lines = expected[name].profile_text.split('\n');
      const functions = lines.slice(lines.findIndex((l) => l.startsWith('Functions, by time')));
      const rows = await page.$$eval('#profile-table tbody tr', (all) => all.map((tr) => [...tr.cells].map((c) => c.innerText)));
      assert.ok(rows.length >= 5, name);
      for (const [call, , ...numbers] of rows) {
        const line = functions.find((l) => l.trim().split(' ')[0] === call);
        // Call, calls, time, of MPI, of run, min, mean, max, bytes.
        assert.ok(line && plain(line).startsWith(plain([call, ...numbers].join(''))), `${name}: ${[call, ...numbers]} is not ${line}`);
      }
      if (expected[name].waits.patterns) await waits(page, name);
      assert.deepStrictEqual(page.complaints, []);
      await page.close();
    }
    await context.close();
  });

  async function waits(page, name) {
    const text = plain(expected[name].waits_text);
    const verdict = await page.$eval('#verdict', (e) => e.innerText);
    // The first sentence, with breaks of lines in the terminal's.
    assert.ok(text.startsWith(plain(await page.$eval('#verdict .sentence', (e) => e.innerText))), 'the verdict');
    for (const factor of ['parallel', 'load_balance', 'communication', 'serialisation', 'transfer']) {
      const shown = `${(100 * expected[name].waits.efficiency[factor]).toFixed(1)}%`;
      assert.ok(plain(verdict).includes(shown), `${name}: ${factor} ${shown}`);
    }
    assert.ok(plain(verdict).includes('spentinthenetworkandtheMPIlibrary'), 'captions say what is measured');
    const kinds = await page.$$eval('#waits .pane:nth-child(1) .item', (all) => all.map((e) => e.innerText));
    assert.ok(kinds.length > 1);
    for (const kind of kinds) assert.ok(text.includes(plain(kind)), `${name}: ${kind}`);
  }

  test('numbers are rounded as the terminal rounds them', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact');
    // The same as in src/text/numbers_test.cc and numbers.cc; halves go to the even digit.
    const texts = await page.evaluate(() => {
      const { duration, bytes, percent, sizeBin } = window.refrain.format;
      return [[999, 1125, 1135, 1500, 999499, 999500, 999700000, 2500000000, 1005000000].map(duration),
        [1023, 1024, 30720, 1000000, 1023488].map(bytes), [0.0005, 0.12345].map(percent), [0, 1, 256, 1024, 524288].map(sizeBin)];
    });
    assert.deepStrictEqual(texts, [
      ['999 ns', '1.12 us', '1.14 us', '1.5 us', '999 us', '1 ms', '1.00 s', '2.50 s', '1.00 s'],
      ['1023 B', '1.00 KiB', '30.0 KiB', '977 KiB', '0.98 MiB'], ['0.1 %', '12.3 %'],
      ['0 B', '1 B', '256–511 B', '1–2 KiB', '512 KiB–1 MiB']]);
    await context.close();
  });

  test('tables that are cut end with the others, and add up', async (browser) => {
    const context = await browser();
    const page = await open(context, 'exact');
    const shown = () => page.$$eval('#waits table', (all) => [...all].map((t) => [...t.tBodies[0].rows].map((r) =>
      [...r.cells].map((c) => c.innerText))));
    const [list] = await shown();
    const last = list[list.length - 1];
    const all = await page.evaluate(() => window.refrain.model.explained.ns.length);
    assert.strictEqual(last[0], `others (${all - 8})`);
    const rest = await page.evaluate(() => {
      const { model, format } = window.refrain;
      return format.duration(Array.from(model.explained.ns).sort((a, b) => b - a).slice(8).reduce((a, b) => a + b, 0));
    });
    assert.strictEqual(last[1], rest);
    await context.close();
  });
};
