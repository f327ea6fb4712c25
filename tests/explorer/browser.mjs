// A browser that watches what a page asks and complains of, for all tests of pages.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";

export const { BROWSER, MODULES, PAGE, SHOTS } = process.env;
const require = createRequire(`${MODULES}/`);
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const GENEROUS = 60_000;

let checks = 0;
export function check(what, good, detail = "") {
  assert.ok(good, `${what} ${typeof detail === "string" ? detail : JSON.stringify(detail)}`);
  checks += 1;
  console.log(`ok  ${what}`);
}
export async function until(what, good) {
  const end = Date.now() + GENEROUS;
  for (;;) {
    const value = await Promise.resolve().then(good).catch(() => null);
    if (value) return value;
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise(done => setTimeout(done, 50));
  }
}
export const api = async path => { const answer = await fetch(PAGE + path); return { status: answer.status, ...(await answer.json()) }; };
await until("the server", async () => (await fetch(PAGE)).ok);
export const browser = await chromium.launch({
  executablePath: BROWSER,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"],
});
export const complaints = [];
const origins = new Set();
export const asked = [];
export async function visit(hash, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 950 }, locale: "en-GB", colorScheme: "light", permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(GENEROUS);
  page.on("pageerror", error => complaints.push(error.stack));
  page.on("console", message => { if (message.type() === "error" && !/Failed to load resource/.test(message.text())) complaints.push(message.text()); });
  page.on("request", request => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http")) { origins.add(url.origin); asked.push(url.pathname); }
  });
  await page.goto(new URL(hash, PAGE).href);
  return page;
}
export async function middle(locator) { const box = await locator.boundingBox(); return [box.x + box.width / 2, box.y + box.height / 2]; }
export const overflow = page => page.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth);
// The narrowest screens that there are, and what is usual.
export const NARROW = [[320, 568], [360, 740], [375, 667]];
export async function fits(page, what) {
  for (const [width, height] of NARROW) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(100);
    const over = await overflow(page);
    check(`${width} pixels are enough: ${what}`, over <= 0, `${over} too many`);
  }
}
export async function shoot(page, name) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}
export async function accessible(page, what) {
  // Colours that glide from one scheme to the next are measured at their end.
  await page.waitForTimeout(300);
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], rules: { "label-content-name-mismatch": { enabled: true } } })).violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 160))]));
  check(`accessible: ${what}`, found.length === 0, found);
}

// The end of a test in which nothing failed.
export function finish(what) {
  assert.ok([...origins].every(origin => origin === new URL(PAGE).origin), [...origins].join());
  check("nothing was asked of anybody else", true);
  assert.deepEqual(complaints, []);
  check("the browser complained of nothing", true);
  console.log(`${what}: ${checks} passed`);
}
