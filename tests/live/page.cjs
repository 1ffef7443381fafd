// The page of running jobs in a headless browser: the words that it shows after some looks, errors of its scripts,
// and what it does when the watcher ends.
//
//   page.cjs ADDRESS [WORDS...]        exit status 0: all WORDS are there; @NAME chooses this job first
const { chromium } = require('playwright-core');

const [address, ...all] = process.argv.slice(2);
const words = all.filter((w) => !w.startsWith('@')), chosen = all.filter((w) => w.startsWith('@')).map((w) => w.slice(1));
const kLimitMs = 60000;

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.REFRAIN_CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  const page = await browser.newPage();
  const errors = [];
  page.on('pageerror', (e) => errors.push(String(e)));
  page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()); });
  await page.goto(address);
  for (const name of chosen)
    await page.click(`#jobs button:has-text("${name}")`, { timeout: kLimitMs }).catch((e) => errors.push(String(e)));
  const missing = (all) => all.filter((w) => !document.body.innerText.includes(w)).join(', ');
  await page.waitForFunction((all) => all.every((w) => document.body.innerText.includes(w)), words,
    { timeout: kLimitMs }).catch(async () => { errors.push(`not shown: ${await page.evaluate(missing, words)}`); });
  // Each look draws again: the second one must not need a new page.
  const first = await page.textContent('#facts');
  await page.waitForFunction((text) => document.getElementById('facts').textContent !== text, first,
    { timeout: kLimitMs }).catch(() => errors.push('it stands still'));
  if ((await page.textContent('#link')) !== 'live') errors.push('it is not live');
  if (await page.evaluate(() => document.cookie) !== '') errors.push('a script can read the token');
  if (page.url().includes('token')) errors.push('the token stays in the address');
  await browser.close();
  for (const error of errors) console.log(error);
  process.exit(errors.length === 0 ? 0 : 1);
})();
