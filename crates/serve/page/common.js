"use strict";
// What all pages share. A page has `WORDS` by language, `state` with `language` and `theme`, and `draw()`, which shows the state.
const SVG = "http://www.w3.org/2000/svg";
const $ = id => document.getElementById(id);
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined && child !== false));
  return node;
}
const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
// Texts and attributes are set only where they change, so that readers, focus and selections are left alone.
function say(node, text) { if (node.textContent !== text) node.textContent = text; }
function put(node, name, value) {
  if (value === null || value === false || value === undefined) { if (node.hasAttribute(name)) node.removeAttribute(name); }
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}
// Brings the children of a node in line with a list by their places: nodes are kept, with their focus.
function each(parent, items, make, update) {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  items.forEach((item, at) => {
    if (!parent.children[at]) parent.append(make(at));
    update(parent.children[at], item, at);
  });
}
const words = () => WORDS[state.language];
let due = false;
function changed() {
  if (due) return;
  due = true;
  queueMicrotask(() => { due = false; draw(); });
}
// A part of the page that is drawn anew only when what it shows has changed.
const drawn = new Map();
function once(name, key, work) {
  const text = JSON.stringify(key);
  if (drawn.get(name) === text) return;
  drawn.set(name, text);
  work();
}
const ICONS = {
  first: "M6 5v14M19 5l-9 7 9 7", back: "M15 5l-8 7 8 7", forward: "M9 5l8 7-8 7", last: "M18 5v14M5 5l9 7-9 7", play: "M8 5l11 7-11 7z", pause: "M9 5v14M15 5v14",
  flip: "M8 20V5M4 9l4-4 4 4M16 4v15M12 15l4 4 4-4", mirror: "M12 3v18M8 8l-4 4 4 4M16 8l4 4-4 4", edit: "M4 20l4-1L19 8l-3-3L5 16zM14 7l3 3",
  share: "M12 15V4M8 8l4-4 4 4M5 13v6h14v-6", copy: "M9 9h11v11H9zM15 9V4H4v11h5", view: "M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6zM12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4", line: "M5 18c6 0 2-12 8-12h6M16 3l3 3-3 3",
  rubber: "M9 19l-5-5 9-9 6 6-8 8zM9 9l6 6M9 19h11",
};
const icon = name => svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name], class: name === "play" ? "solid" : null }));
const grouped = n => n.toLocaleString("en").replaceAll(",", "\u202f");

// == The server ==

class Refusal extends Error {
  constructor(status, error) {
    super(error?.message || `HTTP ${status}`);
    Object.assign(this, { status, kind: error?.kind || "", commands: error?.commands || [], file: error?.file, position: error?.position });
  }
}
// The server's own words are English.
const REFUSALS = { zh: {
  busy: "服务器繁忙，请稍后再试。", timeout: "查询时间太长，请稍后再试。", slow: "上传太慢，请再试一次。", store: "目前读不到残局库，请稍后再试。", internal: "服务器出错，详情见服务器日志。",
  too_large: "内容太大，请拆分。", too_many: "一次问得太多，请分批。", missing: "这里没有这个残局库。", damaged: "残局库文件已损坏。", name: "残局名称有误。", parameter: "地址的参数有误。", body: "请求的格式有误。", fen: "FEN 无法识别。", illegal: "对局中不会出现这样的局面。", position: "局面无法识别。", games: "文件无法识别。",
} };
// What a refusal means, in the language of the page: of a position by what is wrong with it.
function refused(error) {
  const { kind, message, position } = error;
  return (position && words().faults?.[position.reason]?.(position)) || REFUSALS[state.language]?.[kind] || message;
}
// Before a lost server is asked again.
const PATIENCE = [1000, 2000, 4000, 8000];
async function ask(path, options = {}) {
  const response = await fetch(path, { headers: { accept: "application/json" }, ...options });
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Refusal(response.status, body?.error);
  return body;
}

// == What the browser remembers, for all pages ==

function recall() { try { return JSON.parse(localStorage.getItem("canju")) || {}; } catch { return {}; } }
function remind(choices) {
  try { localStorage.setItem("canju", JSON.stringify({ ...recall(), ...choices })); } catch { /* Then it is chosen again. */ }
}

// == What people are told ==

function toast(text) {
  $("toast").textContent = text;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { $("toast").textContent = ""; }, 3500);
}
async function copy(text) {
  try { await navigator.clipboard.writeText(text); toast(words().copied); }
  catch { toast(words().notCopied); }
}
function command(text) {
  const button = html("button", { type: "button", title: words().copy, "aria-label": `${words().copy}: ${text}`, onclick: () => copy(text) }, icon("copy"));
  return html("div", { class: "command" }, html("code", {}, text), button);
}
const sentence = text => text.charAt(0).toUpperCase() + text.slice(1);
function showWords(w) {
  document.documentElement.lang = state.language === "zh" ? "zh-Hans" : "en";
  if (state.theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = state.theme;
  for (const node of document.querySelectorAll("[data-word]")) say(node, w[node.dataset.word]);
  for (const node of document.querySelectorAll("[data-label]")) {
    put(node, "aria-label", w[node.dataset.label]);
    if (node.matches("button, summary, select")) put(node, "title", w[node.dataset.label]);
  }
  say($("language"), w.other);
  put($("language"), "lang", state.language === "zh" ? "en" : "zh");
  put($("language"), "aria-label", w.otherSays);
}
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
