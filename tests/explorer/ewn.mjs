// What a browser shows of EinStein würfelt nicht!. What is seen is compared with what the server says.
import { readFileSync } from "node:fs";
import { accessible, api, browser, check, complaints, finish, fits, PAGE, shoot, until, visit } from "./browser.mjs";

// Red's 1 or 4; with two stones each; a table that is not there; the start of a game.
const HALF = "R1d1 R4a1 B1b5 r";
const FOUR = "R1a5 R2b5 B1e1 B2d1 r";
const ABSENT = "R1a5 R3b5 B1e1 B2d1 r";
const FULL = "R1a5 R2b5 R3c5 R4a4 R5b4 R6a3 B1e1 B2d1 B3c1 B4e2 B5d2 B6e3 r";
const chancesOf = position => api(`v1/ewn?position=${encodeURIComponent(position)}`);
const hashOf = position => `/ewn#${position.replaceAll(" ", "_")}`;
const settled = page => page.locator("#verdict:not(.pending) h2").waitFor();
const head = page => page.locator("#verdict h2").textContent();
const percent = chance => `${Math.min(Math.max(100 * chance, 0.01), 99.99).toFixed(2)}\u202f%`;
const square = (page, name) => page.locator(`#board [data-at="${"abcde".indexOf(name[0]) + 5 * (5 - Number(name[1]))}"]`);
const positionIs = (page, position) => until(`the position ${position}`, async () => (await page.locator("#position").inputValue()) === position && !(await page.locator("#verdict").getAttribute("class")).includes("pending"));
const movesShown = page => page.locator("#rolls [data-move]").evaluateAll(all => all.map(one => one.dataset.move));

let page;
try {
  const policy = (await fetch(`${PAGE}ewn`)).headers.get("content-security-policy") || "";
  check("the policy lets nothing in", policy.includes("default-src 'none'") && !policy.includes("unsafe"), policy);

  // The chance before the roll, of each roll and of each move.
  page = await visit(hashOf(FOUR));
  await settled(page);
  const four = await chancesOf(FOUR);
  check("the chance before the roll", (await head(page)) === `Red wins with ${percent(four.chance)}`, await head(page));
  check("the title tells it", (await page.title()).startsWith("Red wins with"));
  const text = await page.locator("#rolls").textContent();
  check("each roll has its chance", four.rolls.every(roll => text.includes(percent(roll.chance))), text);
  check("and each face", (await page.locator("#rolls .faces button").count()) === 6);
  const every = new Set(four.rolls.flatMap(roll => roll.moves.map(move => move.move)));
  const shown = await movesShown(page);
  check("every move is there", [...every].every(move => shown.includes(move)), shown);
  await page.locator('#rolls [data-die="2"]').click();
  const two = four.rolls[1].moves;
  await until("the moves of a 2", async () => (await movesShown(page)).join() === two.map(move => move.move).join());
  check("a roll has its own moves, best first", (await page.locator("#rolls [data-move]").first().textContent()).includes(percent(two[0].chance)));
  check("its best move is drawn", (await page.locator("#picture .arrow").count()) === 1);
  check("the face keeps the focus", (await page.evaluate(() => document.activeElement.dataset.die)) === "2");
  await shoot(page, "ewn-roll");
  await accessible(page, "a roll");
  const drawing = await (await fetch(new URL(await page.locator("#save").getAttribute("href"), PAGE))).text();
  check("the picture has the move too", drawing.startsWith("<svg") && drawing.includes("<path"));
  await page.keyboard.press("0");
  await until("all rolls again", async () => (await page.locator("#rolls .faces button").count()) === 6);
  check("a key chooses all rolls", true);
  await shoot(page, "ewn-light");
  await accessible(page, "light");

  // Playing: from the list, on the board, back and forward, and by the browser's history.
  await page.locator(`#rolls [data-move="${two[0].move}"]`).first().click();
  await positionIs(page, two[0].position);
  const after = await chancesOf(two[0].position);
  check("a move from the list is played", (await head(page)) === `Blue wins with ${percent(after.chance)}`, await head(page));
  const step = after.rolls[0].moves[0];
  await square(page, step.move.slice(1, 3)).click();
  await until("goals", async () => (await page.locator("#board .goal").count()) > 0);
  check("a stone shows where it can go", (await square(page, step.move.slice(4, 6)).getAttribute("aria-label")).includes("can go here"));
  await shoot(page, "ewn-chosen");
  await square(page, step.move.slice(4, 6)).click();
  await positionIs(page, step.position);
  check("a move by two taps", (await page.locator("#history button").count()) === 3);
  await page.locator("#back").click();
  await positionIs(page, two[0].position);
  await page.locator("#forward").click();
  await positionIs(page, step.position);
  await page.goBack();
  await page.goBack();
  check("the address follows", new URL(page.url()).hash.includes("_"));
  await page.locator("#roll").click();
  await until("a roll", async () => (await page.locator('#rolls [aria-pressed="true"]').count()) === 1);
  check("the die is thrown", true);

  // Where positions come from.
  const field = page.locator("#position");
  await field.fill("b1b5 r4a1,R1d1 r");
  await field.press("Enter");
  await positionIs(page, HALF);
  check("any order and case is read", (await head(page)) === `Red wins with ${percent(0.5)}`, await head(page));
  check("certain rolls say so", (await page.locator("#rolls").textContent()).includes("wins") && (await page.locator("#rolls").textContent()).includes("loses"));
  await field.fill("R1d1 R1a1 B1b5 r");
  await field.press("Enter");
  await until("a refusal", async () => (await head(page)) === "This is no position");
  check("what is wrong is told", (await page.locator("#verdict .how").textContent()).includes("Red 1 is there twice"));
  await field.fill("nothing");
  await field.press("Enter");
  await until("another refusal", async () => (await page.locator("#verdict .how").textContent()).includes("neither a stone"));
  check("nonsense does no harm", complaints.length === 0, complaints);
  await accessible(page, "a refusal");
  await field.fill(HALF);
  await field.press("Enter");
  await positionIs(page, HALF);
  await page.locator("input[value=blue]").check();
  await positionIs(page, HALF.replace(/r$/, "b"));
  check("the side to move is chosen", (await head(page)).startsWith("Blue wins"));
  await page.locator("#edit").click();
  await page.locator("#box-blue button").nth(0).click();
  await square(page, "c3").click();
  await positionIs(page, "R1d1 R4a1 B1c3 b");
  await page.locator("#box-red button").nth(3).click();
  await square(page, "a1").click();
  await positionIs(page, "R1d1 B1c3 b");
  check("stones are set up", true);
  await shoot(page, "ewn-set-up");
  await accessible(page, "setting up");
  await page.locator("#done").click();

  // Without tables.
  await page.goto(new URL(hashOf(ABSENT), PAGE).href);
  await page.reload();
  await until("no table", async () => (await head(page)) === "Not in the tables");
  const absent = await chancesOf(ABSENT);
  check("what is missing names what builds it", (await page.locator("#verdict .command code").allTextContents()).join() === absent.unknown.commands.join());
  check("its moves can be played", (await movesShown(page)).length >= 6);
  await shoot(page, "ewn-absent");
  await page.goto(new URL(hashOf(FULL), PAGE).href);
  await page.reload();
  await until("too many stones", async () => (await page.locator("#verdict .how").textContent()).includes("no tables of 12 stones"));
  check("a whole game can be played", (await movesShown(page)).length > 10);
  await page.goto(new URL(hashOf("R1e1 B1b5 b"), PAGE).href);
  await page.reload();
  await until("an end", async () => (await head(page)) === "Red has won");
  check("the end is told", !(await page.locator("#rolls").isVisible()));

  // The list of tables, and the explorer's, which has none of these.
  const there = (await api("v1/ewn/tables")).tables;
  check("the tables are listed", (await page.locator("#tables li").count()) === there.length && there.length > 3);
  await page.locator("#tables button", { hasText: "EWN12B1 ·" }).click();
  await positionIs(page, "R1a5 R2b5 B1e1 r");
  check("a table shows a position of it", (await head(page)).startsWith("Red wins"));
  const endgames = (await api("v1/endgames")).endgames.map(one => one.endgame);
  check("the list of endgames has none of them", endgames.length > 0 && endgames.every(name => name.includes("K")), endgames);

  // Keyboard, colours, languages, narrow screens.
  await square(page, "a5").focus();
  await page.keyboard.press("ArrowRight");
  check("arrows go over the board", (await page.evaluate(() => document.activeElement.dataset.at)) === "1");
  await page.keyboard.press("Enter");
  await until("a chosen stone", async () => (await page.locator("#board .goal").count()) > 0);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await positionIs(page, "R1a5 R2b4 B1e1 b");
  check("a move by keyboard", true);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(new URL(hashOf(FOUR), PAGE).href);
  await page.reload();
  await settled(page);
  await page.keyboard.press("1");
  await shoot(page, "ewn-dark");
  await accessible(page, "dark");
  await page.locator("#language").click();
  await until("Chinese", async () => (await head(page)).startsWith("红方胜率"));
  check("it speaks Chinese", (await page.locator("html").getAttribute("lang")) === "zh-Hans");
  await page.emulateMedia({ colorScheme: "light" });
  await shoot(page, "ewn-chinese");
  await accessible(page, "Chinese");
  for (const [text, told] of [["R1d1 R1a1 B1b5 r", "R1 出现两次"], ["nothing", "走棋方"], ["R1d1 B1d1 r", "d1 上有两个棋子"], ["R1d1", "缺少走棋方"], ["R1z9 r", "不是格子"]]) {
    await page.locator("#position").fill(text);
    await page.locator("#position").press("Enter");
    await until(told, async () => (await page.locator("#verdict .how").textContent()).includes(told));
  }
  check("what is wrong is told in Chinese", true);
  await page.goto(new URL(hashOf(FOUR), PAGE).href);
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  await until("the address again", async () => page.url().endsWith(hashOf(FOUR)));
  check("the link to the board leaves the position", (await page.locator("#position").inputValue()) === FOUR);
  await page.goto(PAGE);
  check("and so does the explorer", (await page.locator("html").getAttribute("lang")) === "zh-Hans");
  check("which links here", (await page.locator('a[href="/ewn"]').count()) === 1);
  await page.context().close();
  page = await visit(hashOf(FOUR), { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  await settled(page);
  await shoot(page, "ewn-narrow");
  await fits(page, "chances");
  await page.locator("#edit").click();
  await fits(page, "setting up");
  await page.context().close();

  // Words from outside are text.
  page = await visit(hashOf(FOUR));
  await settled(page);
  const evil = `<img src=x onerror="window.hit=1">`;
  await page.route("**/v1/ewn?*", route => route.fulfill({ json: { position: evil, table: evil, turn: "red", winner: null, chance: null, rolls: [{ die: 1, chance: null, moves: [{ move: evil, position: evil, chance: null }] }], unknown: { reason: evil, message: evil, endgame: null, commands: [evil] } } }));
  await page.locator("#position").fill("R1c3 B1d2 r");
  await page.locator("#position").press("Enter");
  await page.locator("#verdict", { hasText: "<img" }).waitFor();
  check("a hostile answer is a text", (await page.locator("main img, main script").count()) === 0 && !(await page.evaluate(() => window.hit)));
  await page.unrouteAll({ behavior: "ignoreErrors" });
  finish("ewn");
} catch (error) {
  if (page) await shoot(page, "ewn-failure").catch(() => {});
  if (complaints.length) console.error(complaints.map(text => text.slice(0, 500)));
  throw error;
} finally {
  await browser.close();
}
