// What can be done in the report: each action by mouse and by keyboard, on light and dark screens and on a phone.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cells, demo, diad, drawAll, flagged, folder, lines, listed, LOOKS, open as opened, report, saved, table } from "./common.mjs";

const scoreOf = (text) => Number(text.replace("−", "-"));
// Presses Tab until an element has the focus, as one does who has no mouse.
async function tabTo(page, selector, most = 120) {
  for (let i = 0; i < most; i++) {
    if (await page.evaluate((selector) => document.activeElement?.matches(selector), selector)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${selector} is not reached with Tab`);
}

// One test for each way to look at a report.
function everywhere(name, run) {
  for (const look of ["light", "dark", "phone"]) {
    const options = LOOKS[look];
    test(`${name}: ${look}`, () => run((path, more) => opened(path, { ...options, ...more }), look));
  }
}

everywhere("the threshold is a number of rows, a share or a score, and a slider", async (open) => {
  const { page, context } = await open(demo());
  const total = 2424;
  await page.fill("#threshold-top", "20");
  assert.equal(await flagged(page), 20);
  const least = scoreOf((await cells(page, "score"))[19]);
  assert.ok(Math.abs(Number(await page.inputValue("#threshold-score")) - least) < 1e-3);
  await page.fill("#threshold-share", "1");
  assert.equal(await flagged(page), Math.ceil(total / 100));
  await page.fill("#threshold-score", String(least - 1e-3));
  assert.ok((await flagged(page)) >= 20 && (await flagged(page)) < 30);
  // By keyboard.
  await page.focus("#threshold");
  await page.keyboard.press("Home");
  assert.equal(await flagged(page), 1);
  for (let i = 0; i < 5; i++) await page.keyboard.press("PageUp");
  const middle = await flagged(page);
  assert.ok(middle > 1 && middle < total, `${middle}`);
  await page.keyboard.press("End");
  assert.equal(await flagged(page), total);
  // By mouse.
  const box = await page.locator("#threshold").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.ok((await flagged(page)) > 30 && (await flagged(page)) < 70, `${await flagged(page)}`);
  await context.close();
});

everywhere("the picked row and the threshold are in the address", async (open) => {
  const first = await open(demo());
  await first.page.fill("#threshold-top", "7");
  await lines(first.page).nth(4).click();
  const name = await first.page.textContent("#picked");
  const hash = await first.page.evaluate(() => location.hash);
  assert.match(hash, /^#row=\d+&top=7$/);
  await first.context.close();
  const second = await open(demo(), { hash });
  assert.equal(await second.page.textContent("#picked"), name);
  assert.equal(await flagged(second.page), 7);
  // Another address of the same page, as from a link in a message.
  await second.page.evaluate(() => { location.hash = "#share=2"; });
  await second.page.waitForFunction(() => document.getElementById("threshold-top").value === "49");
  assert.deepEqual(second.complaints, []);
  await second.context.close();
});

everywhere("identifiers and kept columns are shown, searched and sorted by", async (open) => {
  const { page, context } = await open(demo());
  const heads = await page.locator("#list thead button").evaluateAll((all) => all.map((button) => button.title));
  assert.deepEqual(heads.slice(0, 2), ["id", "score"]);
  for (const name of ["employee", "date", "shop", "amount", "first reason", "mark"]) assert.ok(heads.includes(name), `${heads}`);
  const id = (await cells(page, "id"))[5];
  await page.fill("#search", id);
  assert.deepEqual(await cells(page, "id"), [id]);
  await page.fill("#search", "chloé");
  assert.ok((await cells(page, "employee")).every((name) => name === "Chloé Martin"));
  await page.fill("#search", "nothing like it");
  assert.equal(await listed(page), 0);
  await page.fill("#search", "");
  // Amounts by size, by mouse; then the other way round, by keyboard.
  await page.click('#list thead button[title="amount"]');
  const down = (await cells(page, "amount")).map(Number);
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  await page.keyboard.press("Enter");
  const up = (await cells(page, "amount")).map(Number);
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  assert.ok(up[0] < 5);
  await context.close();
});

everywhere("identifier and score stay in view when the list is scrolled sideways", async (open) => {
  for (const width of [1280, 400]) {
    const { page, context } = await open(demo(), { viewport: { width, height: 800 } });
    const seen = () => lines(page).first().evaluate((tr) => [0, 1].map((k) => Math.round(tr.cells[k].getBoundingClientRect().left - tr.closest(".scroll").getBoundingClientRect().left)));
    const before = await seen();
    await page.evaluate(() => { document.querySelector(".scroll").scrollLeft = 400; });
    assert.deepEqual(await seen(), before);
    await context.close();
  }
});

everywhere("columns are chosen by mouse and by keyboard", async (open) => {
  const { page, context } = await open(demo());
  const heads = () => page.locator("#list thead button").evaluateAll((all) => all.map((button) => button.title));
  await page.click("#chooser summary");
  await page.getByLabel("department", { exact: true }).uncheck();
  assert.ok(!(await heads()).includes("department"));
  await page.focus("#chooser-search");
  await page.keyboard.type("weekd");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  assert.ok((await heads()).some((name) => name.includes("weekday")), `${await heads()}`);
  const days = new Set(await cells(page, (await heads()).find((name) => name.includes("weekday"))));
  assert.ok([...days].every((day) => /day$/.test(day)), `${[...days]}`);
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#chooser-search").isHidden());
  await page.click("#chooser summary");
  await page.click("#rows-title");
  assert.ok(await page.locator("#chooser-search").isHidden());
  await context.close();
});

everywhere("filters by column, operator and value, flagged rows and marks", async (open) => {
  const { page, context } = await open(demo());
  const all = await listed(page);
  await page.selectOption("#filter-column", { label: "amount" });
  await page.selectOption("#filter-operator", "≥");
  await page.fill("#filter-value", "1,000");
  await page.click("#filter-form button");
  assert.ok((await cells(page, "amount")).every((text) => Number(text) >= 1000));
  assert.equal(await listed(page), 2);
  await page.click("#filters .chip");
  assert.equal(await listed(page), all);
  // By keyboard.
  await page.selectOption("#filter-column", { label: "currency" });
  await page.selectOption("#filter-operator", "=");
  await page.focus("#filter-value");
  await page.keyboard.type("jpy");
  await page.keyboard.press("Enter");
  assert.equal(await listed(page), 4);
  await page.selectOption("#filter-operator", "contains");
  await page.selectOption("#filter-column", { label: "employee" });
  await page.focus("#filter-value");
  await page.keyboard.type("weber");
  await page.keyboard.press("Enter");
  assert.equal(await listed(page), 2);
  await tabTo(page, "#filters .chip");
  await page.keyboard.press("Enter");
  await page.locator("#filters .chip").first().click();
  assert.equal(await listed(page), all);
  await page.fill("#threshold-top", "12");
  await page.check("#flagged-only");
  assert.equal(await listed(page), 12);
  await page.focus("#flagged-only");
  await page.keyboard.press("Space");
  assert.equal(await listed(page), all);
  await context.close();
});

everywhere("groups of rows that the same terms carry", async (open) => {
  const { page, context } = await open(demo());
  await page.fill("#threshold-top", "40");
  const chips = page.locator("#groups .chip");
  assert.ok((await chips.count()) >= 2);
  const [count, name] = (await chips.first().textContent()).match(/^(\d+) rows: (.+)$/).slice(1);
  await chips.first().click();
  assert.ok((await listed(page)) >= Number(count));
  await page.check("#flagged-only");
  assert.equal(await listed(page), Number(count));
  assert.equal(await chips.first().getAttribute("aria-pressed"), "true");
  assert.ok(name.length > 2);
  await chips.first().focus();
  await page.keyboard.press("Enter");
  assert.equal(await listed(page), 40);
  await context.close();
});

everywhere("rows are marked by keys and buttons, commented, and saved as labels", async (open) => {
  const { page, context, complaints } = await open(demo());
  const ids = await cells(page, "id");
  await tabTo(page, "#list");
  await page.keyboard.press("a");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("o");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("a");
  await page.keyboard.press("u");
  assert.match(await page.textContent("#marked"), /2 rows marked: 1 anomaly, 1 ordinary/);
  await page.keyboard.press("c");
  await page.keyboard.type('=HYPERLINK("x"), see "E-1"');
  await page.keyboard.press("Enter");
  await page.keyboard.press("a");
  // By mouse.
  await lines(page).nth(3).click();
  await page.click("#mark-ordinary");
  assert.equal(await page.getAttribute("#mark-ordinary", "aria-pressed"), "true");
  await lines(page).nth(4).click();
  await page.click("#mark-anomaly");
  await page.fill("#comment", "twice");
  assert.deepEqual((await cells(page, "mark")).slice(0, 6), ["anomaly", "ordinary", "anomaly", "ordinary", "anomaly", ""]);
  const { name, text } = await saved(page, () => page.click("#save-labels"));
  assert.equal(name, "labels.csv");
  assert.equal(text, ["id,label,comment", `${ids[0]},1,`, `${ids[1]},0,`, `${ids[2]},1,"'=HYPERLINK(""x""), see ""E-1"""`, `${ids[3]},0,`, `${ids[4]},1,twice`, ""].join("\r\n"));
  await page.selectOption("#mark-filter", "ordinary");
  assert.deepEqual(await cells(page, "id"), [ids[1], ids[3]]);
  await page.selectOption("#mark-filter", "");
  await page.reload();
  assert.deepEqual((await cells(page, "mark")).slice(0, 3), ["anomaly", "ordinary", "anomaly"]);
  await page.click("#forget");
  await page.reload();
  assert.match(await page.textContent("#marked"), /No row is marked/);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("the labels that are saved are what `diad tune` learns from", async () => {
  const { page, context } = await opened(demo());
  await tabTo(page, "#list");
  for (const key of ["a", "ArrowDown", "o", "ArrowDown", "a", "c"]) await page.keyboard.press(key);
  await page.keyboard.type("=1+1, said “twice”");
  await tabTo(page, "#save-labels");
  const { text } = await saved(page, () => page.keyboard.press("Enter"));
  const [labels, tuned] = ["labels.csv", "tuned.diad"].map((name) => join(folder, name));
  writeFileSync(labels, text);
  diad("tune", join(folder, "demo", "expenses.diad"), labels, "--table", table(), "--id", "id", "-o", tuned);
  assert.match(diad("info", tuned), /tuned with 2 anomalies and 1 normal row/);
  await context.close();
});

everywhere("the rows that are listed are saved as a table, without formulas", async (open) => {
  const rows = Array.from({ length: 80 }, (_, i) => `${i % 2 ? "=1+1" : "@sum"}${i},${-i},${i === 7 ? "-2+3" : "plain"}`);
  const html = report("formulas", ["id,x,y", ...rows], { fit: ["--ignore", "id"], report: ["--id", "id", "--keep", "all"] });
  const { page, context } = await open(html);
  await page.fill("#search", "-2+3");
  const { name, text } = await saved(page, () => page.click("#save-table"));
  await page.focus("#save-table");
  assert.deepEqual(await saved(page, () => page.keyboard.press("Enter")), { name, text });
  assert.equal(name, "rows.csv");
  const [head, line, end] = text.split("\r\n");
  assert.match(head, /^id,score,.*x,y,flagged,mark,comment$/);
  assert.match(line, /^'=1\+17,.*,-7,'-2\+3,(yes|no),,$/);
  assert.equal(end, "");
  await context.close();
});

everywhere("what would have to change, a similar ordinary row, and two rows compared", async (open) => {
  const { page, context } = await open(demo());
  let found = 0;
  for (let i = 0; i < 10; i++) {
    await lines(page).nth(i).click();
    if (/would be .*, below .*, if .* were .* instead of /.test(await page.textContent("#ways-out"))) found++;
  }
  assert.ok(found >= 5, `${found}`);
  assert.match(await page.textContent("#similar"), /^id E-\d+, score .* It has /);
  await page.click("#compare-similar");
  const similar = (await page.textContent("#similar")).split(",")[0];
  const heads = await page.locator("#comparison-tables thead th").allTextContents();
  assert.equal(heads[1], similar);
  await page.click("#end-comparison");
  assert.ok(await page.locator("#comparison").isHidden());
  // By keyboard: hold one row, then walk through others.
  await page.focus("#list");
  await page.keyboard.press("Home");
  await page.keyboard.press("x");
  assert.match(await page.textContent("#comparison-note"), /is held/);
  await page.keyboard.press("ArrowDown");
  const ids = await cells(page, "id");
  assert.match(await page.textContent("#comparison-note"), new RegExp(`id ${ids[1]} .* beside id ${ids[0]} `));
  const amounts = await page.locator("#comparison-tables tr", { has: page.getByRole("rowheader", { name: "amount", exact: true }) }).first().locator("td").allTextContents();
  assert.deepEqual(amounts, (await cells(page, "amount")).slice(0, 2).reverse());
  await page.click("#hold");
  assert.match(await page.textContent("#comparison-note"), new RegExp(`id ${ids[1]} is held`));
  for (const button of ["#compare-similar", "#end-comparison", "#hold"]) {
    await page.focus(button);
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#comparison").isHidden(), button === "#end-comparison");
  }
  await context.close();
});

everywhere("values of bars and curves are read by pointing and by arrow keys", async (open) => {
  const { page, context } = await open(demo());
  await drawAll(page);
  const middle = async (selector) => {
    await page.locator(selector).first().scrollIntoViewIfNeeded();
    const box = await page.locator(`${selector} svg`).first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    return page.locator(`${selector} .said`).first().textContent();
  };
  assert.match(await middle("#scores"), /^score .* to .*: [\d,]+ rows?$/);
  const single = '#shapes figure.plot[data-term="amount"]';
  assert.match(await middle(single), /^amount -?[\d.]+: [+−][\d.]+( \(few rows\))?$/);
  assert.match(await middle("#pairs figure.plot"), /^.+, .+: [+−][\d.]+( \(few rows\))?$/);
  await page.mouse.move(0, 0);
  assert.equal(await page.locator(`${single} .said`).textContent(), "");
  await page.locator(`${single} svg`).focus();
  await page.keyboard.press("End");
  const end = await page.locator(`${single} .said`).textContent();
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await page.locator(`${single} .said`).textContent(), end);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(`${single} .said`).textContent(), "");
  await context.close();
});
