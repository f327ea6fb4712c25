// What a browser shows of finished tables. What is seen is compared with what the server says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { accessible, api, asked, browser, check, complaints, finish, fits, middle, PAGE, SHOTS, shoot, until, visit as enter } from "./browser.mjs";

// Horse against two advisors, a win in many plies; the soldier against an advisor, a draw; a table that is not there.
const WIN = "4ka3/4a4/9/9/4N4/9/9/9/9/4K4 w";
const DRAW = "4k4/4a4/4P4/9/9/9/9/9/9/5K3 w";
const ABSENT = "3k5/9/9/9/R8/9/9/9/4A4/4K4 w";
// The same, with a move that ends the game.
const AT_ONCE = "3k5/9/9/9/4R4/9/9/9/4A4/4K4 w";
// No table of its own either; but the capture leads to one.
const WON_BY = "3k5/9/9/9/9/4n4/9/3N5/9/4K4 w";
// More pieces than any table has; two soldiers where one of them cannot be.
const CROWD = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
const DOUBLED = "3k5/9/9/9/9/P8/P8/9/9/4K4 w";
// A win under the rules of repetition, told by no server of these tests.
const PERPETUAL = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w";

const movesOf = fen => api(`v1/moves?fen=${encodeURIComponent(fen)}`);

async function visit(hash, options) {
  const page = await enter(hash, options);
  await settled(page);
  return page;
}
const hashOf = fen => `#${fen.replace(" ", "_")}`;
const settled = page => page.locator("#verdict:not(.pending) h2").waitFor();
const head = page => page.locator("#verdict h2").textContent();
const verdictIs = (page, text) => until(`the verdict ${text}`, async () => (await page.locator("#verdict:not(.pending) h2").textContent()).includes(text));
const fenIs = (page, fen) => until(`the position ${fen}`, async () => (await page.locator("#fen").inputValue()) === fen);
const squareOf = name => "abcdefghi".indexOf(name[0]) + 9 * Number(name[1]);
const point = (page, name) => page.locator(`[data-at="${squareOf(name)}"]`);
async function drag(page, from, to) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 4 });
  await page.mouse.move(...to, { steps: 4 });
  await page.mouse.up();
}
const dragPoints = async (page, from, to) => drag(page, await middle(point(page, from)), await middle(point(page, to)));
const listed = page => page.locator("#moves .move").evaluateAll(rows => rows.map(row => row.dataset.move));
let page;
try {
  // What the server hands out.
  const answer = await fetch(PAGE);
  const policy = answer.headers.get("content-security-policy") || "";
  check("the policy lets nothing in", policy.includes("default-src 'none'") && !policy.includes("unsafe"), policy);
  check("the page is small", (await answer.text()).length < 120_000);

  // The verdict comes in one round trip, and says what the server says.
  asked.length = 0;
  page = await visit(hashOf(WIN));
  const win = await movesOf(WIN);
  check("one question for the verdict and the moves", asked.filter(path => path === "/v1/moves").length === 1 && !asked.includes("/v1/probe"), asked);
  check("the verdict", (await head(page)) === `Red wins in ${win.dtm} plies`, await head(page));
  const how = await page.locator("#verdict .how").textContent();
  check("mate is told in moves, and the conversion", how.includes(`ate on move ${Math.ceil(win.dtm / 2)}`) && how.includes(`in ${win.dtc} plies`), how);
  check("the endgame in words", (await page.locator("#verdict .about").textContent()).includes("horse against two advisors"));
  await until("the live region", async () => (await page.locator("#spoken").textContent()).includes(`Red wins in ${win.dtm} plies`));
  check("a reader hears it", true);
  check("the title tells it", (await page.title()).startsWith("Red wins"));

  // Moves as a player wants them.
  const rank = { win: 0, draw: 1, loss: 2, unknown: 3 };
  const shown = (await listed(page)).map(name => win.moves.find(move => move.move === name));
  check("every legal move is listed once", shown.length === win.moves.length && new Set(shown).size === shown.length && shown.every(Boolean));
  check("fastest wins first, slowest losses last", shown.every((move, at) => at === 0 || rank[shown[at - 1].outcome] < rank[move.outcome] || (rank[shown[at - 1].outcome] === rank[move.outcome] && (move.outcome === "loss" ? shown[at - 1].dtm >= move.dtm : move.outcome === "win" ? shown[at - 1].dtm <= move.dtm : true))), shown);
  check("values stand beside the moves", (await page.locator("#moves .move").first().locator(".number").allTextContents()).join() === `${shown[0].dtm},${shown[0].dtc}`);
  check("an arrow for the best move", (await page.locator("#picture path[fill='var(--arrow-win)']").count()) === 1);
  await page.locator("#moves .move").nth(2).hover();
  check("another one for what is pointed at", (await page.locator(`#picture path[fill='var(--arrow-${shown[2].outcome})']`).count()) === 1 && (await page.locator("#picture path[fill='var(--arrow-win)']").count()) === 0);
  await page.locator("#moves .move").nth(2).evaluate(row => row.dispatchEvent(new PointerEvent("pointerleave")));
  const lost = `${shown[0].fen}`;
  const reply = await movesOf(lost);
  await shoot(page, "desktop-light");

  // Notations.
  const firstText = () => page.locator("#moves .move .text").first().textContent();
  check("WXF", (await firstText()) === shown[0].wxf);
  await page.locator("#view > summary").click();
  await page.locator("input[name=notation][value=chinese]").check();
  await until("Chinese moves", async () => (await firstText()) === shown[0].chinese);
  check("files at the edge are those of the notation", (await page.locator("#picture").textContent()).includes("九八七六五四三二一".at(-1)));
  await page.locator("input[name=notation][value=move]").check();
  await until("coordinates", async () => (await firstText()) === shown[0].move);
  await shoot(page, "view");
  await page.keyboard.press("Escape");
  check("Escape closes a menu", !(await page.locator("#view > div").isVisible()));

  // Playing: from the list, by two taps, by dragging; back, forward, and another branch.
  await page.locator("#moves .move").first().click();
  await fenIs(page, lost);
  await settled(page);
  check("a move is played from the list", (await listed(page)).length === reply.moves.length);
  check("the loser's moves: longest first", reply.outcome !== "loss" || (await head(page)) === `Red wins in ${reply.dtm} plies`);
  const dtms = reply.moves.map(move => move.dtm);
  check("a lost position has its longest defence first", reply.outcome === "loss" && dtms.every((n, at) => at === 0 || dtms[at - 1] >= n), dtms);
  const second = reply.moves[0];
  await point(page, second.move.slice(0, 2)).click();
  const goals = reply.moves.filter(move => move.move.startsWith(second.move.slice(0, 2)));
  check("a chosen piece shows where it can go, with values", (await page.locator("#board .goal").count()) === goals.length && (await point(page, second.move.slice(2)).getAttribute("aria-label")).includes("can go here"));
  await shoot(page, "chosen");
  await point(page, second.move.slice(2)).click();
  await fenIs(page, second.fen);
  check("a move by two taps", true);
  const third = (await movesOf(second.fen)).moves[0];
  await dragPoints(page, third.move.slice(0, 2), third.move.slice(2));
  await fenIs(page, third.fen);
  check("a move by dragging", true);
  await settled(page);
  await dragPoints(page, "a0", "a5");
  const piece = third.fen.endsWith("b") ? (await movesOf(third.fen)).moves[0].move.slice(0, 2) : null;
  await dragPoints(page, piece, piece === "a9" ? "b9" : "a9");
  await page.locator("#toast:not(:empty)").waitFor();
  check("an illegal move is told and changes nothing", (await page.locator("#fen").inputValue()) === third.fen && /no legal move/.test(await page.locator("#toast").textContent()));
  const score = page.locator("#score button");
  check("the moves are written down", (await score.count()) === 4);
  await page.locator("body").press("ArrowLeft");
  await fenIs(page, second.fen);
  await page.locator("body").press("ArrowLeft");
  await fenIs(page, lost);
  await page.locator("body").press("ArrowRight");
  await fenIs(page, second.fen);
  check("back and forward by keys", (await score.count()) === 4);
  await page.locator("#first").click();
  await fenIs(page, WIN);
  await settled(page);
  await page.locator("#moves .move").nth(1).click();
  await fenIs(page, shown[1].fen);
  check("another move cuts the branch off", (await score.count()) === 2);
  await settled(page);
  check("what threw the win away is marked", (await score.nth(1).locator(".mark").textContent()) === "?");

  // The address.
  check("the address has the position", page.url().endsWith(hashOf(shown[1].fen)), page.url());
  await page.goBack();
  await until("a step back", async () => page.url().endsWith(hashOf(WIN)));
  await fenIs(page, WIN);
  check("the browser's back button", (await score.count()) === 2);
  const other = await visit(hashOf(DRAW));
  check("a link opens its position", (await head(other)) === "Draw" && (await other.locator("#fen").inputValue()) === DRAW);
  await other.goto(`${PAGE}?fen=${encodeURIComponent(WIN)}`);
  await verdictIs(other, "Red wins");
  check("so does a query", (await other.locator("#fen").inputValue()) === WIN);
  // A link that is broken is no wish for the sample.
  for (const broken of ["#nonsense", "#4ka3/4a4/9/9/4N4", "#%E0%A4%A", "?fen=nonsense"]) {
    await other.goto("about:blank");
    await other.goto(PAGE + broken);
    await verdictIs(other, "This is no position");
    const text = await other.locator("#verdict").textContent();
    check(`a broken link is told: ${broken}`, text.includes("The address of this page names no position") && (await other.locator("#fen").getAttribute("aria-invalid")) === "true" && (await listed(other)).length === 0, text);
  }
  await shoot(other, "broken-link");
  await other.locator("#verdict button").click();
  await other.locator("#verdict:not(.wrong)").waitFor();
  check("and the board's address takes its place", new URL(other.url()).hash.includes("9/4a4/"), other.url());
  await other.goto(PAGE + hashOf(DRAW));
  await verdictIs(other, "Draw");
  await other.locator(".skip").focus();
  await other.keyboard.press("Enter");
  await until("the address again", async () => other.url().endsWith(hashOf(DRAW)));
  check("the link to the board leaves the position", (await head(other)) === "Draw" && (await other.locator("#fen").inputValue()) === DRAW);
  await other.context().close();

  // The main line, to the end.
  await page.locator("#speed").selectOption("150");
  await page.locator("#best").click();
  await until("the line", async () => (await score.count()) === win.dtm + 1);
  check("the main line is as long as the mate is far", true);
  await until("mate", async () => /Checkmate|No legal move/.test(await head(page)));
  check("it plays to the end", (await page.locator("#forward").isDisabled()) && /Red has won/.test(await head(page)));
  await shoot(page, "line");
  await page.locator("#first").click();
  await verdictIs(page, `Red wins in ${win.dtm} plies`);
  await page.locator("#play").click();
  await until("some steps", async () => (await page.locator("#score [aria-current]").textContent()) !== "Start");
  await page.locator("#play").click();
  const paused = await page.locator("#fen").inputValue();
  await page.waitForTimeout(600);
  check("and can be paused", (await page.locator("#fen").inputValue()) === paused);

  // FEN: typed, wrong, pasted, copied.
  const field = page.locator("#fen");
  await field.fill(DRAW);
  await field.press("Enter");
  await verdictIs(page, "Draw");
  check("a FEN is typed", (await page.locator("#score button").count()) === 1);
  await field.fill("9/9/9 w");
  await field.press("Enter");
  await verdictIs(page, "This is no position");
  const refusal = await api(`v1/moves?fen=${encodeURIComponent("9/9/9 w")}`);
  check("a bad FEN is told in the server's words", refusal.status === 400 && (await page.locator("#verdict .how").textContent()).includes(refusal.error.message));
  check("and the field says so", (await field.getAttribute("aria-invalid")) === "true");
  // Whose moves these are is no question: none are shown, and the board says that it is another one.
  check("what is on the board all the same is told", (await page.locator("#verdict").textContent()).includes("The board still shows the last position") && (await page.locator("#stage.stale").count()) === 1);
  check("and no values of it", (await listed(page)).length === 0 && (await page.locator("#picture path[fill^='var(--arrow']").count()) === 0);
  await shoot(page, "bad-fen");
  await page.locator("#verdict button").click();
  await verdictIs(page, "Draw");
  check("the way back is a click", (await field.inputValue()) === DRAW && (await listed(page)).length > 0 && (await page.locator("#stage.stale").count()) === 0);
  await page.locator("#tab-moves").focus();
  await page.evaluate(fen => document.body.dispatchEvent(Object.assign(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: (() => { const data = new DataTransfer(); data.setData("text/plain", fen); return data; })() }))), WIN);
  await verdictIs(page, "Red wins");
  check("a FEN is pasted anywhere", (await field.inputValue()) === WIN);
  await page.locator("#copy-fen").click();
  check("a FEN is copied", (await page.evaluate(() => navigator.clipboard.readText())) === WIN);
  await page.locator(".turn label").nth(1).click();
  await fenIs(page, WIN.replace(" w", " b"));
  await settled(page);
  check("the other side to move", (await page.locator("#verdict .about").textContent()).includes("Black to move"));

  // No positions: told in the server's words.
  for (const [what, fen] of [["no king", "4ka3/9/9/9/4N4/9/9/9/9/9 w"], ["kings that face each other", "4k4/9/9/9/9/9/9/9/9/4K4 w"], ["a king left in check", "4k4/9/9/4R4/9/9/9/9/9/3K5 w"]]) {
    const said = await movesOf(fen);
    await field.fill(fen);
    await field.press("Enter");
    await until(what, async () => said.error && (await page.locator("#verdict .how").textContent()).includes(said.error.message));
    check(`${what} is told`, said.status === 400 && (await head(page)) === "This is no position");
  }
  await shoot(page, "no-position");

  // Setting up by dragging.
  await field.fill(DRAW);
  await field.press("Enter");
  await verdictIs(page, "Draw");
  await page.locator("#edit").click();
  await page.locator("#clear").click();
  await fenIs(page, "4k4/9/9/9/9/9/9/9/9/3K5 w");
  const boxed = letter => page.locator(`#box [data-letter="${letter}"]`);
  await drag(page, await middle(boxed("N")), await middle(point(page, "e5")));
  await fenIs(page, "4k4/9/9/9/4N4/9/9/9/9/3K5 w");
  await drag(page, await middle(boxed("a")), await middle(point(page, "e8")));
  await dragPoints(page, "d0", "e0");
  await fenIs(page, "4k4/4a4/9/9/4N4/9/9/9/9/4K4 w");
  check("pieces are dragged from the box and on the board", true);
  await drag(page, await middle(boxed("a")), await middle(point(page, "e5")));
  await page.locator("#toast:not(:empty)").waitFor();
  check("an advisor stays in its palace", /cannot stand/.test(await page.locator("#toast").textContent()) && (await field.inputValue()).includes("4N4"));
  await boxed("a").click();
  await shoot(page, "set-up");
  await point(page, "f9").click();
  await fenIs(page, WIN);
  check("a piece is chosen, then its point", true);
  await boxed("a").click();
  check("only so many of a kind", (await boxed("a").getAttribute("aria-label")).includes("0 left"));
  await verdictIs(page, `Red wins in ${win.dtm} plies`);
  check("the verdict follows the set-up", true);
  const corner = await page.locator("#tab-moves").boundingBox();
  await drag(page, await middle(point(page, "f9")), [corner.x + 5, corner.y + 5]);
  await fenIs(page, "4k4/4a4/9/9/4N4/9/9/9/9/4K4 w");
  check("what is dragged off the board is gone", true);
  await accessible(page, "setting up");

  // Setting up by keyboard, and playing by it.
  await point(page, "f9").evaluate(node => node.tabIndex);
  await page.locator("#board [tabindex='0']").focus();
  const named = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  const at = async () => (await named()).slice(0, 2);
  async function walk(to) {
    for (;;) {
      const now = await at();
      if (now === to) return;
      const [file, rank] = [to.charCodeAt(0) - now.charCodeAt(0), Number(to[1]) - Number(now[1])];
      await page.keyboard.press(file > 0 ? "ArrowRight" : file < 0 ? "ArrowLeft" : rank > 0 ? "ArrowUp" : "ArrowDown");
    }
  }
  await walk("f9");
  check("points have names", (await named()) === "f9, empty");
  await page.keyboard.press("a");
  await fenIs(page, WIN);
  check("a letter places a piece", (await named()) === "f9, black advisor");
  await page.keyboard.press("Delete");
  await fenIs(page, "4k4/4a4/9/9/4N4/9/9/9/9/4K4 w");
  await page.keyboard.press("a");
  await walk("a4");
  await page.keyboard.press("Shift+P");
  await fenIs(page, "4ka3/4a4/9/9/4N4/P8/9/9/9/4K4 w");
  await page.keyboard.press("Backspace");
  await fenIs(page, WIN);
  check("Delete takes it off, capitals are Red's", true);
  await page.locator("#done").click();
  await verdictIs(page, "Red wins");
  await page.locator("#board [tabindex='0']").focus();
  await walk(shown[0].move.slice(0, 2));
  await page.keyboard.press("Enter");
  check("a piece is chosen by Enter", (await named()).includes("chosen"));
  await walk(shown[0].move.slice(2));
  check("a goal says its value", (await named()).includes(`${shown[0].dtm} plies`), await named());
  await page.keyboard.press("Enter");
  await fenIs(page, lost);
  check("a move by keyboard", (await at()) === shown[0].move.slice(2));
  await page.keyboard.press(",");
  await fenIs(page, WIN);
  const cells = await page.locator("#board [role=gridcell]").evaluateAll(all => all.map(cell => [cell.getAttribute("aria-label"), cell.tabIndex]));
  check("ninety points, each with a name, one in the order of tabs", cells.length === 90 && new Set(cells.map(cell => cell[0])).size === 90 && cells.filter(cell => cell[1] === 0).length === 1);
  await shoot(page, "keyboard");

  // Turning and mirroring.
  const before = await middle(point(page, "a0"));
  await page.locator("#flip").click();
  const turned = await middle(point(page, "a0"));
  check("the board turns", turned[0] > before[0] + 300 && turned[1] < before[1] - 300);
  await page.locator("#flip").click();
  await page.locator("#mirror").click();
  await fenIs(page, "3ak4/4a4/9/9/4N4/9/9/9/9/4K4 w");
  await verdictIs(page, `Red wins in ${win.dtm} plies`);
  check("a mirror image has the same value", true);
  await page.goBack();
  await fenIs(page, WIN);

  // Pictures.
  async function saved(id) {
    await page.locator("#share > summary").click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(id).click()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }
  const drawing = await saved("#save-svg");
  const text = drawing.bytes.toString("utf8");
  check("an SVG that stands by itself", drawing.name === "canju-KNKAA.svg" && text.startsWith("<svg") && text.includes("帥") && !text.includes("var(") && text.includes(WIN), drawing.name);
  const wellFormed = await page.evaluate(t => new DOMParser().parseFromString(t, "image/svg+xml").querySelector("parsererror") === null, text);
  check("and is well-formed", wellFormed);
  const png = await saved("#save-png");
  check("a PNG", png.name === "canju-KNKAA.png" && png.bytes.subarray(1, 4).toString() === "PNG" && png.bytes.readUInt32BE(16) === 1900, png.name);
  const colours = await page.evaluate(async data => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), c => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(190, 212);
    const pen = canvas.getContext("2d");
    pen.drawImage(bitmap, 0, 0, 190, 212);
    const pixels = pen.getImageData(0, 0, 190, 212).data;
    return new Set(Array.from({ length: 190 * 212 }, (_, i) => `${pixels[4 * i] >> 5} ${pixels[4 * i + 1] >> 5} ${pixels[4 * i + 2] >> 5}`)).size;
  }, png.bytes.toString("base64"));
  check("with something on it", colours > 10, String(colours));
  if (SHOTS) (await import("node:fs")).writeFileSync(`${SHOTS}/export.png`, png.bytes);
  await page.locator("#share > summary").click();
  await page.locator("#copy-link").click();
  check("the link is copied", (await page.evaluate(() => navigator.clipboard.readText())) === PAGE + hashOf(WIN));

  // Not in the tables.
  await field.fill(ABSENT);
  await field.press("Enter");
  await verdictIs(page, "Not in the tables");
  const absent = await movesOf(ABSENT);
  const commands = await page.locator("#verdict .command code").allTextContents();
  check("what is not there names what builds it", absent.unknown.commands.length > 0 && commands.join("\n") === absent.unknown.commands.join("\n"), commands);
  check("it is no draw", !/Draw/.test(await page.locator("#verdict").textContent()));
  check("its moves can be played all the same", (await listed(page)).length === absent.moves.length && absent.moves.length > 10);
  await page.locator("#verdict .command button").last().click();
  check("the command is copied", (await page.evaluate(() => navigator.clipboard.readText())) === commands.at(-1));
  await shoot(page, "unknown");
  await accessible(page, "an unknown position");

  // Won, as a move is known to win; how fast at best nobody knows.
  await field.fill(WON_BY);
  await field.press("Enter");
  await verdictIs(page, "Red wins");
  const wonBy = await movesOf(WON_BY);
  const least = await page.locator("#verdict .how").textContent();
  check("a win that is known by a move", wonBy.outcome === "unknown" && least === `At least by d2e4, in ${wonBy.won_by.dtm} plies; whether there is a faster win is not known. There is no table of KNKN here.`, least);
  await field.fill(AT_ONCE);
  await field.press("Enter");
  await until("a win at once", async () => (await page.locator("#verdict .how").textContent()) === "By e5e8, at once.");
  await field.fill(WON_BY);
  await field.press("Enter");
  await until("the other one again", async () => (await page.locator("#verdict .how").textContent()) === least);
  check("with what brings the table", (await page.locator("#verdict .command").count()) === wonBy.unknown.commands.length);
  await shoot(page, "won-by");

  // Statistics.
  await field.fill(WIN);
  await field.press("Enter");
  await verdictIs(page, "Red wins");
  await page.locator("#tab-endgame").click();
  await page.locator(".chart").waitFor();
  const stats = await api("v1/endgames/KNKAA");
  check("counts of both sides", (await page.locator("#panel-endgame").textContent()).replaceAll("\u202f", "").includes(String(stats.sides.w.win)));
  const series = stats.histogram.dtm.w.win;
  check("the histogram has a bar for each ply", (await page.locator(".chart .stick").count()) === series.length);
  await page.locator("#panel-endgame details summary").click();
  const rows = await page.locator(".numbers tbody tr").evaluateAll(all => all.map(row => [...row.children].map(cell => Number(cell.textContent.replace(/\D/g, "")))));
  assert.deepEqual(rows, series.map(point => [point.plies, point.positions]));
  check("and tells its numbers in a table", true);
  await page.locator(".chart").hover();
  await shoot(page, "statistics");
  await accessible(page, "statistics");
  await page.locator(".longest button").first().click();
  await fenIs(page, stats.extremes.dtm.w.win.fen);
  await verdictIs(page, `in ${stats.longest.dtm.plies} plies`);
  check("the longest win opens with a click", (await page.locator("#tab-moves").getAttribute("aria-selected")) === "true");
  await page.locator("#tab-tables").click();
  const there = (await api("v1/endgames")).endgames;
  await until("the tables", async () => (await page.locator("#tables button").count()) === there.length);
  await page.locator("#filter").fill("soldier");
  await until("fewer tables", async () => (await page.locator("#tables button").count()) === there.filter(t => t.endgame.includes("P")).length);
  check("the list of endgames is filtered by words", true);
  await page.locator("#tables button").first().click();
  await until("its statistics", async () => /P/.test(await page.locator("#panel-endgame h2").textContent()));
  check("a table opens its statistics", true);

  // Late answers overwrite nothing.
  await field.fill(WIN);
  await field.press("Enter");
  await verdictIs(page, "Red wins");
  await page.locator("#tab-moves").click();
  const slow = "4ka3/4a4/9/9/9/5N3/9/9/9/4K4 w";
  let let_go = null;
  const held = new Promise(done => { let_go = done; });
  await page.route(url => url.searchParams.get("fen") === slow, async route => { await held; await route.continue().catch(() => {}); });
  await field.fill(slow);
  await field.press("Enter");
  await page.locator("#verdict.pending").waitFor();
  check("the last verdict is faded while the next one is asked for", (await page.locator("#verdict").getAttribute("aria-busy")) === "true");
  await field.fill(DRAW);
  await field.press("Enter");
  await verdictIs(page, "Draw");
  let_go();
  await page.waitForTimeout(500);
  check("a late answer overwrites nothing", (await head(page)) === "Draw" && (await listed(page)).length === (await movesOf(DRAW)).moves.length);
  await page.unrouteAll({ behavior: "ignoreErrors" });

  // A server that is lost, and comes back.
  let down = true;
  await page.route("**/v1/moves*", route => (down ? route.abort() : route.continue()));
  await field.fill(slow);
  await field.press("Enter");
  await verdictIs(page, "The server does not answer");
  down = false;
  await until("a verdict again", async () => /wins|Draw/.test(await head(page)));
  check("a lost server is told, and asked again", true);
  await page.unrouteAll({ behavior: "ignoreErrors" });

  // Games.
  const games = (await fetch(`${PAGE}v1/games`, { method: "POST", body: `${WIN}\n` })).status;
  if (games === 404 || games === 405) console.log("--  no games here: not checked");
  else {
    const line = await api(`v1/line?fen=${encodeURIComponent(WIN)}`);
    const study = `Horse and advisors|${WIN}|${line.moves.slice(0, 5).map(move => move.move).join(" ")}\nSoldier|${DRAW}|`;
    await page.locator("#tab-games").click();
    await page.locator("#pasted").fill(study);
    await page.locator("#read").click();
    await until("two games", async () => (await page.locator("#games button").count()) === 2);
    await page.locator("#games button").first().click();
    await until("its moves", async () => (await score.count()) === 6);
    await page.locator("body").press("End");
    await fenIs(page, line.moves[4].fen);
    await settled(page);
    check("a pasted game is stepped through with its verdicts", (await head(page)).includes(`in ${win.dtm - 5} plies`), await head(page));
    await shoot(page, "games");
    await page.locator("#file").setInputFiles({ name: "positions.txt", mimeType: "text/plain", buffer: Buffer.from(`${DRAW}\n`) });
    await verdictIs(page, "Draw");
    check("a file is read", true);
    await page.locator("#tab-games").click();
    await accessible(page, "games");
  }
  await page.locator("#tab-moves").click();

  // Words from outside are text.
  const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</` + "script>";
  await page.route("**/v1/moves*", route => route.fulfill({ json: { fen: ABSENT, endgame: evil, rules: evil, turn: "red", outcome: "unknown", dtm: null, dtc: null, ended: null, check: false, unknown: { reason: evil, message: evil, endgame: evil, commands: [evil] }, moves: [{ move: "e0e1", wxf: evil, chinese: evil, capture: true, check: true, fen: WIN, outcome: "unknown", dtm: null, dtc: null }] } }));
  await field.fill(ABSENT);
  await field.press("Enter");
  await page.locator("#verdict", { hasText: "<img" }).waitFor();
  check("a hostile answer is a text", (await page.locator("main img, main script").count()) === 0 && !(await page.evaluate(() => window.hit)));
  await page.unrouteAll({ behavior: "ignoreErrors" });

  // A win that rests on what the loser must break off.
  const perpetual = { outcome: "win", order: 2, dtm: 5, dtc: null, unknown: null };
  const first = { move: "d0d1", wxf: "K6+1", chinese: "帥六进一", capture: false, check: false, fen: "9/9/4k4/9/9/9/9/9/1n1K5/R8 b", ...perpetual };
  const longer = { ...first, move: "a0a1", wxf: "R9+1", order: 0, dtm: 77 };
  await page.route("**/v1/moves*", route => route.fulfill({ json: { fen: PERPETUAL, endgame: "KRKN", rules: "axf", turn: "red", ended: null, check: false, moves: [first, longer], ...perpetual } }));
  await field.fill(PERPETUAL);
  await field.press("Enter");
  await page.locator("#verdict", { hasText: "can only go on" }).waitFor();
  const said = await page.locator("#verdict .how").textContent();
  check("an order is told in words", (await head(page)) === "Red wins" && said === "Within 5 plies Black can only go on with a perpetual check or chase, the first of 2 to break off in turn", said);
  check("fewer orders come first, whatever the plies", (await page.locator("#moves .move").first().getAttribute("data-move")) === "a0a1");
  const spoken = await page.locator("#moves .move").nth(1).textContent();
  check("a move says so as well, and its plies are no mate", spoken.includes("perpetual ×2") && spoken.includes("2.5"), spoken);
  await page.unrouteAll({ behavior: "ignoreErrors" });

  // Plies of different orders stand in histograms of their own.
  {
    const win = [{ plies: 1, positions: 7 }, { plies: 3, positions: 5 }, { order: 2, plies: 1, positions: 4 }];
    const counts = { win: 16, draw: 0, loss: 0, illegal: 0 };
    const longest = { order: 2, plies: 1, fen: PERPETUAL };
    const sides = { w: { draw: 0, win, loss: [] }, b: { draw: 0, win: [], loss: [] } };
    const ordered = { endgame: "KRKN", table: "KRKN", rules: "axf", cells: 16, positions: 16, men: 4, metrics: ["wdl", "dtm"], sides: { w: counts, b: counts }, longest: { dtm: longest }, extremes: { dtm: { w: { win: longest, loss: null }, b: { win: null, loss: null } } }, histogram: { dtm: sides } };
    await page.route("**/v1/endgames/KRKN", route => route.fulfill({ json: ordered }));
    await page.locator("#tab-endgame").click();
    await page.locator(".chart").waitFor();
    check("an order has its own histogram", (await page.locator("#panel-endgame select option").allTextContents()).join("|") === "Red to move wins, plies to mate|Red to move wins, plies to the first of 2 perpetuals");
    check("which bars of others are not in", (await page.locator(".chart .stick").count()) === 2);
    check("a longest win says its order", (await page.locator(".longest button").first().textContent()).includes("1 ply to the first of 2 perpetuals"));
    await page.locator("#tab-moves").click();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }

  // Colours, languages, narrow screens.
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.goto(PAGE + hashOf(colorScheme === "dark" ? DRAW : WIN));
    await verdictIs(page, colorScheme === "dark" ? "Draw" : "Red wins");
    await accessible(page, colorScheme);
    const ratios = await page.evaluate(() => {
      const light = name => {
        const span = document.body.appendChild(document.createElement("span"));
        span.style.color = `var(${name})`;
        const parts = getComputedStyle(span).color.match(/[\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        span.remove();
        return parts[0] * 0.2126 + parts[1] * 0.7152 + parts[2] * 0.0722;
      };
      const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
      return { red: ratio("--red-ink", "--red-disc"), black: ratio("--black-ink", "--black-disc"), discs: ratio("--red-disc", "--black-disc"), edge: ratio("--rim", "--wood"), win: ratio("--arrow-win", "--wood"), draw: ratio("--arrow-draw", "--wood"), loss: ratio("--arrow-loss", "--wood"), unknown: ratio("--arrow-unknown", "--wood"), chosen: ratio("--chosen", "--wood") };
    });
    check(`pieces and edges stand out, ${colorScheme}`, ratios.red >= 4.5 && ratios.black >= 4.5 && ratios.discs >= 4.5 && ratios.edge >= 4.5, ratios);
    check(`arrows and values stand out, ${colorScheme}`, [ratios.win, ratios.draw, ratios.loss, ratios.unknown].every(r => r >= 3) && ratios.chosen >= 3, ratios);
  }
  await shoot(page, "desktop-dark");
  await page.locator("#language").click();
  await verdictIs(page, "和棋");
  check("it speaks Chinese", (await page.locator("#tab-moves").textContent()) === "着法" && (await page.locator("html").getAttribute("lang")) === "zh-Hans");
  await page.reload();
  await settled(page);
  check("and remembers it", (await head(page)) === "和棋");
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("#view > summary").click();
  await page.locator("input[name=notation][value=chinese]").check();
  await page.keyboard.press("Escape");
  await page.goto(PAGE + hashOf(WIN));
  await verdictIs(page, "红方胜");
  await shoot(page, "chinese");
  // What is wrong with a file is told in the language of the page, also after it has changed.
  await page.locator("#tab-games").click();
  await page.locator("#pasted").fill("# x\n9/9/9/9/9/9/9/9/9/x w\n");
  await page.locator("#read").click();
  await page.locator("#games-told", { hasText: "第 2 行" }).waitFor();
  const wrong = await page.locator("#games-told").textContent();
  check("a wrong file is told in Chinese", !/[a-z]{4}/.test(wrong), wrong);
  await page.locator("#language").click();
  await page.locator("#games-told", { hasText: "line 2" }).waitFor();
  check("and in English", true);
  await page.locator("#language").click();
  await page.locator("#tab-moves").click();
  await accessible(page, "Chinese");
  // Nothing that the server says stays English.
  const latin = /[a-z]{3}/;
  const speaks = async (what, selector) => { const text = await page.locator(selector).textContent(); check(`in Chinese: ${what}`, text.length > 4 && !latin.test(text), text); };
  for (const [what, fen, head] of [["too many pieces", CROWD, "超出"], ["soldiers that cannot stand so", DOUBLED, "不会出现"], ["no table", ABSENT, "库中没有"], ["a win by a move", WON_BY, "红方胜"], ["kings that face each other", "4k4/9/9/9/9/9/9/9/9/4K4 w", "不是合法局面"], ["a check left standing", "3k5/9/9/9/9/9/9/9/3R5/4K4 w", "不是合法局面"]]) {
    await field.fill(fen);
    await field.press("Enter");
    await verdictIs(page, head);
    await speaks(what, "#verdict .how");
  }
  for (const [what, fen] of [["no ten ranks", "9/9/9 w"], ["a rank that is too long", "3k5/9/9/9/9/9/9/9/9/5K4 w"], ["a letter", "3k5/9/9/9/9/9/9/9/9/4X4 w"], ["no king", "9/9/9/9/9/9/9/9/9/4K4 w"], ["too many of a kind", "3k5/RRR6/9/9/9/9/9/9/9/4K4 w"], ["a point where it cannot stand", "3k5/9/9/9/9/9/9/9/8A/4K4 w"], ["a side", "3k5/9/9/9/9/9/9/9/9/4K4 x"]]) {
    await field.fill(fen);
    await field.press("Enter");
    await until(what, async () => (await page.locator("#verdict.wrong .how").textContent()).length > 4);
    await speaks(what, "#verdict");
  }
  await page.locator("#tab-games").click();
  await page.locator("#pasted").fill(`3k5/9/9/9/9/9/9/9/3R5/4K4 w\n${WIN} moves e5e6\nposition startpos moves h2e2`);
  await page.locator("#read").click();
  await until("three games", async () => (await page.locator("#games .warn").count()) === 3);
  await until("warnings", async () => (await page.locator("#games .warn").first().textContent()).length > 4);
  await speaks("warnings of what was read", "#games");
  await shoot(page, "chinese-games");
  await page.locator("#pasted").fill("3k5/9/9/9/9/9/9/9/3KK4/9 w");
  await page.locator("#read").click();
  await until("the second king", async () => (await page.locator("#games-told").textContent()).includes("多了一个"));
  await speaks("a position of a file", "#games-told");
  await page.route("**/v1/endgames*", route => route.fulfill({ status: 503, json: { error: { kind: "store", message: "the tables cannot be read" } } }));
  await page.locator("#tab-tables").click();
  await until("a store that is away", async () => (await page.locator("#tables-told").textContent()).includes("读不到"));
  check("in Chinese: a failure of the server", true);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  check("in Chinese: where the tables are", (await page.locator("#info").textContent()).includes("文件夹"));
  await page.context().close();
  page = await visit(hashOf(WIN), { locale: "zh-CN" });
  check("the browser's language is taken", (await head(page)).startsWith("红方胜"), await head(page));
  await page.context().close();

  page = await visit(hashOf(WIN), { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, reducedMotion: "reduce" });
  await shoot(page, "narrow");
  await fits(page, "moves");
  for (const tab of ["endgame", "tables", "games"]) {
    await page.locator(`#tab-${tab}`).click();
    await page.waitForTimeout(300);
    await fits(page, tab);
    await page.setViewportSize({ width: 320, height: 568 });
    await shoot(page, `narrow-${tab}`);
  }
  await page.locator("#tab-moves").click();
  await page.locator("#edit").click();
  await fits(page, "setting up");
  await shoot(page, "narrow-set-up");
  await page.locator("#done").click();
  await point(page, shown[0].move.slice(0, 2)).tap();
  await point(page, shown[0].move.slice(2)).tap();
  await fenIs(page, lost);
  check("a move by touch", true);
  check("nothing glides for who wants none of it", (await page.locator(".piece").first().evaluate(node => getComputedStyle(node).transitionDuration)) === "0s");
  await page.locator("#view > summary").click();
  await fits(page, "menus");
  await page.emulateMedia({ colorScheme: "dark" });
  await accessible(page, "narrow and dark");
  await shoot(page, "narrow-dark");

  // Who comes without a position.
  await page.context().close();
  page = await visit("");
  check("who comes without a position sees one that the tables know", !/Not in/.test(await head(page)), await head(page));

  finish("explorer");
} catch (error) {
  if (page) await shoot(page, "failure").catch(() => {});
  if (complaints.length) console.error(complaints.map(text => text.slice(0, 500)));
  throw error;
} finally {
  await browser.close();
}
