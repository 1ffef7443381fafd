// The page of running jobs: draws what /events sends, an object of src/online/state_json.h for each
// look. Where the server has no room for another stream, it asks for /look.json each second.
"use strict";

const kStates = ["computing", "in MPI", "stuck", "finishing", "done", "dead"];
const kClass = { "computing": "computing", "in MPI": "mpi", "stuck": "stuck",
  "finishing": "finishing", "done": "done", "dead": "dead" };
const kAnswersEvery = 5;  // looks between two readings of topology and maps
const kMostWaitRanks = 8;
const kCells = 96;  // of the topology, in each direction

const at = (id) => document.getElementById(id);
const view = { jobs: [], plugins: [], chosen: "", looks: 0, topology: null, maps: null };

const count = (n) => Math.round(n).toLocaleString("en").replaceAll(",", "\u202f");
function duration(s) {
  if (s >= 3600) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  if (s >= 60) return `${Math.floor(s / 60)} min ${Math.floor(s) % 60} s`;
  // What rounds to 1000 is 1 of the next unit.
  if (s >= 0.9995) return `${s.toPrecision(3)} s`;
  return s >= 0.9995e-3 ? `${(s * 1e3).toPrecision(3)} ms` : `${(s * 1e6).toPrecision(3)} µs`;
}
function bytes(n) {
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (n < 1024) return `${unit === "B" ? n : n.toFixed(2)} ${unit}`;
    n /= 1024;
  }
  return `${n.toFixed(2)} TiB`;
}
// "0-3, 7": at most eight runs.
function rankList(ranks) {
  const runs = [];
  for (let i = 0; i < ranks.length;) {
    let end = i;
    while (end + 1 < ranks.length && ranks[end + 1] === ranks[end] + 1) ++end;
    runs.push(end > i ? `${ranks[i]}-${ranks[end]}` : `${ranks[i]}`);
    i = end + 1;
  }
  return runs.length > 8 ? `${runs.slice(0, 8).join(", ")}, …` : runs.join(", ");
}
// Text is always set as text: names come from programs.
function element(tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

function colours() {
  const probe = document.body.appendChild(element("i"));
  const found = kStates.map((state) => {
    probe.className = kClass[state];
    return getComputedStyle(probe).backgroundColor;
  });
  probe.remove();
  return found;
}

function drawJobs() {
  const nav = at("jobs");
  nav.replaceChildren(...view.jobs.map((job) => {
    const button = element("button");
    const state = job.nobody_moves ? "stuck"
      : { running: "computing", finishing: "finishing", finished: "done", died: "dead" }[job.state];
    button.append(element("i", "", `dot ${state}`), job.name,
      element("small", `${job.state}, ${count(job.ranks)} ranks, ${count(job.calls)} calls`));
    button.setAttribute("aria-pressed", String(job.key === view.chosen));
    button.onclick = () => { view.chosen = job.key; view.topology = view.maps = null; draw(); readAnswers(); };
    return button;
  }));
}

// How far the clocks of other hosts are from that of the service.
function clocksOf(job) {
  return (job.hosts ?? []).slice(0, 8).map((h) => `, ${count(h.ranks)} on ${h.host} (clock ` +
    (h.clock_error_s === null ? "not compared)"
      : `${(1e3 * h.clock_offset_s).toFixed(3)} ms off, ±${(1e3 * h.clock_error_s).toFixed(3)} ms)`)).join("");
}

function troubleOf(job) {
  const lines = [];
  if (job.nobody_moves)
    lines.push("Every rank waits in MPI and none moves: a deadlock, or calls that take so long.");
  if (job.circle.length > 0)
    lines.push(`A circle, if these calls are as those before: ${[...job.circle.slice(0, 8), job.circle[0]]
      .map((r) => `rank ${r.rank} in ${r.call}`).join(" waits for ")}`);
  for (const s of job.stuck)
    lines.push(`Rank ${rankList(s.ranks)} in ${s.call} for ${duration(s.since_s)}`);
  if (job.story) lines.push(job.story);
  for (const l of job.losses)
    lines.push(`Loss: ${l.reason}${l.rank < 0 ? "" : `, rank ${l.rank}`}: ${l.detail}`);
  return lines.join("\n");
}

// A bar for each rank; for more ranks than pixels, one for several: the one that is behind.
function drawRanks(job) {
  const canvas = at("ranks"), by = job.by_rank, n = by.rank.length;
  canvas.width = canvas.clientWidth || 800;
  const g = canvas.getContext("2d"), most = Math.max(1, ...by.calls), colour = colours();
  g.clearRect(0, 0, canvas.width, canvas.height);
  const bars = Math.min(n, canvas.width), width = canvas.width / Math.max(bars, 1);
  for (let b = 0; b < bars; ++b) {
    const first = Math.floor(b * n / bars), end = Math.floor((b + 1) * n / bars);
    let least = first;
    for (let i = first; i < end; ++i) if (by.calls[i] < by.calls[least]) least = i;
    const height = Math.max(2, by.calls[least] / most * (canvas.height - 4));
    g.fillStyle = colour[kStates.indexOf(by.state[least])];
    g.fillRect(b * width, canvas.height - height, Math.max(1, width - (width > 3 ? 1 : 0)), height);
  }
  canvas.onmousemove = (event) => {
    const i = Math.min(n - 1, Math.floor(event.offsetX / canvas.clientWidth * n));
    if (i < 0) return;
    at("rank").textContent = `Rank ${by.rank[i]}: ${count(by.calls[i])} calls, ${by.state[i]}` +
      `${by.call[i] ? `, ${by.state[i] === "computing" ? "after " : ""}${by.call[i]}` : ""}, ` +
      `for ${duration(by.since_s[i])}`;
  };
  at("legend").replaceChildren(...kStates.map((state) => {
    const item = element("span");
    item.append(element("i", "", `dot ${kClass[state]}`),
      `${state} ${count(by.state.filter((s) => s === state).length)}`);
    return item;
  }));
}

function drawFunctions(job) {
  at("functions").replaceChildren(...job.functions.map((f) => {
    const row = element("tr");
    row.append(element("td", f.call), element("td", count(f.count)),
      element("td", duration(f.time_ns / 1e9)), element("td", bytes(f.bytes)));
    return row;
  }));
}

// Wait states, and the ranks with which they ended; or why there are none.
function drawWaits(job) {
  const waits = job.waits, none = !waits || waits.why_not !== "" || waits.calls === 0;
  at("waits").hidden = !waits;
  for (const table of at("waits").querySelectorAll("table")) table.hidden = none;
  if (!waits) return;
  at("swept").textContent = waits.why_not ? `None: ${waits.why_not}`
    : waits.calls === 0 ? waits.stopped || "Not yet: the times of its calls have not come"
    : `Until ${duration(waits.swept_until_s)} of the run` +
      (waits.lag_s > 0 ? `, ${duration(waits.lag_s)} behind` : "") +
      (waits.unmatched_ends > 0 ? `; ${count(waits.unmatched_ends)} ends of messages are not looked at` : "") +
      (waits.stopped ? `; no further: ${waits.stopped}` : "");
  if (none) return;
  at("interval").textContent = `Last ${duration(waits.interval_s)}`;
  const row = (...cells) => {
    const tr = element("tr");
    tr.append(...cells.map((text) => element("td", text)));
    return tr;
  };
  const time = (ns) => (ns > 0 ? duration(ns / 1e9) : "0 s");
  at("patterns").replaceChildren(...[...waits.patterns].sort((a, b) => b.ns - a.ns).map((p) =>
    row(p.title, count(p.count), time(p.ns), time(p.recent_ns))));
  const by = waits.by_rank, order = [...by.rank.keys()].sort((a, b) => by.causing_ns[b] - by.causing_ns[a]);
  at("causers").replaceChildren(...order.slice(0, kMostWaitRanks).map((i) =>
    row(`${by.rank[i]}`, time(by.causing_ns[i]), time(by.waiting_ns[i]), time(by.recent_causing_ns[i]))));
}

// Fills a list of choices, and keeps the one that is chosen.
function offer(id, names) {
  const select = at(id), chosen = select.value;
  if ([...select.options].map((o) => o.value).join() === names.join()) return;
  select.replaceChildren(...names.map((name) => {
    const option = element("option", name);
    option.value = name;
    return option;
  }));
  if (names.includes(chosen)) select.value = chosen;
}

const weightText = { edge_bytes: bytes, edge_hits: count, edge_time_ns: (ns) => duration(ns / 1e9) };

// Darker: more of what is weighed. For many ranks a cell stands for a block of pairs.
function drawMatrix() {
  const canvas = at("matrix"), g = canvas.getContext("2d"), topology = view.topology;
  g.clearRect(0, 0, canvas.width, canvas.height);
  if (!topology || topology.kinds.length === 0) {
    at("pairs").textContent = topology ? "No messages between two ranks so far" : "";
    return;
  }
  offer("kind", ["all", ...topology.kinds.map((kind) => kind.call)]);
  const chosen = at("kind").value, weight = at("weight").value;
  const cells = Math.ceil(topology.ranks / topology.ranks_a_cell), sums = new Float64Array(cells * cells);
  const pairs = new Set();
  for (const kind of topology.kinds) {
    if (chosen !== "all" && kind.call !== chosen) continue;
    kind.source.forEach((source, i) => {
      pairs.add(source * cells + kind.dest[i]);
      sums[source * cells + kind.dest[i]] += kind[weight][i];
    });
  }
  const most = Math.log1p(Math.max(...sums, 1)), size = canvas.width / cells;
  let heaviest = -1;
  for (const i of pairs) {
    if (heaviest < 0 || sums[i] > sums[heaviest]) heaviest = i;
    g.fillStyle = `rgba(60, 116, 196, ${0.15 + 0.85 * Math.log1p(sums[i]) / most})`;
    g.fillRect(i % cells * size, Math.floor(i / cells) * size, Math.max(1, size), Math.max(1, size));
  }
  const name = (cell) => (topology.ranks_a_cell === 1 ? `${cell}`
    : `${cell * topology.ranks_a_cell}-${Math.min((cell + 1) * topology.ranks_a_cell, topology.ranks) - 1}`);
  at("pairs").textContent = `${count(pairs.size)} pairs; sources downwards. Most: ` +
    `${name(Math.floor(heaviest / cells))} to ${name(heaviest % cells)}, ${weightText[weight](sums[heaviest])}`;
}

// Ranks downwards, time to the right; the last column, apart, is the sum of each row.
function drawMap() {
  const canvas = at("map"), g = canvas.getContext("2d"), maps = view.maps;
  g.clearRect(0, 0, canvas.width, canvas.height);
  at("bins").textContent = "";
  if (!maps || maps.functions.length === 0) return;
  offer("function", maps.functions.map((f) => f.call));
  const chosen = maps.functions.find((f) => f.call === at("function").value), what = at("what").value;
  if (!chosen) return;
  const temporal = chosen.temporal[what], density = chosen.density[what];
  const height = canvas.height / maps.rows;
  const heat = (value, most) => `rgba(196, 96, 40, ${value > 0 ? 0.12 + 0.88 * value / most : 0})`;
  if (temporal.length === maps.rows * maps.bins) {
    const most = Math.max(...temporal, 1), width = (canvas.width - 30) / maps.bins;
    temporal.forEach((value, i) => {
      g.fillStyle = heat(value, most);
      g.fillRect(i % maps.bins * width, Math.floor(i / maps.bins) * height, Math.max(1, width), Math.max(1, height));
    });
  }
  const most = Math.max(...density, 1);
  density.forEach((value, row) => {
    g.fillStyle = heat(value, most);
    g.fillRect(canvas.width - 24, row * height, 24, Math.max(1, height));
  });
  const text = { ns: (v) => duration(v / 1e9), calls: count, bytes }[what];
  at("bins").textContent = `${chosen.call}: ${text(density.reduce((a, b) => a + b, 0))} in all; a column is ` +
    `${duration(maps.bin_ns / 1e9)}${maps.ranks_a_row > 1 ? `, a row ${maps.ranks_a_row} ranks` : ""}`;
}

// What is not in every look: asked for now and then.
async function readAnswers() {
  const chosen = view.chosen, job = `/job/${view.jobs.findIndex((j) => j.key === chosen)}`;
  const of = encodeURIComponent(at("function").value || (view.jobs.find((j) => j.key === chosen)?.functions[0]?.call ?? ""));
  const ask = async (path) => {
    const answer = await fetch(path).catch(() => null);
    return answer && answer.ok ? answer.json() : null;
  };
  const [topology, maps] = await Promise.all([ask(`${job}/topology.json?cells=${kCells}`), ask(`${job}/maps.json?call=${of}`)]);
  if (chosen !== view.chosen) return;
  view.topology = topology;
  view.maps = maps;
  drawMatrix();
  drawMap();
}

// Texts of the plug-ins, and which of them are disabled.
function drawPlugins(job) {
  const rows = [];
  for (const [name, text] of Object.entries(job.answers || {})) rows.push(element("dt", name), element("dd", text));
  for (const plugin of view.plugins)
    if (plugin.disabled) rows.push(element("dt", plugin.name), element("dd", `disabled: ${plugin.why}`, "trouble"));
  at("plugins").hidden = rows.length === 0;
  at("answers").replaceChildren(...rows);
}

function draw() {
  drawJobs();
  const number = view.jobs.findIndex((j) => j.key === view.chosen), job = view.jobs[number];
  at("job").hidden = !job;
  if (!job) return;
  document.title = `${job.name}: ${job.state}`;
  at("facts").textContent = `${job.state} for ${duration(job.running_s)}, ${count(job.ranks)} ranks, ` +
    `${count(job.calls)} calls, ${count(job.calls_per_s)} a second; spool ${bytes(job.spool_bytes)}, ` +
    `numbers ${duration(job.lag_s)} old${clocksOf(job)}` +
    (job.loop.most > 0 ? `; iterations ${job.loop.least_calls < job.loop.calls ? "of different loops" :
      `from ${job.loop.call} on`}: ${count(job.loop.least)}` +
      `${job.loop.most > job.loop.least ? ` to ${count(job.loop.most)}` : ""}` : "");
  at("trouble").textContent = troubleOf(job);
  at("trace").href = `/job/${number}/run.rfn`;
  at("trace").download = job.name;
  drawRanks(job);
  drawFunctions(job);
  drawWaits(job);
  drawPlugins(job);
  drawMatrix();
  drawMap();
}

// Jobs of two folders may have one name.
function nameJobs(jobs) {
  const seen = new Map();
  for (const job of jobs) {
    seen.set(job.name, (seen.get(job.name) ?? 0) + 1);
    job.key = `${job.name} ${seen.get(job.name)}`;
  }
}

function take(state) {
  nameJobs(state.jobs);
  view.jobs = state.jobs;
  view.plugins = state.plugins || [];
  if (!view.jobs.some((job) => job.key === view.chosen)) view.chosen = view.jobs[0]?.key ?? "";
  draw();
  if (view.looks++ % kAnswersEvery === 0 && view.jobs.length > 0) readAnswers();
}

for (const id of ["kind", "weight", "what"]) at(id).onchange = () => draw();
at("function").onchange = () => { draw(); readAnswers(); };

async function poll() {
  const answer = await fetch("/look.json").catch(() => null);
  at("link").textContent = answer && answer.ok ? "asks each second" : "the watcher has ended";
  if (answer && answer.ok) take(await answer.json());
  setTimeout(poll, 1000);
}

const events = new EventSource("/events");
events.onopen = () => { at("link").textContent = "live"; };
events.onmessage = (event) => take(JSON.parse(event.data));
events.onerror = () => {
  at("link").textContent = "the watcher has ended";
  // Refused: the stream is closed for good.
  if (events.readyState === EventSource.CLOSED) poll();
};
