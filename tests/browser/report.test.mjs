// Opens reports in a real browser, from disk, and uses them as a person would.
// Usage: node --test report.test.mjs, with the environment variables DIAD (the program), PICTURES (a folder for
// pictures, may be left out) and CHROMIUM (the browser, /usr/bin/chromium by default).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const diad = process.env.DIAD;
const pictures = process.env.PICTURES;
const folder = mkdtempSync(join(tmpdir(), "diad-browser-"));
let browser;

before(async () => {
  execFileSync(diad, ["demo", "--dir", join(folder, "demo")], { stdio: "pipe" });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// A page with everything it complains about and asks for.
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => requests.push(request.url()));
  const url = pathToFileURL(path).href;
  await page.goto(url);
  return { page, context, complaints, others: () => requests.filter((asked) => asked !== url && !asked.startsWith("data:")) };
}

const demo = () => join(folder, "demo", "report.html");
const count = async (page) => Number((await page.textContent("#flagged")).split(" ")[0].replaceAll(",", ""));

// Scrolls from plot to plot, waiting until each is drawn: plots are drawn when they come into view.
async function drawAll(page) {
  await page.evaluate(async () => {
    const more = document.getElementById("more-pairs");
    if (!more.hidden) more.click();
    const end = performance.now() + 60_000;
    for (const plot of document.querySelectorAll("figure.plot")) {
      while (!plot.querySelector("svg")) {
        if (performance.now() > end) throw new Error(`${plot.id || "a plot"} is not drawn`);
        plot.scrollIntoView();
        await new Promise((done) => setTimeout(done, 10));
      }
    }
    window.scrollTo(0, 0);
  });
}

test("the report of the demo loads without a complaint or a request", async () => {
  const { page, context, complaints, others } = await open(demo());
  await drawAll(page);
  assert.deepEqual(complaints, []);
  assert.deepEqual(others(), []);
  assert.match(await page.textContent("#overview"), /7,200 rows/);
  assert.equal(await page.locator("#shapes figure.plot").count(), 6);
  assert.ok((await page.locator("#pairs figure.plot").count()) >= 3);
  assert.equal(await page.locator("#list tbody tr").count(), 1000);
  assert.ok(statSync(demo()).size < 3e6);
  await context.close();
});

test("the threshold moves the count, by mouse and by keyboard", async () => {
  const { page, context } = await open(demo());
  const before = await count(page);
  assert.ok(before > 0 && before < 7200, `${before}`);
  await page.focus("#threshold");
  await page.keyboard.press("Home");
  assert.equal(await count(page), 7200);
  for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowRight");
  const later = await count(page);
  assert.ok(later < 7200, `${later}`);
  await page.keyboard.press("End");
  assert.ok((await count(page)) <= 2);
  const box = await page.locator("#threshold").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const middle = await count(page);
  assert.ok(middle < later && middle > 2, `${middle}`);
  const exact = await page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const place = Number(document.getElementById("threshold").value);
    const least = data.scores.low + ((data.scores.high - data.scores.low) * place) / 400;
    return { all: data.scores.above[place], listed: data.rows.filter((row) => row.score >= least).length };
  });
  assert.equal(middle, exact.all);
  if (exact.listed < 1000) assert.equal(middle, exact.listed);
  await context.close();
});

// Where every marker is.
const markers = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".marker")].map((m) => [m.getAttribute("x1") ?? m.getAttribute("cx"), m.getAttribute("cy")].join()));

test("picking a row moves the markers, and the waterfall ends at its score", async () => {
  const { page, context } = await open(demo());
  await drawAll(page);
  const ends = async () => {
    const total = Number(await page.getAttribute("#waterfall", "data-total"));
    const score = Number(await page.getAttribute("#picked", "data-score"));
    assert.ok(Math.abs(total - score) < 1e-6, `${total} ${score}`);
    const shown = (await page.textContent("#picked")).match(/score (.*)$/)[1];
    const bars = await page.locator("#waterfall svg text").allTextContents();
    assert.equal(bars.at(-1), shown);
    return score;
  };
  const first = await markers(page);
  assert.ok(first.length >= 9);
  const score = await ends();
  await page.locator("#list tbody tr").nth(7).click();
  const second = await markers(page);
  assert.notDeepEqual(first, second);
  assert.ok((await ends()) < score);
  await page.keyboard.press("ArrowDown");
  await page.locator("#list tbody tr").nth(7).focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator('#list tbody tr[aria-selected="true"]').count(), 1);
  assert.equal(await page.locator("#list tbody tr").nth(8).getAttribute("aria-selected"), "true");
  await ends();
  // Every listed row, not only those that are clicked.
  const worst = await page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    return Math.max(...data.rows.map((row) =>
      Math.abs(data.intercept + row.terms.reduce((sum, term) => sum + term[1], 0) + row.rest - row.score)));
  });
  assert.ok(worst < 1e-6, `${worst}`);
  await context.close();
});

test("every plot has the names of its columns and is not empty", async () => {
  const { page, context } = await open(demo());
  await drawAll(page);
  const plots = await page.evaluate(() =>
    [...document.querySelectorAll("figure.plot")].map((figure) => ({
      term: figure.dataset.term,
      texts: [...figure.querySelectorAll("svg text")].map((text) => text.textContent),
      shapes: figure.querySelectorAll("svg path, svg rect").length,
      height: figure.querySelector("svg").getBoundingClientRect().height,
    })));
  assert.ok(plots.length >= 9);
  for (const plot of plots) {
    for (const name of plot.term.split(" × ")) assert.ok(plot.texts.includes(name), `${plot.term}: ${plot.texts}`);
    assert.ok(plot.shapes > 3 && plot.height > 100, plot.term);
    assert.ok(plot.texts.filter((text) => /\d/.test(text)).length >= 3, plot.term);
  }
  for (const chart of ["#scores", "#importances", "#waterfall"]) {
    assert.ok((await page.locator(`${chart} svg text`).count()) > 4, chart);
  }
  assert.equal(await page.locator("#ranking svg").count(), 2);
  await context.close();
});

test("the list can be searched and sorted", async () => {
  const { page, context } = await open(demo());
  const top = await page.locator("#list tbody tr td").nth(1).textContent();
  await page.locator("#list thead button").nth(1).click();
  const bottom = await page.locator("#list tbody tr td").nth(1).textContent();
  assert.ok(Number(bottom.replace("−", "-")) < Number(top.replace("−", "-")));
  const number = (await page.locator("#list tbody tr td").first().textContent()).replaceAll(",", "");
  await page.fill("#search", number);
  const found = await page.locator("#list tbody tr").count();
  assert.ok(found >= 1 && found < 1000, `${found}`);
  await page.fill("#search", "nothing like it");
  assert.equal(await page.locator("#list tbody tr").count(), 0);
  await context.close();
});

test("a phone, a dark screen and paper show the whole report", async () => {
  const phone = await open(demo(), { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
  await drawAll(phone.page);
  const overflow = await phone.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 1, `${overflow}`);
  const background = await phone.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(background, "rgb(20, 23, 27)");
  assert.deepEqual(phone.complaints, []);
  await phone.context.close();
  const paper = await open(demo());
  const pdf = await paper.page.pdf({ format: "A4", printBackground: true });
  assert.ok(pdf.length > 50_000);
  await paper.context.close();
});

test("names with HTML and scripts in them are shown as text", async () => {
  const hostile = '</script><img src=x onerror=alert(1)>';
  const other = "<b>&amp;\u2028'\"";
  const quote = (cell) => `"${cell.replaceAll('"', '""')}"`;
  const rows = Array.from({ length: 120 }, (_, i) => `${Math.sin(i)},${(i * 7) % 13}`);
  const table = join(folder, "<i>hostile.csv");
  writeFileSync(table, [[hostile, other].map(quote).join(","), ...rows].join("\n"));
  const [model, report] = ["hostile.diad", "hostile.html"].map((name) => join(folder, name));
  execFileSync(diad, ["fit", table, "-o", model, "--steps", "20"], { stdio: "pipe" });
  execFileSync(diad, ["report", model, table, "-o", report], { stdio: "pipe" });
  const { page, context, complaints, others } = await open(report);
  await drawAll(page);
  assert.deepEqual([complaints, others()], [[], []]);
  assert.equal(await page.locator("img, b img, i").count(), 0);
  const captions = await page.locator("#shapes figcaption strong").allTextContents();
  assert.ok(captions.includes(hostile), `${captions}`);
  assert.equal(await page.textContent("#title"), "<i>hostile.csv");
  await context.close();
});

test("two models are shown in one plot, the most changed first", async () => {
  const table = join(folder, "demo", "thyroid.csv");
  const [model, report] = ["other.diad", "compared.html"].map((name) => join(folder, name));
  execFileSync(diad, ["fit", table, "-o", model, "--label", "label", "--steps", "50", "--seed", "3"], { stdio: "pipe" });
  execFileSync(diad, ["report", model, table, "--before", join(folder, "demo", "thyroid.diad"), "-o", report], { stdio: "pipe" });
  const { page, context, complaints } = await open(report);
  await drawAll(page);
  assert.deepEqual(complaints, []);
  const changes = await page.locator("#shapes figcaption span").allTextContents();
  const sizes = changes.map((text) => Number(text.match(/changed by ([\d.]+)/)[1]));
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  const colours = await page.evaluate(() =>
    [...document.querySelectorAll("#shapes figure.plot")].map((f) => f.innerHTML.includes("var(--before)") && f.innerHTML.includes("var(--line)")));
  assert.ok(colours.every(Boolean));
  await context.close();
});

test("pictures of the main views", { skip: !pictures }, async () => {
  mkdirSync(pictures, { recursive: true });
  const shot = async (page, selector, name) => {
    const picture = await page.locator(selector).screenshot({ path: join(pictures, name) });
    assert.ok(picture.length > 10_000, name);
  };
  const light = await open(demo(), { deviceScaleFactor: 1.5 });
  await drawAll(light.page);
  await light.page.screenshot({ path: join(pictures, "report.png") });
  await shot(light.page, "#rows", "report-row.png");
  await shot(light.page, "#shapes-section", "report-columns.png");
  await shot(light.page, "#pairs-section", "report-pairs.png");
  await shot(light.page, "#ranking-section", "report-ranking.png");
  await light.context.close();
  const dark = await open(demo(), { colorScheme: "dark" });
  await drawAll(dark.page);
  await shot(dark.page, "#rows", "report-row-dark.png");
  await dark.context.close();
});
