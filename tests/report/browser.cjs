// Opens report pages in headless Chromium and uses them as people do. Started by browser.py.
//   node browser.cjs CHROMIUM EXPECTED.json PROFILE_FOLDER [SCREENSHOT_FOLDER [PATTERN]]
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { chromium } = require('playwright-core');

const [executablePath, expectedFile, profile, keep, only = ''] = process.argv.slice(2);
const expected = JSON.parse(fs.readFileSync(expectedFile, 'utf8'));
const kFlags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run',
  '--disable-component-update', '--disable-sync'];
const tests = [];
const test = (name, run) => new RegExp(only).test(name) && tests.push({ name, run });

/** A page that is open and drawn. What it asks for, and what it complains of, fails the test. */
async function open(context, name, fragment = '') {
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && page.complaints.push(m.text()));
  page.on('pageerror', (e) => page.complaints.push(e.message));
  page.on('dialog', (d) => {
    page.complaints.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on('request', (r) => !/^(file|data|blob):/.test(r.url()) && page.complaints.push(`request: ${r.url()}`));
  await page.goto(`file://${expected[name].page}${fragment}`);
  await page.waitForSelector('html[data-ready]', { timeout: 30000 });
  await settle(page);
  return page;
}
async function settle(page) {
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
  }));
}
/** How many different colours a canvas shows. */
const colours = (page, selector) => page.$eval(selector, (canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
});
const range = (page) => page.evaluate(() => {
  const { view } = window.refrain.timeline;
  return [view.from, view.to];
});
const key = async (page, name, selector = 'canvas.timeline') => {
  await page.focus(selector);
  await page.keyboard.press(name);
  await settle(page);
};

for (const scheme of ['light', 'dark'])
  for (const width of [1920, 1280, 390])
    test(`draws every section, ${scheme}, ${width} wide`, async (browser) => {
      const context = await browser({ width, height: 900 }, scheme);
      for (const name of scheme === 'light' && width === 1280 ? ['exact', 'stats', 'grid'] : ['exact']) {
        const page = await open(context, name);
        for (const id of ['verdict', 'timeline', 'matrix', 'graph', 'density', 'profile', 'sizes', 'waits', 'environment'])
          assert.ok(await page.$(`#${id} .hint`), `${name} has #${id} with a hint`);
        for (const id of ['timeline', 'matrix', 'graph', 'density', 'sizes'])
          assert.ok(await colours(page, `#${id} canvas`) > 3, `${name}: #${id} is not blank`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'nothing sticks out');
        const [r, g, b] = await page.$eval('section', (s) => getComputedStyle(s).backgroundColor.match(/\d+/g).map(Number));
        assert.ok(scheme === 'light' ? r + g + b > 600 : r + g + b < 200, `${scheme} background`);
        if (keep) await page.screenshot({ path: path.join(keep, `${name}-${scheme}-${width}.png`), fullPage: true });
        assert.deepStrictEqual(page.complaints, []);
        await page.close();
      }
      await context.close();
    });

test('numbers are those of profile, matrix and waits', async (browser) => {
  const context = await browser();
  const page = await open(context, 'exact');
  const { profile, matrix, waits } = expected.exact;
  const rows = await page.$$eval('#profile-table tbody tr', (all) => all.map((tr) => [...tr.cells].map((c) => c.innerText)));
  const plain = (text) => text.replace(/\s/g, '');
  profile.functions.slice(0, rows.length).forEach((f, i) => {
    assert.strictEqual(rows[i][0], f.call);
    assert.strictEqual(plain(rows[i][2]), String(f.count));
  });
  for (const pair of matrix.pairs) {
    const text = await page.evaluate(([s, d]) => {
      const m = window.refrain.matrix;
      return m.describe([m.placeOf[d], m.placeOf[s]]);
    }, [pair.source, pair.dest]);
    assert.ok(plain(text).includes(plain(`rank ${pair.source} to rank ${pair.dest}: ${pair.messages} messages, ${pair.bytes} bytes`)), text);
  }
  const all = await page.$eval('#waits .pane .numbers', (e) => e.innerText);
  const top = waits.patterns[0];
  assert.ok(all.endsWith(`${top.percent.toFixed(1)} %`), `${all} against ${top.percent}`);
  assert.ok((await page.$eval('#verdict', (e) => e.innerText)).includes(`${(100 * waits.efficiency.parallel).toFixed(1)} %`));
  assert.deepStrictEqual(page.complaints, []);
  await context.close();
});

test('every call is where dump says, with every parameter', async (browser) => {
  const context = await browser();
  for (const name of ['exact', 'stats', 'grid']) {
    const page = await open(context, name);
    const calls = await page.evaluate((count) => {
      const { model } = window.refrain;
      const row = model.rowOf.get('1.0');
      return Array.from({ length: Math.min(count, row.calls) }, (_, seq) => {
        const t = model.terminal(row, seq);
        return { name: model.name(row.group, t), time: model.timeOf(row, seq), text: model.parameters(row, t).text,
          at: model.callAt(row, model.timeOf(row, seq).begin + 1e-3) };
      });
    }, expected[name].dump.length);
    assert.strictEqual(calls.length, expected[name].dump.length);
    calls.forEach((call, seq) => {
      const dumped = expected[name].dump[seq];
      assert.strictEqual(call.name, dumped.call);
      const line = expected[name].lines[seq];
      const from = line.indexOf('(') + 1;
      assert.ok(call.text.startsWith(line.slice(from, line.lastIndexOf(')'))), `${name} ${seq}: ${call.text} is not ${line}`);
      // Some take no time at all.
      assert.ok(call.at === seq || calls[call.at].time.begin - call.time.begin < 0.01, `${name} ${seq} is found by its time`);
      if (name === 'stats') return;
      assert.strictEqual(call.time.begin, dumped.begin_ns);
      assert.strictEqual(call.time.end, dumped.end_ns);
    });
    await page.close();
  }
  await context.close();
});

test('messages lead to their other end', async (browser) => {
  const context = await browser();
  for (const name of ['exact', 'stats', 'grid']) {
    const page = await open(context, name);
    // For every send of every rank by the page's own counting; here once more, by walking all calls.
    const bad = await page.evaluate(() => {
      const { model, timeline } = window.refrain;
      const queues = new Map();
      const ends = (kind) => model.rows.forEach((row) => {
        for (let seq = 0; seq < row.calls; ++seq) {
          const end = model.messageEnd(row, model.terminal(row, seq), kind);
          if (!end || end.peer < 0) continue;
          const [from, to] = kind === 'send' ? [row.rank, end.peer] : [end.peer, row.rank];
          const id = `${kind} ${end.comm} ${from} ${to} ${end.tag}`;
          if (!queues.has(id)) queues.set(id, []);
          queues.get(id).push([row, seq]);
        }
      });
      ends('send');
      ends('receive');
      let messages = 0;
      let wrong = 0;
      for (const [id, sends] of queues) {
        if (!id.startsWith('send')) continue;
        const receives = queues.get(id.replace('send', 'receive')) || [];
        sends.slice(0, 40).forEach(([row, seq], i) => {
          const [message] = timeline.messagesOf(row, seq, 'send');
          ++messages;
          const [other, number] = receives[i] || [];
          if (!message || message.to.row !== other || message.to.seq !== number) ++wrong;
        });
      }
      return [messages, wrong];
    });
    assert.ok(bad[0] > 50, `${name} has messages`);
    assert.strictEqual(bad[1], 0, `${name}: ${bad[1]} of ${bad[0]} lead elsewhere`);
    await page.close();
  }
  const page = await open(context, 'exact');
  await page.evaluate(() => window.refrain.timeline.goto(1, 0, 100));
  for (let i = 0; i < 3; ++i) await key(page, 's');
  assert.ok(await page.evaluate(() => window.refrain.timeline.view.arrowCount) > 0, 'arrows are drawn');
  await context.close();
});

test('messages from anybody have arrows, and the page says when some have none', async (browser) => {
  const context = await browser();
  const page = await open(context, 'workers');
  const note = await page.$eval('#timeline .note', (e) => e.innerText.replace(/\s/g, ''));
  const listed = await page.evaluate(() => window.refrain.model.listed.json.listed);
  assert.ok(note.includes('Of70000messages') && note.includes(`,${listed}havearrows`), note);
  // The longest wait of all has one, which leads to its sender and back.
  await page.evaluate(() => {
    const { model, timeline } = window.refrain;
    timeline.goto(0, 0, model.explained.seq[0]);
  });
  await settle(page);
  assert.ok(await page.evaluate(() => window.refrain.timeline.view.arrowCount) > 0, 'arrows are drawn');
  const chosen = () => page.evaluate(() => {
    const { row, seq } = window.refrain.timeline.view.chosen();
    return [row.rank, seq];
  });
  const receive = await chosen();
  await key(page, 'm');
  const send = await chosen();
  assert.strictEqual(send[0], await page.evaluate(() => window.refrain.model.explained.partner[0]));
  assert.strictEqual(send[1], await page.evaluate(() => window.refrain.model.explained.partner_seq[0]));
  await key(page, 'm');
  assert.deepStrictEqual(await chosen(), receive);
  if (keep) await (await page.$('#timeline')).screenshot({ path: path.join(keep, 'workers.png') });
  assert.deepStrictEqual(page.complaints, []);
  await context.close();
});

test('the keys zoom, move, choose and search', async (browser) => {
  const context = await browser();
  const page = await open(context, 'exact');
  const whole = await range(page);
  const before = await page.$eval('canvas.timeline', (c) => c.toDataURL());
  await key(page, 'w');
  const near = await range(page);
  assert.ok(near[1] - near[0] < 0.7 * (whole[1] - whole[0]), 'w zooms in');
  assert.notStrictEqual(await page.$eval('canvas.timeline', (c) => c.toDataURL()), before, 'and draws');
  await key(page, 'd');
  assert.ok((await range(page))[0] > near[0], 'd goes right');
  await key(page, 'a');
  assert.ok(Math.abs((await range(page))[0] - near[0]) < 1, 'a goes left');
  await key(page, 's');
  assert.ok((await range(page))[1] - (await range(page))[0] > near[1] - near[0], 's zooms out');
  await key(page, 'Escape');
  assert.deepStrictEqual(await range(page), whole);
  await key(page, 'ArrowDown');
  await key(page, 'ArrowRight');
  await key(page, 'ArrowRight');
  await key(page, 'Enter');
  assert.ok((await page.$eval('.chosen-call', (e) => e.innerText)).includes('parameters'));
  await key(page, '/');
  assert.strictEqual(await page.evaluate(() => document.activeElement.type), 'search');
  await page.keyboard.type('MPI_Irecv');
  await page.keyboard.press('Enter');
  await settle(page);
  const count = expected.exact.profile.functions.find((f) => f.call === 'MPI_Irecv').count;
  assert.strictEqual((await page.$eval('.found', (e) => e.innerText)).replace(/\s/g, ''), `${count}calls`);
  assert.strictEqual(await page.$eval('.call-name', (e) => e.innerText), 'MPI_Irecv');
  const first = await page.evaluate(() => window.refrain.timeline.view.selected.seq);
  await key(page, 'n');
  assert.ok(await page.evaluate(() => window.refrain.timeline.view.selected.seq) > first, 'n finds the next');
  assert.deepStrictEqual(page.complaints, []);
  await context.close();
});

test('every control can be reached by the tab key', async (browser) => {
  const context = await browser();
  const page = await open(context, 'exact');
  const controls = await page.$$eval('a[href], button, input, select, canvas, summary', (all) =>
    all.filter((e) => e.checkVisibility() && !e.closest('.uplot') && e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 80)));
  assert.deepStrictEqual(controls, []);
  const unnamed = await page.$$eval('button, input, select, canvas', (all) => all.filter((e) => e.checkVisibility() &&
    !e.closest('.uplot') && !(e.innerText || e.getAttribute('aria-label') || e.closest('label'))).length);
  assert.strictEqual(unnamed, 0, 'every control has a name');
  await key(page, 'ArrowRight', '#matrix canvas');
  await key(page, 'ArrowRight', '#matrix canvas');
  assert.ok((await page.$eval('#matrix .exact', (e) => e.innerText)).includes('messages'));
  await key(page, 'ArrowRight', '#graph canvas');
  assert.ok((await page.$eval('#graph .exact', (e) => e.innerText)).includes('partners'));
  await context.close();
});

test('filters, tabs and links lead to calls', async (browser) => {
  const context = await browser();
  const page = await open(context, 'exact');
  await page.fill('#profile input[type=search]', 'barrier');
  const left = expected.exact.profile.functions.filter((f) => f.call.toLowerCase().includes('barrier')).length;
  assert.strictEqual(await page.$$eval('#profile-table tbody tr', (all) => all.length), left);
  await page.click('#profile [data-by=path]');
  assert.ok((await page.$eval('#profile .tree', (e) => e.innerText)).includes('MPI_Waitall'));
  await page.click('#verdict button:has-text("Show these calls")');
  await settle(page);
  assert.ok(await page.$('.call-name'));
  await page.click('#waits .item:has-text("Late sender")');
  const seconds = expected.exact.waits.patterns.find((p) => p.pattern === 'late_sender').percent;
  assert.ok((await page.$eval('#waits .pane:nth-child(2) .numbers', (e) => e.innerText)).endsWith(`${seconds.toFixed(1)} %`));
  await page.selectOption('#matrix select', 'messages');
  await page.hover('#matrix canvas', { position: { x: 100, y: 100 } });
  assert.ok((await page.$eval('.tip', (e) => e.innerText)).includes('messages'));
  assert.deepStrictEqual(page.complaints, []);
  await context.close();
});

test('names from a trace are text, and an incomplete one has its bar', async (browser) => {
  const context = await browser();
  const page = await open(context, 'hostile');
  await page.evaluate(() => window.refrain.timeline.goto(1, 0, 5));
  await settle(page);
  assert.deepStrictEqual(page.complaints, []);
  assert.strictEqual(await page.$$eval('img, iframe, object, main script', (all) => all.length), 0);
  const bar = await page.$eval('.bar', (e) => [e.innerText, getComputedStyle(e).backgroundColor]);
  assert.ok(bar[0].includes('incomplete') && bar[0].includes('spool full') && bar[0].includes('<img src=x'));
  const [r, g, b] = bar[1].match(/\d+/g).map(Number);
  assert.ok(r > 200 && g > 180 && b < 150, 'yellow');
  assert.ok((await page.$eval('#environment', (e) => e.innerText)).includes('<b>key</b>'));
  await context.close();
});

test('thousands of ranks and long loops cost what is in sight', async (browser) => {
  const context = await browser();
  const page = await open(context, 'large');
  assert.strictEqual(await page.evaluate(() => window.refrain.model.rows.length), 4096);
  await key(page, 'Enter');  // opens the group
  assert.ok(await page.evaluate(() => window.refrain.timeline.view.layout.items.length) > 4096);
  await key(page, 'f');
  assert.ok(await colours(page, 'canvas.timeline') > 3);
  const long = await open(context, 'long');
  // Of 18 003 calls a row only as many pieces as there are pixels are drawn one by one.
  const drawn = await long.evaluate(() => {
    const { view } = window.refrain.timeline;
    return [view.painter.calls, view.box.canvas.width * window.refrain.model.rows.length];
  });
  assert.ok(drawn[0] < drawn[1], `${drawn[0]} calls drawn`);
  assert.deepStrictEqual([...page.complaints, ...long.complaints], []);
  await context.close();
});

test('the index compares and leads to each page', async (browser) => {
  const context = await browser();
  const page = await open(context, 'index');
  assert.strictEqual(await page.$$eval('#runs tbody tr', (all) => all.length), 2);
  if (keep) await page.screenshot({ path: path.join(keep, 'index.png'), fullPage: true });
  await page.click('#runs tbody tr:nth-child(2) a');
  await page.waitForSelector('html[data-ready] #timeline', { timeout: 20000 });
  assert.deepStrictEqual(page.complaints, []);
  await context.close();
});

const tools = { test, open, settle, colours, range, key, expected, keep };
for (const part of ['figures', 'charts', 'window', 'fragment', 'panels']) require(`./browser_${part}.cjs`)(tools);

(async () => {
  let failed = 0;
  const persistent = await chromium.launchPersistentContext(profile, { executablePath, args: kFlags });
  const browser = (viewport = { width: 1280, height: 900 }, colorScheme = 'light') =>
    persistent.browser().newContext({ viewport, colorScheme });
  for (const { name, run } of tests) {
    const began = Date.now();
    try {
      await run(browser);
      console.log(`ok    ${name}  (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      ++failed;
      console.log(`FAIL  ${name}\n${error.stack}`);
    }
  }
  await persistent.close();
  console.log(`${tests.length - failed} of ${tests.length} passed`);
  process.exit(failed === 0 ? 0 : 1);
})();
