// What a row of the timeline shows where many calls share a pixel.
//   node strip.mjs web/src
import assert from 'node:assert';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (name) => import(pathToFileURL(path.resolve(process.argv[2], name)));
const { Strip } = await load('timeline/strip.js');

const kSend = 1;
const kWait = 2;
const strip = new Strip(5, 3);
// Pixel 0: sixteen sends that take hardly any time, and waiting in between. Pixel 2: one send, nothing else.
// Pixel 3: a send of half a pixel beside a wait of a third. Pixel 4: nothing.
for (let i = 0; i < 16; ++i) {
  strip.addCall(i / 16, i / 16 + 0.001, kSend, 1);
  strip.addCall(i / 16 + 0.001, (i + 1) / 16, kWait, 1);
}
strip.addCall(2.2, 2.2001, kSend, 1);
strip.addCall(3, 3.5, kSend, 1);
strip.addCall(3.5, 3.83, kWait, 1);
const found = [0, 2, 3, 4].map((x) => strip.at(x));
assert.deepStrictEqual(found.map(({ best }) => best), [kWait, kSend, kSend, 0]);
assert.ok(Math.abs(found[0].sum - 1) < 1e-3, 'time is time');
assert.ok(Math.abs(found[1].sum - 0.25) < 1e-3, 'a short call is seen');
assert.ok(Math.abs(found[2].sum - 0.83) < 1e-3);
const twin = new Strip(5, 3);
twin.set(strip);
assert.deepStrictEqual([0, 2, 3, 4].map((x) => twin.at(x)), found);
twin.clear();
assert.deepStrictEqual(twin.at(2), { sum: 0, best: 0 });
