// What the report shows.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { demo, diad, drawAll, flagged, folder, lines, open, report, thyroid } from "./common.mjs";

test("the reports of the demos load without a complaint or a request, and are small", async () => {
  for (const [path, rows, columns, size] of [[demo(), /2,424 rows/, 12, 1.2e6], [thyroid(), /7,200 rows/, 6, 1.2e6]]) {
    const { page, context, complaints, others } = await open(path);
    await drawAll(page);
    assert.deepEqual(complaints, []);
    assert.deepEqual(others(), []);
    assert.match(await page.textContent("#overview"), rows);
    assert.equal(await page.locator("#shapes figure.plot").count(), columns);
    assert.ok((await page.locator("#pairs figure.plot").count()) >= 3);
    assert.ok((await lines(page).count()) < 60, "only rows in view are in the page");
    assert.ok(statSync(path).size < size, `${statSync(path).size}`);
    await context.close();
  }
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
    assert.ok(Math.abs(total - score) < 1e-4 * Math.max(1, Math.abs(score)), `${total} ${score}`);
    const shown = (await page.textContent("#picked")).match(/score (.*)$/)[1];
    assert.equal((await page.locator("#waterfall svg text").allTextContents()).at(-1), shown);
    return score;
  };
  const first = await markers(page);
  assert.ok(first.length >= 14);
  const score = await ends();
  await lines(page).nth(7).click();
  assert.notDeepEqual(first, await markers(page));
  assert.ok((await ends()) < score);
  await page.keyboard.press("ArrowDown");
  assert.equal(await lines(page).nth(8).getAttribute("aria-selected"), "true");
  assert.equal(await page.locator('#list tbody tr[aria-selected="true"]').count(), 1);
  assert.equal(await page.getAttribute("#list", "aria-activedescendant"), await lines(page).nth(8).getAttribute("id"));
  await ends();
  await page.keyboard.press("End");
  await ends();
  assert.equal(await page.locator('#list tbody tr[aria-selected="true"]').getAttribute("aria-rowindex"), "1001");
  await context.close();
});

// Read from the data with code of its own, for every row and not only those that are clicked.
test("the terms of every row and the rest add up to its score", async () => {
  const { page, context } = await open(demo());
  const worst = await page.evaluate(() => {
    const { intercept, rows } = JSON.parse(document.getElementById("data").textContent);
    const size = { u8: 1, u16: 2, u32: 4, f32: 4 };
    const read = ({ kind, data }) => {
      const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
      const view = new DataView(bytes.buffer);
      return Array.from({ length: bytes.length / size[kind] }, (_, i) => (kind === "f32" ? view.getFloat32(4 * i, true) : view.getUint32(4 * i, true)));
    };
    const [scores, contributions, rest] = [rows.scores, rows.contributions, rows.rest].map(read);
    let at = 0;
    return Math.max(...scores.map((score, i) => {
      const each = rows.terms_each[i < rows.at_length ? 0 : 1];
      const sum = contributions.slice(at, (at += each)).reduce((a, b) => a + b, intercept + rest[i]);
      return Math.abs(sum - score) / Math.max(1, Math.abs(score));
    }));
  });
  assert.ok(worst < 1e-4, `${worst}`);
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
  assert.ok(plots.length >= 14);
  for (const plot of plots) {
    for (const name of plot.term.split(" × ")) assert.ok(plot.texts.includes(name), `${plot.term}: ${plot.texts}`);
    assert.ok(plot.shapes > 3 && plot.height > 100, plot.term);
    assert.ok(plot.texts.length >= 5, plot.term);
  }
  const texts = plots.flatMap((plot) => plot.texts);
  for (const name of ["Mon", "Sun", "Feb"]) assert.ok(texts.includes(name), name);
  for (const chart of ["#scores", "#importances", "#waterfall"]) {
    assert.ok((await page.locator(`${chart} svg text`).count()) > 4, chart);
  }
  await context.close();
});

test("labels give two curves of how well they are found", async () => {
  const { page, context } = await open(thyroid());
  assert.equal(await page.locator("#ranking svg").count(), 2);
  assert.match(await page.textContent("#flagged"), /labelled as anomalies, of 534 in all/);
  const before = await flagged(page);
  await page.selectOption("#label-filter", "anomaly");
  const shown = Number((await page.textContent("#listed")).split(" ")[0].replaceAll(",", ""));
  assert.ok(shown > 0 && shown < 534 && before > 0, `${shown}`);
  await context.close();
});

test("names with HTML and scripts in them are shown as text", async () => {
  const hostile = '</script><img src=x onerror=alert(1)>';
  const other = "<b>&amp;\u2028'\"";
  const quote = (cell) => `"${cell.replaceAll('"', '""')}"`;
  const rows = Array.from({ length: 120 }, (_, i) => `${Math.sin(i)},${(i * 7) % 13},${quote(`<i>${hostile}${i}`)}`);
  const html = report("<i>hostile", [[hostile, other, "<id>"].map(quote).join(","), ...rows], {
    fit: ["--ignore", "<id>"], report: ["--id", "<id>", "--keep", "all"],
  });
  const { page, context, complaints, others } = await open(html);
  await drawAll(page);
  await page.click("#chooser summary");
  await page.keyboard.press("Escape");
  await page.click("#hold");
  await page.focus("#list");
  await page.keyboard.press("ArrowDown");
  assert.deepEqual([complaints, others()], [[], []]);
  assert.equal(await page.locator("img, b img, i").count(), 0);
  const captions = await page.locator("#shapes figcaption strong").allTextContents();
  assert.ok(captions.includes(hostile), `${captions}`);
  assert.equal(await page.textContent("#title"), "<i>hostile.csv");
  assert.match(await page.textContent("#picked"), /^<id> <i><\/script><img src=x onerror=alert\(1\)>\d+: score/);
  await context.close();
});

test("two models are shown in one plot, the most changed first", async () => {
  const csv = join(folder, "thyroid", "thyroid.csv");
  const [model, html] = ["other.diad", "compared.html"].map((name) => join(folder, name));
  diad("fit", csv, "-o", model, "--label", "label", "--steps", "50", "--seed", "3");
  diad("report", model, csv, "--before", join(folder, "thyroid", "thyroid.diad"), "-o", html);
  const { page, context, complaints } = await open(html);
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
