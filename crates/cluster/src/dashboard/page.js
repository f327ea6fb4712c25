// Draws the status of a cluster. Everything that it shows comes from outside and goes into text nodes and numbers only.
const SIGNS = { present: "▪", waiting: "…", running: "▶", repairing: "↻", committed: "✓", failed: "✕", unknown: "?", done: "✓", cancelled: "–" };
const SVG = "http://www.w3.org/2000/svg";
const $ = id => document.getElementById(id);

let language = recalled("language") || ((navigator.language || "").startsWith("zh") ? "zh" : "en");
let words = WORDS[language];
let last = null; // The last status, for a change of language.

function recalled(key) { try { return sessionStorage.getItem(key); } catch { return null; } }
function remember(key, value) { try { sessionStorage.setItem(key, value); } catch { /* Then it is asked again. */ } }

// A token in the address is taken out of it, so that nobody reads it there.
const given = new URLSearchParams(location.search).get("token");
if (given) { remember("token", given); history.replaceState(null, "", location.pathname); }
const token = given || recalled("token");

// Numbers.
function short(n) {
  for (const [size, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (n >= size) return `${(n / size).toFixed(n < size * 10 ? 1 : 0)} ${sign}`;
  return String(Math.round(n));
}
function bytes(n) {
  for (const [size, sign] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) if (n >= size) return `${(n / size).toFixed(1)} ${sign}`;
  return `${Math.round(n)} B`;
}
function time(s) {
  if (s < 1) return "<1 s";
  if (s < 90) return `${Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${Math.round(s / 86400)} d`;
}
const percent = f => `${Math.round(Math.min(1, Math.max(0, f)) * 100)} %`;

// Elements. A text is set only where it changes, so that readers and selections are left alone.
function element(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside);
  return made;
}
function say(node, text) { if (node.textContent !== text) node.textContent = text; }
function svg(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
// Brings the children of a node in line with a list, by keys: what stays is kept, with its focus.
function keyed(parent, items, key, make, update) {
  const there = parent.kept || (parent.kept = new Map());
  const wanted = new Set(items.map(key));
  for (const [k, node] of there) if (!wanted.has(k)) { node.remove(); there.delete(k); }
  items.forEach((item, at) => {
    const k = key(item);
    let node = there.get(k);
    if (!node) { node = make(item); there.set(k, node); }
    if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] || null);
    update(node, item);
  });
}
function track(label) {
  const bar = element("div");
  const made = element("div", "track", bar);
  made.setAttribute("role", "progressbar");
  made.setAttribute("aria-valuemin", "0");
  made.setAttribute("aria-valuemax", "100");
  made.fill = (fraction, name, text) => {
    const whole = Math.round(Math.min(1, Math.max(0, fraction)) * 1000) / 10;
    bar.style.width = `${whole}%`;
    made.setAttribute("aria-label", name || label);
    made.setAttribute("aria-valuenow", String(Math.round(whole)));
    if (text) made.setAttribute("aria-valuetext", text);
  };
  return made;
}
function figures(list, rows) {
  keyed(list, rows.filter(row => row[1] !== null), row => row[0], () => element("div", "", element("dt"), element("dd")), (node, [name, value]) => {
    say(node.children[0], name);
    say(node.children[1], value);
  });
}

// Jobs.
function makeJob() {
  const made = element("article", "sheet");
  made.title_ = element("h3");
  made.state = element("span", "quiet");
  made.track = track("");
  made.figures = element("dl", "figures");
  made.closure = element("div", "closure");
  made.edges = svg("svg", { class: "edges", "aria-hidden": "true" });
  made.levels = element("div", "closure");
  made.closure.append(made.edges, made.levels);
  made.told = element("p", "told");
  made.legend = element("p", "legend");
  made.runs = element("div", "runs");
  const tables = element("div", "", made.closure, made.told, made.legend);
  made.append(element("div", "head", made.title_, made.state), made.track, made.figures, element("div", "work", made.runs, tables));
  return made;
}
function updateJob(node, job) {
  const name = `${job.id} · ${job.tables.join(", ")} · ${job.metrics.join(", ")}`;
  say(node.title_, name);
  node.setAttribute("aria-label", `${words.job} ${name}`);
  say(node.state, words.jobState[job.state] || job.state);
  const begun = job.running.reduce((sum, r) => sum + r.fraction * r.positions, 0);
  const fraction = job.positions ? (job.positions_done + begun) / job.positions : 1;
  node.track.fill(fraction, words.positions, percent(fraction));
  figures(node.figures, [
    [words.tables, words.of(job.done, job.total)],
    [words.positions, percent(fraction)],
    [words.pace, short(job.labels_per_second)],
    [words.left, job.seconds_left ? `≈ ${time(job.seconds_left)}` : words.unknown],
    [words.since, time(job.seconds)],
    [words.labels, short(job.labels)],
    [words.sent, bytes(job.bytes_sent)],
    [words.stored, bytes(job.bytes_stored)],
  ]);
  const runs = [...job.running].sort((a, b) => b.positions - a.positions || a.endgame.localeCompare(b.endgame));
  keyed(node.runs, runs, r => `${r.endgame} ${r.metric}`, makeRun, updateRun);
  drawClosure(node, job.closure);
}

// The closure of a job: rows by men, lines to where one capture leads.
const men = name => (name.match(/[A-Z]/g) || []).length;
function drawClosure(node, tables) {
  node.tables = new Map(tables.map(t => [t.endgame, t]));
  const counts = [...new Set(tables.map(t => men(t.endgame)))].sort((a, b) => b - a);
  keyed(node.levels, counts, n => n, () => {
    const level = element("div", "level", element("span"), element("div", "boxes"));
    level.setAttribute("role", "group");
    return level;
  }, (level, n) => {
    say(level.children[0], words.men(n));
    level.setAttribute("aria-label", words.men(n));
    keyed(level.children[1], tables.filter(t => men(t.endgame) === n), t => t.endgame, t => makeBox(node, t), updateBox);
  });
  const structure = tables.map(t => t.endgame).join();
  if (node.structure !== structure) { node.structure = structure; node.chosen = null; }
  requestAnimationFrame(() => drawEdges(node));
  say(node.told, node.chosen && node.tables.has(node.chosen) ? tell(node.tables.get(node.chosen)) : "");
  keyed(node.legend, Object.keys(words.state).filter(s => tables.some(t => t.state === s)), s => s, () => element("span"), (span, s) => say(span, `${SIGNS[s]} ${words.state[s]}`));
}
function makeBox(node, table) {
  const box = element("button", "box", element("span", "sign"), element("span"), element("span", "at"));
  box.type = "button";
  box.children[0].setAttribute("aria-hidden", "true");
  const choose = () => { node.chosen = table.endgame; mark(node); };
  const leave = () => { node.chosen = document.activeElement && document.activeElement.table || null; mark(node); };
  box.table = table.endgame;
  box.addEventListener("focus", choose);
  box.addEventListener("mouseenter", choose);
  box.addEventListener("blur", leave);
  box.addEventListener("mouseleave", leave);
  return box;
}
function updateBox(box, table) {
  const known = SIGNS[table.state] ? table.state : "unknown";
  const near = box.classList.contains("near") ? " near" : "";
  box.className = `box ${known}${near}`;
  say(box.children[0], SIGNS[known]);
  say(box.children[1], table.endgame);
  const at = known === "running" ? stage(table) : "";
  say(box.children[2], at);
  box.setAttribute("aria-label", `${table.endgame}: ${words.state[known]}${at ? `, ${at}` : ""}`);
}
function stage(run) {
  const name = words.stages[run.stage] || run.stage;
  return run.stage === "plies" ? `${name} ${run.ply}` : name;
}
function tell(table) {
  const parts = [`${table.endgame}: ${words.state[table.state] || table.state}`];
  if (table.state === "running") parts.push(`${table.metric} ${stage(table)}`, percent(table.fraction));
  parts.push(`${short(table.positions)} ${words.positions.split(" ")[0]}`);
  parts.push(table.smaller.length ? words.leads(table.smaller.join(", ")) : words.leaf);
  return parts.join(" · ");
}
function mark(node) {
  const chosen = node.chosen && node.tables.get(node.chosen);
  const near = new Set(chosen ? chosen.smaller : []);
  for (const box of node.levels.querySelectorAll(".box")) box.classList.toggle("near", near.has(box.table));
  say(node.told, chosen ? tell(chosen) : "");
  drawEdges(node);
}
function drawEdges(node) {
  const frame = node.closure.getBoundingClientRect();
  if (!frame.width) return;
  const boxes = new Map([...node.levels.querySelectorAll(".box")].map(b => [b.table, b.getBoundingClientRect()]));
  const edges = [];
  // With many tables the lines would cover each other: only those of the chosen one are drawn then.
  const all = node.tables.size <= 40;
  for (const table of node.tables.values()) {
    const on = node.chosen === table.endgame;
    if (!all && !on) continue;
    const from = boxes.get(table.endgame);
    for (const name of table.smaller) {
      const to = boxes.get(name);
      if (from && to) edges.push({ key: `${table.endgame} ${name}`, on, x1: from.left + from.width / 2 - frame.left, y1: from.bottom - frame.top, x2: to.left + to.width / 2 - frame.left, y2: to.top - frame.top });
    }
  }
  keyed(node.edges, edges, e => e.key, () => svg("line", {}), (line, e) => {
    line.setAttribute("class", e.on ? "on" : "");
    for (const name of ["x1", "y1", "x2", "y2"]) line.setAttribute(name, e[name].toFixed(1));
  });
}
addEventListener("resize", () => { if (last) draw(last); });

// A table at work.
function makeRun() {
  const made = element("section", "run");
  made.name_ = element("h3");
  made.stage = element("span", "quiet");
  made.track = track("");
  made.figures = element("dl", "figures");
  made.late = element("p", "late");
  made.curve = svg("svg", { class: "curve", role: "img" });
  made.caption = element("p", "quiet");
  made.append(element("div", "head", made.name_, made.stage), made.track, made.figures, made.late, made.curve, made.caption);
  return made;
}
function updateRun(node, run) {
  const name = `${run.endgame} ${run.metric}`;
  say(node.name_, name);
  say(node.stage, stage(run));
  node.track.fill(run.fraction, name, percent(run.fraction));
  figures(node.figures, [
    [words.ply, run.stage === "prepare" ? "–" : String(run.ply)],
    [words.pace, short(run.labels_per_second)],
    [words.labels, short(run.labels)],
    [words.left, run.seconds_left ? `≈ ${time(run.seconds_left)}` : words.unknown],
  ]);
  node.late.hidden = run.late.length === 0;
  say(node.late, run.late.length ? `⚠ ${words.late(run.late.join(", "), time(run.ply_seconds))}` : "");
  const shown = run.frontier.length > 1;
  node.curve.toggleAttribute("hidden", !shown);
  node.curve.style.display = shown ? "" : "none";
  if (shown) drawCurve(node.curve, run, name);
  say(node.caption, shown ? words.curveHead : "");
}
function drawCurve(curve, run, name) {
  // Pixels, so that letters keep their size in every width.
  const [left, right, top, bottom] = [36, Math.max(100, curve.clientWidth - 4), 8, 116];
  const stride = Math.max(1, run.frontier_stride);
  const most = Math.max(10, ...run.frontier);
  const height = Math.log10(most + 1);
  const x = at => left + (right - left) * (run.frontier.length > 1 ? at / (run.frontier.length - 1) : 0);
  const y = value => bottom - (bottom - top) * Math.log10(value + 1) / height;
  const points = run.frontier.map((value, at) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`);
  const parts = [];
  const ticks = [];
  const step = Math.max(1, Math.ceil(height / 4));
  for (let power = step; power <= height; power += step) ticks.push(power);
  for (const power of ticks) {
    const level = y(10 ** power);
    parts.push(svg("line", { x1: left, x2: right, y1: level, y2: level }));
    const label = svg("text", { x: left - 4, y: level + 4, "text-anchor": "end" });
    label.textContent = short(10 ** power).replace(".0", "");
    parts.push(label);
  }
  parts.push(svg("line", { x1: left, x2: right, y1: bottom, y2: bottom }));
  const ends = [[left, "start", "0"], [right, "end", `${words.ply} ${(run.frontier.length - 1) * stride}`]];
  for (const [at, anchor, text] of ends) {
    const label = svg("text", { x: at, y: bottom + 15, "text-anchor": anchor });
    label.textContent = text;
    parts.push(label);
  }
  parts.push(svg("path", { class: "area", d: `M${left} ${bottom} L${points.join(" L")} L${right} ${bottom} Z` }));
  parts.push(svg("path", { class: "line", d: `M${points.join(" L")}` }));
  curve.setAttribute("aria-label", words.curve(name, run.ply));
  curve.replaceChildren(...parts);
}

// Workers.
function makeWorker() {
  const made = element("li", "worker");
  made.name_ = element("span", "name");
  made.at = element("span", "quiet");
  made.meters = ["memory", "sent"].map(() => {
    const meter = element("div", "meter", element("span"), track(""), element("span", "quiet"));
    return meter;
  });
  made.work = element("div", "meter", element("span"), element("br"), element("span", "quiet"));
  made.host = element("div", "quiet");
  made.append(element("div", "", made.name_, element("br"), made.at, made.host), ...made.meters, made.work);
  return made;
}
function updateWorker(node, [worker, late, most]) {
  const silent = worker.seen_seconds > 6;
  const states = [worker.draining ? `◐ ${words.draining}` : worker.ready ? `● ${words.ready}` : `○ ${words.joining}`];
  if (late) states.push(`⚠ ${words.isLate}`);
  if (silent) states.push(`⚠ ${words.silent(time(worker.seen_seconds))}`);
  say(node.name_, worker.name);
  say(node.at, states.join(" · "));
  say(node.host, worker.host);
  node.at.className = late || silent ? "late" : "quiet";
  const [memory, traffic] = node.meters;
  const used = words.of(bytes(worker.memory_used), worker.memory ? bytes(worker.memory) : words.noBound);
  say(memory.children[0], `${words.memory} ${used}`);
  memory.children[1].fill(worker.memory ? worker.memory_used / worker.memory : 0, `${worker.name} ${words.memory}`, used);
  say(memory.children[2], `${words.peak} ${bytes(worker.peak_memory)}`);
  say(traffic.children[0], `${words.sent} ${bytes(worker.bytes_sent)}`);
  traffic.children[1].fill(most ? worker.bytes_sent / most : 0, `${worker.name} ${words.sent}`, bytes(worker.bytes_sent));
  say(traffic.children[2], `${words.received} ${bytes(worker.bytes_received)}`);
  say(node.work.children[0], worker.tables.length ? `${words.worksOn} ${worker.tables.join(", ")}` : words.idle);
  say(node.work.children[2], words.busy(worker.cpu_share.toFixed(1), worker.threads));
}

// All of it.
function draw(status) {
  last = status;
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-word]")) say(node, words[node.dataset.word]);
  say($("language"), words.other);
  $("language").lang = language === "zh" ? "en" : "zh";
  say($("state"), status.active ? `● ${words.at}` : `◌ ${words.standby}`);
  say($("place"), words.place(status.version, status.store, time(status.uptime_seconds)));
  const troubles = [];
  if (status.store_trouble) troubles.push(words.trouble(status.store_trouble));
  troubles.push(...status.troubles);
  if (!status.active) troubles.push(words.standbyLong);
  banner("trouble", troubles.join(" "));
  $("no-jobs").hidden = status.jobs.length > 0;
  say($("no-jobs"), words.noJobs);
  keyed($("job-list"), status.jobs, j => j.id, makeJob, updateJob);
  $("no-workers").hidden = status.workers.length > 0;
  say($("no-workers"), words.noWorkers);
  const late = new Set(status.jobs.flatMap(j => j.running.flatMap(r => r.late)));
  const most = Math.max(0, ...status.workers.map(w => w.bytes_sent));
  const workers = [...status.workers].sort((a, b) => a.name.localeCompare(b.name) || a.id - b.id);
  keyed($("worker-list"), workers.map(w => [w, late.has(w.name), most]), ([w]) => w.id, makeWorker, updateWorker);
  $("ended").hidden = status.ended.length === 0;
  keyed($("ended-list"), status.ended, j => j.id, () => element("li", "ended"), (node, job) => {
    const parts = [`${SIGNS[job.state] || "?"} ${job.id} · ${job.tables.join(", ")} · ${job.metrics.join(", ")}`, words.jobState[job.state] || job.state, `${words.of(job.done, job.total)} ${words.tables}`, time(job.seconds)];
    if (job.error) parts.push(`${words.reason}: ${job.error}`);
    say(node, parts.join(" · "));
  });
  document.title = status.jobs.length ? `canju ${status.jobs.map(j => `${j.done}/${j.total}`).join(" ")}` : "canju";
}
function banner(id, text) {
  $(id).hidden = !text;
  say($(id), text);
}
$("language").addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  words = WORDS[language];
  remember("language", language);
  // Labels are keys in places: everything is made anew.
  for (const id of ["job-list", "worker-list", "ended-list"]) { $(id).replaceChildren(); $(id).kept = null; }
  if (last) draw(last);
});

// Asks again and again, whatever happens; less often where nobody looks.
let heard = Date.now();
async function ask() {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await fetch("v1/status", { headers, cache: "no-store", signal: AbortSignal.timeout(5000) });
  if (answer.status === 401) throw new Error("token");
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}
async function connect() {
  try {
    draw(await ask());
    heard = Date.now();
    document.body.classList.remove("stale");
    banner("lost", "");
  } catch (error) {
    document.body.classList.add("stale");
    say($("state"), `✕ ${words.lost}`);
    banner("lost", error.message === "token" ? words.token : words.lostLong(time((Date.now() - heard) / 1000)));
  }
  setTimeout(connect, document.hidden ? 5000 : 1000);
}
connect();
