// What a browser shows of a cluster. The coordinator is this script's own: it is killed and started again.
import assert from "node:assert/strict";
import { spawn, execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";

const { BROWSER, MODULES, COORDINATOR, STORE, LONG, SHORT, SHOTS } = process.env;
const { chromium } = createRequire(`${MODULES}/`)("playwright-core");
const PAGE = "http://127.0.0.1:17521/";
const GENEROUS = 300_000;

let checks = 0;
function check(what, good, detail = "") {
  assert.ok(good, `${what} ${detail}`);
  checks += 1;
  console.log(`ok  ${what}`);
}

let child = null;
function start() {
  const words = ["--log", "error", "start", "--listen", "127.0.0.1:17520", "--http", "127.0.0.1:17521", "--store", STORE, "--min-workers", "2", "--cut-from", "20000"];
  child = spawn(COORDINATOR, words, { stdio: "inherit" });
}
const kill = () => new Promise(done => { child.once("exit", done); child.kill("SIGKILL"); });
const ask = (...words) => execFileSync(COORDINATOR, [...words, "--coordinator", "127.0.0.1:17520"], { encoding: "utf8" });
const status = async () => (await fetch(`${PAGE}v1/status`)).json();
async function until(what, good) {
  const end = Date.now() + GENEROUS;
  for (;;) {
    const value = await good().catch(() => null);
    if (value) return value;
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise(done => setTimeout(done, 100));
  }
}

const browser = await chromium.launch({
  executablePath: BROWSER,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"],
});
const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, locale: "en-GB", colorScheme: "light" });
const page = await context.newPage();
page.setDefaultTimeout(GENEROUS);
const complaints = [];
page.on("pageerror", error => complaints.push(String(error)));
page.on("console", message => { if (message.type() === "error" && !/Failed to load resource/.test(message.text())) complaints.push(message.text()); });
const requests = new Set();
page.on("request", request => requests.add(new URL(request.url()).origin));
async function shoot(name) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}
const overflow = () => page.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth);

try {
  start();
  await until("the page", async () => (await page.goto(PAGE)).ok());
  await page.getByText("Nothing to build").waitFor();
  check("an empty cluster says what to do", true);
  await until("two workers", async () => (await status()).workers.filter(w => w.ready).length === 2);
  // It is watched as long as that takes on any machine, then called off: a job that ends takes its boxes with it.
  ask("submit", LONG, "--metric", "dtm,dtc");

  // The closure comes up by itself, largest tables first.
  const boxes = page.locator(".box");
  await boxes.first().waitFor();
  const wanted = (await status()).jobs[0].closure.map(t => t.endgame).sort();
  const shown = (await boxes.locator("span:nth-child(2)").allTextContents()).sort();
  assert.deepEqual(shown, wanted);
  check(`all ${wanted.length} tables of the closure have a box`, wanted.length > 5);
  const levels = await page.locator(".level > span").allTextContents();
  assert.deepEqual(levels, [...levels].sort((a, b) => parseInt(b) - parseInt(a)));
  check("levels go from many men to few", levels.length > 2, levels);

  // It moves on without a touch.
  const committed = page.locator(".box.committed");
  await until("tables committed", async () => (await committed.count()) > 0);
  const labels = page.locator("#job-list .figures").first();
  const before = await labels.textContent();
  await until("other figures", async () => (await labels.textContent()) !== before);
  check("the page moves on by itself", true);
  await page.locator(".run .curve[aria-label^='Labels of']:has(path.line)").first().waitFor();
  check("the frontier has a curve that is told in words", true);
  await until("a table at work on both", async () => (await status()).jobs[0].running.some(r => r.workers.length === 2 && r.frontier.length > 3));
  await until("bytes", async () => (await status()).workers.every(w => w.bytes_sent > 0));
  check("workers are named", (await page.locator(".worker .name").allTextContents()).join() === "w1,w2");
  await page.waitForTimeout(1500);
  await shoot("wide-light");

  // Signs as well as colours, and everything by keyboard.
  const signs = new Set(await page.locator(".box .sign").allTextContents());
  check("states have signs", signs.size > 1, [...signs]);
  await boxes.first().focus();
  const told = page.locator(".told").first();
  check("a focused box tells about itself", (await told.textContent()).startsWith("K"));
  check("what it leads to is marked", (await page.locator(".box.near").count()) > 0);
  await page.keyboard.press("Tab");
  check("the keyboard reaches the next box", await page.evaluate(() => document.activeElement.classList.contains("box")));
  const kept = await page.evaluate(() => document.activeElement.textContent.slice(1, 5));
  await page.waitForTimeout(2500);
  check("focus stays through changes", (await page.evaluate(() => document.activeElement.textContent.slice(1, 5))) === kept);
  await shoot("focus");
  await page.evaluate(() => document.activeElement.blur());

  // Narrow, dark, Chinese.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForTimeout(300);
  check("360 pixels are enough", (await overflow()) <= 0, `${await overflow()} too many`);
  await shoot("narrow-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot("narrow-dark");
  await page.setViewportSize({ width: 1200, height: 900 });
  await shoot("wide-dark");
  await page.locator("#language").click();
  check("it speaks Chinese", (await page.locator("#workers-head").textContent()) === "工作节点");
  check("a screen reader is told so", (await page.locator("html").getAttribute("lang")) === "zh");
  await shoot("chinese");
  await page.locator("#language").click();
  await page.emulateMedia({ colorScheme: "light" });

  // Contrast of texts, against what is behind them, in both schemes.
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const faint = await page.evaluate(() => {
      const numbers = colour => colour.match(/[\d.]+/g).map(Number);
      const light = colour => numbers(colour).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = node => { for (; node; node = node.parentElement) { const c = getComputedStyle(node).backgroundColor; if (numbers(c)[3] !== 0) return c; } return "rgb(255,255,255)"; };
      const low = [];
      for (const node of document.querySelectorAll("body *")) {
        if (!node.checkVisibility() || ![...node.childNodes].some(c => c.nodeType === 3 && c.textContent.trim())) continue;
        if (node.closest("script,style,.skip,svg")) continue;
        const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) low.push(node.textContent);
      }
      return low;
    });
    check(`texts stand out, ${colorScheme}`, faint.length === 0, faint);
  }
  await page.emulateMedia({ colorScheme: "light" });

  // The coordinator goes and comes.
  await kill();
  await page.locator("#lost:not([hidden])").waitFor();
  check("a lost coordinator is told", /Trying again/.test(await page.locator("#lost").textContent()));
  check("what was seen last stays", (await boxes.count()) === wanted.length);
  await shoot("lost");
  start();
  await page.locator("#lost").waitFor({ state: "hidden" });
  check("the page comes back by itself", true);
  await until("two workers again", async () => (await status()).workers.filter(w => w.ready).length === 2);
  const going = await until("the job goes on", async () => (await status()).jobs[0]);
  ask("cancel", going.id);
  const ended = page.locator("#ended-list li");
  await ended.first().waitFor();
  check("a job called off is told", (await ended.allTextContents()).join().startsWith(`– ${going.id}`), await ended.allTextContents());
  ask("submit", SHORT, "--metric", "dtm,dtc");
  await ended.filter({ hasText: "✓" }).waitFor();
  check("a job comes to its end", (await ended.filter({ hasText: "✓" }).textContent()).includes(SHORT), await ended.allTextContents());
  await shoot("ended");

  // Hostile names and troubles: what no good cluster would say.
  const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</` + `script>${"w".repeat(200)}`;
  const worker = { id: 1, name: evil, host: evil, address: evil, threads: 4, memory: 4e9, memory_used: 3.9e9, peak_memory: 5e9, tables: [evil], cpu_seconds: 9, cpu_share: 1.5, bytes_sent: 7e9, bytes_received: 1e9, seen_seconds: 30, ready: true, draining: true };
  const states = ["present", "waiting", "running", "repairing", "committed", "failed", evil];
  const closure = states.map((state, i) => ({ endgame: i === 6 ? evil : `K${"RNCPAB"[i]}K`, smaller: ["KRK"], state, metric: "dtm", stage: "plies", ply: 3, fraction: 0.3, positions: 1e6 }));
  const running = { endgame: evil, metric: evil, stage: evil, ply: 9, labels: 5, positions: 9, workers: [evil], fraction: 0.5, frontier: [1, 500, 90000, 400, 2], frontier_stride: 2, late: [evil], ply_seconds: 4000, labels_per_second: 9, seconds_left: null };
  const job = { id: evil, state: evil, error: evil, tables: [evil], metrics: [evil], total: 9, done: 3, present: 1, positions: 100, positions_done: 30, labels: 5, labels_per_second: 1, seconds_left: 90, seconds: 10, bytes_sent: 1, bytes_stored: 2, running: [running], closure, built: [] };
  const bad = { store: evil, store_trouble: evil, troubles: [evil], reign: 2, active: false, version: evil, uptime_seconds: 7, workers: [worker], jobs: [job], ended: [{ ...job, running: [] }] };
  await page.route("**/v1/status", route => route.fulfill({ json: bad }));
  await page.locator("#trouble:not([hidden])").waitFor();
  await page.locator(".worker .name", { hasText: "<img" }).waitFor();
  check("a hostile name is a text", (await page.locator("#main img, #main script").count()) === 0 && !(await page.evaluate(() => window.hit)));
  check("standing by and store trouble are told", /stands by/.test(await page.locator("#trouble").textContent()));
  check("who is late and silent is told", /⚠ late.*⚠ silent/.test(await page.locator(".worker").first().textContent()));
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForTimeout(300);
  check("long names do not burst the page", (await overflow()) <= 0, `${await overflow()} too many`);
  await shoot("hostile-narrow");
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.waitForTimeout(300);
  await shoot("hostile-wide");

  assert.deepEqual([...requests], [new URL(PAGE).origin]);
  check("nothing was asked of anybody else", true);
  assert.deepEqual(complaints, []);
  check("the browser complained of nothing", true);

  // The other answers of the port.
  const answer = async path => { const got = await fetch(PAGE + path); return [got.status, await got.text()]; };
  check("healthz", (await answer("healthz"))[0] === 200);
  check("readyz", (await answer("readyz"))[0] === 200);
  check("metrics", (await answer("metrics"))[1].includes("canju_tables_committed_total"));
  const policy = (await fetch(PAGE)).headers.get("content-security-policy");
  check("the policy lets nothing in", policy.startsWith("default-src 'none'") && !policy.includes("unsafe"), policy);
  const probe = await fetch("http://127.0.0.1:17531/readyz");
  check("a worker tells that it attends", probe.status === 200);
  check("a worker has metrics", (await (await fetch("http://127.0.0.1:17531/metrics")).text()).includes("canju_attending 1"));
  check("there is nothing else", (await answer("etc/passwd"))[0] === 404);
  console.log(`dashboard: ${checks} passed`);
} catch (error) {
  await shoot("failure");
  throw error;
} finally {
  await browser.close();
  if (child) child.kill("SIGTERM");
}
