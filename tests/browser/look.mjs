// How the report looks: phones, dark screens and paper, long names and many categories; and whether all can use it.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { demo, drawAll, lines, LOOKS, open, report, thyroid } from "./common.mjs";

const pictures = process.env.PICTURES;
const axe = createRequire(import.meta.url).resolve("axe-core");

async function faults(page) {
  await page.evaluate(await (await import("node:fs/promises")).readFile(axe, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0].html.slice(0, 160)}`);
}

for (const [name, look] of Object.entries(LOOKS)) {
  test(`axe finds no fault, and nothing is wider than the page: ${name}`, async () => {
    // The policy of the page forbids the script that looks for faults.
    const { page, context } = await open(demo(), { ...look, bypassCSP: true });
    await drawAll(page);
    await page.fill("#filter-value", "0");
    await page.click("#filter-form button");
    await page.click("#hold");
    await page.focus("#list");
    await page.keyboard.press("ArrowDown");
    await page.click("#chooser summary");
    assert.deepEqual(await faults(page), []);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 1, `${overflow}`);
    await context.close();
  });
}

test("letters in plots are large enough on a phone", async () => {
  const { page, context, complaints } = await open(demo(), LOOKS.phone);
  await drawAll(page);
  const smallest = await page.evaluate(() =>
    Math.min(...[...document.querySelectorAll("figure svg")].map((svg) => (12 * svg.getBoundingClientRect().width) / svg.viewBox.baseVal.width)));
  assert.ok(smallest > 10.5, `${smallest}`);
  // Rows are picked and marked by touch.
  await lines(page).nth(2).tap();
  await page.tap("#mark-anomaly");
  assert.match(await page.textContent("#marked"), /1 anomaly/);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a dark screen is dark, and paper shows the whole report", async () => {
  const dark = await open(demo(), LOOKS.dark);
  const background = await dark.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(background, "rgb(20, 23, 27)");
  await dark.context.close();
  const paper = await open(demo());
  const pdf = await paper.page.pdf({ format: "A4", printBackground: true });
  assert.ok(pdf.length > 50_000);
  await paper.context.close();
});

// Texts of one plot that lie on top of each other.
const overprinted = (page) =>
  page.evaluate(() => {
    const found = [];
    for (const svg of document.querySelectorAll("figure.plot svg")) {
      const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent && !text.getAttribute("transform")?.includes("rotate(-35"));
      const boxes = texts.map((text) => text.getBoundingClientRect());
      boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
        const [w, h] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        if (w > 1.5 && h > 4) found.push(`${svg.getAttribute("aria-label")}: ${texts[i].textContent} on ${texts[j].textContent}`);
      }));
    }
    return found;
  });

test("many categories, long names and account numbers do not run into each other", async () => {
  const long = "the name of a column that somebody wrote as a whole sentence, with a comma and an end";
  const rows = Array.from({ length: 600 }, (_, i) =>
    [4_000_000_000_000 + ((i * 7919) % 1_000_003) * 997, `category number ${(i * i) % 83} of many`, Math.sin(i).toFixed(3), `kind ${i % 12}`].join(","));
  const html = report("long", [`account,"${long}",x,kind`, ...rows], { fit: ["--numeric", "account"] });
  for (const look of [LOOKS.light, LOOKS.phone]) {
    const { page, context, complaints } = await open(html, look);
    await drawAll(page);
    assert.deepEqual(await overprinted(page), []);
    assert.deepEqual(complaints, []);
    assert.ok((await page.locator("#shapes figcaption strong").allTextContents()).includes(long));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 1, `${overflow}`);
    await context.close();
  }
});

test("pictures of the main views", { skip: !pictures }, async () => {
  mkdirSync(pictures, { recursive: true });
  const shot = async (page, selector, name) => {
    const picture = await page.locator(selector).screenshot({ path: join(pictures, name) });
    assert.ok(picture.length > 10_000 && picture.length < 300_000, `${name}: ${picture.length}`);
  };
  const light = await open(demo(), { deviceScaleFactor: 1 });
  await drawAll(light.page, { more: false });
  await light.page.screenshot({ path: join(pictures, "report.png") });
  await shot(light.page, "#rows", "report-row.png");
  await shot(light.page, "#shapes-section", "report-columns.png");
  await shot(light.page, "#pairs-section", "report-pairs.png");
  await light.context.close();
  const labelled = await open(thyroid(), { deviceScaleFactor: 1 });
  await shot(labelled.page, "#ranking-section", "report-ranking.png");
  await labelled.context.close();
  const dark = await open(demo(), { colorScheme: "dark" });
  await shot(dark.page, "#rows", "report-row-dark.png");
  await dark.context.close();
});
