// What a browser shows of the solutions of puzzles, as pages that stand by themselves.
import { pathToFileURL } from "node:url";
import { accessible, browser, check, complaints, finish, fits, shoot, until, visit } from "./browser.mjs";

const PAGES = [["ghosts", 11], ["maze", 58], ["chase-open", 8], ["castle", 5]];
const address = name => pathToFileURL(`${process.env.PUZZLES}/${name}.html`).href;
const seen = page => page.locator(".scene.now").count();
const now = page => page.locator("#now").textContent();

let page;
try {
  for (const [name, steps] of PAGES) {
    page = await visit(address(name));
    const scenes = await page.locator(".scene").count();
    check(`${name}: a scene and a line for each step`, scenes === steps + 1 && (await page.locator("#steps button").count()) === scenes, String(scenes));
    check(`${name}: one scene is seen`, (await seen(page)) === 1 && (await page.locator(".scene:visible").count()) === 1);
    await page.keyboard.press("ArrowRight");
    await page.locator("#forward").click();
    check(`${name}: keys and buttons go on`, (await now(page)).startsWith(`2 of ${steps}: `), await now(page));
    await shoot(page, `puzzle-${name}`);
    await accessible(page, name);
    await page.locator("#steps button").last().click();
    check(`${name}: a step is chosen from the list`, (await page.locator("#steps [aria-current]").count()) === 1 && (await page.locator("#forward").isDisabled()));
    await page.locator("#back").click();
    await page.locator("#play").click();
    await until("the end", async () => (await now(page)).startsWith(`${steps} of ${steps}: `));
    check(`${name}: it plays to the end`, true);
    await page.emulateMedia({ colorScheme: "dark" });
    await accessible(page, `${name}, dark`);
    await page.context().close();
    page = await visit(address(name), { viewport: { width: 360, height: 740 }, locale: "zh-CN" });
    await fits(page, name);
    const told = (await page.locator("#summary").textContent()) + (await now(page)) + (await page.locator("#steps button").last().textContent());
    check(`${name}: steps are told in Chinese`, /最少|抓住/.test(told) && !/\b(to|cross|left|right|up|down|the)\b/.test(told) && (await page.locator("html").getAttribute("lang")) === "zh-Hans", told);
    check(`${name}: buttons speak Chinese`, (await page.locator("#forward").getAttribute("aria-label")) === "下一步");
    await page.context().close();
  }
  finish("puzzles");
} catch (error) {
  if (page) await shoot(page, "puzzle-failure").catch(() => {});
  if (complaints.length) console.error(complaints.map(text => text.slice(0, 500)));
  throw error;
} finally {
  await browser.close();
}
