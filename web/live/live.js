// The page of running jobs: draws what /events sends, an object of src/online/state_json.h for each
// look. Where the server has no room for another stream, it asks for /look.json each second.
"use strict";

const kStates = ["computing", "in MPI", "stuck", "finishing", "done", "dead"];
const kClass = { "computing": "computing", "in MPI": "mpi", "stuck": "stuck",
  "finishing": "finishing", "done": "done", "dead": "dead" };
const kMatrixEvery = 5;  // looks between two readings of the matrix

const at = (id) => document.getElementById(id);
const view = { jobs: [], chosen: 0, looks: 0, matrix: null };

const count = (n) => Math.round(n).toLocaleString("en").replaceAll(",", "\u202f");
function duration(s) {
  if (s >= 3600) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  if (s >= 60) return `${Math.floor(s / 60)} min ${Math.floor(s) % 60} s`;
  if (s >= 1) return `${s.toPrecision(3)} s`;
  return s >= 1e-3 ? `${(s * 1e3).toPrecision(3)} ms` : `${(s * 1e6).toPrecision(3)} µs`;
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
  nav.replaceChildren(...view.jobs.map((job, i) => {
    const button = element("button");
    const state = job.nobody_moves ? "stuck"
      : { running: "computing", finishing: "finishing", finished: "done", died: "dead" }[job.state];
    button.append(element("i", "", `dot ${state}`), job.name,
      element("small", `${job.state}, ${count(job.ranks)} ranks, ${count(job.calls)} calls`));
    button.setAttribute("aria-pressed", String(i === view.chosen));
    button.onclick = () => { view.chosen = i; view.matrix = null; draw(); readMatrix(); };
    return button;
  }));
}

function troubleOf(job) {
  const lines = [];
  if (job.nobody_moves)
    lines.push("Every rank waits in MPI and none moves: a deadlock, or calls that take so long.");
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

// Darker: more bytes. For many ranks a cell stands for a block of pairs.
function drawMatrix() {
  const canvas = at("matrix"), g = canvas.getContext("2d"), matrix = view.matrix;
  g.clearRect(0, 0, canvas.width, canvas.height);
  if (!matrix || matrix.pairs.length === 0) {
    at("pairs").textContent = matrix ? "No messages between two ranks so far" : "";
    return;
  }
  const cells = Math.min(matrix.ranks, 160), sums = new Float64Array(cells * cells);
  for (const p of matrix.pairs)
    sums[Math.floor(p.source * cells / matrix.ranks) * cells +
         Math.floor(p.dest * cells / matrix.ranks)] += p.bytes + 1;
  const most = Math.log1p(Math.max(...sums)), size = canvas.width / cells;
  for (let i = 0; i < sums.length; ++i) {
    if (sums[i] === 0) continue;
    g.fillStyle = `rgba(60, 116, 196, ${0.15 + 0.85 * Math.log1p(sums[i]) / most})`;
    g.fillRect(i % cells * size, Math.floor(i / cells) * size, Math.max(1, size), Math.max(1, size));
  }
  const heaviest = matrix.pairs.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  at("pairs").textContent = `${count(matrix.pairs.length)} pairs; sources downwards. Most bytes: ` +
    `${heaviest.source} to ${heaviest.dest}, ${bytes(heaviest.bytes)}`;
}

async function readMatrix() {
  const chosen = view.chosen;
  const answer = await fetch(`/job/${chosen}/matrix.json`).catch(() => null);
  if (!answer || !answer.ok || chosen !== view.chosen) return;
  view.matrix = await answer.json();
  drawMatrix();
}

function draw() {
  drawJobs();
  const job = view.jobs[view.chosen];
  at("job").hidden = !job;
  if (!job) return;
  document.title = `${job.name}: ${job.state}`;
  at("facts").textContent = `${job.state} for ${duration(job.running_s)}, ${count(job.ranks)} ranks, ` +
    `${count(job.calls)} calls, ${count(job.calls_per_s)} a second; spool ${bytes(job.spool_bytes)}, ` +
    `numbers ${duration(job.lag_s)} old`;
  at("trouble").textContent = troubleOf(job);
  at("trace").href = `/job/${view.chosen}/run.rfn`;
  at("trace").download = job.name;
  drawRanks(job);
  drawFunctions(job);
  drawMatrix();
}

function take(state) {
  view.jobs = state.jobs;
  if (view.chosen >= view.jobs.length) view.chosen = 0;
  draw();
  if (view.looks++ % kMatrixEvery === 0) readMatrix();
}

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
