// What the tests share: reports made once, a browser, and pages that note every complaint and request.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const folder = mkdtempSync(join(tmpdir(), "diad-browser-"));
export const diad = (...args) => execFileSync(process.env.DIAD, args, { stdio: "pipe" }).toString();
export const demo = () => join(folder, "demo", "report.html");
export const thyroid = () => join(folder, "thyroid", "report.html");
export const table = () => join(folder, "demo", "expenses.csv");
let browser;

before(async () => {
  diad("demo", "--dir", join(folder, "demo"));
  diad("demo", "thyroid", "--dir", join(folder, "thyroid"));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// How a report may be looked at.
export const LOOKS = {
  light: {}, dark: { colorScheme: "dark" }, phone: { viewport: { width: 400, height: 800 }, hasTouch: true },
  "dark phone": { viewport: { width: 400, height: 800 }, colorScheme: "dark" },
};

// A page with everything it complains about and asks for.
export async function open(path, { hash = "", ...options } = {}) {
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
  await page.goto(url + hash);
  const own = (asked) => asked === url || asked === url + hash || /^(data|blob):/.test(asked);
  return { page, context, complaints, others: () => requests.filter((asked) => !own(asked)) };
}

// A report of a table written here.
export function report(name, lines, { fit = [], report = [] } = {}) {
  const [csv, model, html] = [".csv", ".diad", ".html"].map((end) => join(folder, name + end));
  writeFileSync(csv, lines.join("\n"));
  diad("fit", csv, "-o", model, "--steps", "20", ...fit);
  diad("report", model, csv, "-o", html, ...report);
  return html;
}

// Scrolls from plot to plot, waiting until each is drawn: plots are drawn when they come into view; those behind "more" if wanted.
export async function drawAll(page, { more = true } = {}) {
  await page.evaluate(async (all) => {
    for (const more of document.querySelectorAll(".more")) if (all && !more.hidden) more.click();
    const end = performance.now() + 60_000;
    for (const plot of document.querySelectorAll("figure.plot")) {
      while (!plot.querySelector("svg")) {
        if (performance.now() > end) throw new Error(`${plot.id || "a plot"} is not drawn`);
        plot.scrollIntoView();
        await new Promise((done) => setTimeout(done, 10));
      }
    }
    window.scrollTo(0, 0);
  }, more);
}

export const flagged = async (page) => Number((await page.textContent("#flagged")).split(" ")[0].replaceAll(",", ""));
export const listed = async (page) => Number((await page.textContent("#listed")).split(" ")[0].replaceAll(",", ""));
export const lines = (page) => page.locator("#list tbody tr[data-index]");
// The cells of a column of the rows that are in view.
export const cells = (page, name) =>
  page.evaluate((name) => {
    const heads = [...document.querySelectorAll("#list thead th")].map((th) => th.querySelector("button").title);
    return [...document.querySelectorAll("#list tbody tr[data-index]")].map((tr) => tr.cells[heads.indexOf(name)].textContent);
  }, name);
// The text of a file that the page saves.
export async function saved(page, action) {
  const [download] = await Promise.all([page.waitForEvent("download"), action()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return { name: download.suggestedFilename(), text: Buffer.concat(chunks).toString().replace("\ufeff", "") };
}
