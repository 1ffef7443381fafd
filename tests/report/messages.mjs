// The arrows of a report page, all of them, by the page's own modules: JSON lines
// [sender rank, thread, call, receiver rank, thread, call that posts the receive, rank, thread, call that completes it].
//   node messages.mjs web/src PAGE.html
import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [source, page] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.resolve(source, name)));
const { readData } = await load('data.js');
const { Model } = await load('model.js');
const { doneOf, messagesAt, messagesOf } = await load('timeline/messages.js');

const text = fs.readFileSync(page, 'utf8').match(/id="data">([^<]*)</)[1];
const model = new Model(await readData({ textContent: text }));
const place = ({ row, seq }) => [row.rank, row.thread, seq];
const flat = (message) => [...place(message.from), ...place(message.to), ...place(doneOf(model, message))];
const all = { send: [], receive: [], done: [] };
for (const row of model.rows)
  for (let seq = 0; seq < row.calls; ++seq) {
    for (const kind of ['send', 'receive']) all[kind].push(...messagesOf(model, row, seq, kind).map(flat));
    all.done.push(...messagesAt(model, row, seq).map(flat));
  }
// Whichever end one starts from.
const sorted = (list) => list.map(String).sort();
assert.deepStrictEqual(sorted(all.send), sorted(all.receive));
const distinct = (list) => [...new Set(sorted(list))];
assert.deepStrictEqual(distinct(all.send), distinct(all.done));
for (const message of all.send) console.log(JSON.stringify(message));
