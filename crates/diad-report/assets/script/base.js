// What every part uses: the data, elements, numbers as text, and what is chosen at the moment.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const compared = data.scale !== null;
// `picked` and `against` are places among the rows; `flagged` is the lowest score that is flagged.
const state = { picked: null, against: null, flagged: Infinity };

// Text reaches the page through textContent only.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "onclick") made.addEventListener("click", value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function svgElement(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const whole = (n) => n.toLocaleString("en-US");
// Rounded down, so that it is 100 only where it is all.
const percent = (share) => (Math.floor(share * 1e4 + 0.02) / 100).toFixed(2) + " %";
const signed = (v) => (v < 0 ? "−" : "+") + Math.abs(v).toFixed(3);
const decimals = (v, digits = 3) => (v < 0 ? "−" : "") + Math.abs(v).toFixed(digits);
// Two scores with as many digits as tell them apart.
function apart(a, b) {
  let digits = 3;
  while (digits < 9 && a.toFixed(digits) === b.toFixed(digits)) digits += 1;
  return [decimals(a, digits), decimals(b, digits)];
}
const plural = (n, one, many) => `${whole(n)} ${n === 1 ? one : many}`;
const cut = (text, length) => ([...text].length > length ? [...text].slice(0, length - 1).join("") + "…" : text);
// Cut in the middle: names that differ often do so at their ends.
const cutInside = (text, length) => {
  const letters = [...text];
  const head = Math.ceil((length - 1) * 0.55);
  return letters.length > length ? letters.slice(0, head).join("").trimEnd() + "…" + letters.slice(letters.length - (length - 1 - head)).join("").trimStart() : text;
};
// Words with signs between them, cut where they are longest, so that each can still be told, if there is room for that.
const SHORTEST = 5;
function cutEach(words, signs, length) {
  const sizes = words.map((word) => [...word].length);
  let over = [...signs.map((sign) => sign.length), ...sizes].reduce((sum, size) => sum + size, 0) - length;
  for (; over > 0 && Math.max(...sizes) > 2; over--) sizes[sizes.indexOf(Math.max(...sizes))]--;
  if (words.some((word, k) => sizes[k] < Math.min(SHORTEST, [...word].length))) return cut(words.map((word, k) => word + (signs[k] ?? "")).join(""), length);
  return words.map((word, k) => cut(word, sizes[k]) + (signs[k] ?? "")).join("");
}
// What sentences and plots call a column: a place in time is simply the time.
const saidOf = (c) => data.columns[c].said ?? data.columns[c].name;
const termName = (term) => term.columns.map(saidOf).join(" × ");
const styled = { background: "none", color: "var(--ink)", fontSize: "12px", fontFamily: "inherit" };

// A plot with a name of its own. The library names the groups inside as well, which means nothing to a reader.
function titled(chart, name) {
  chart.querySelectorAll("[aria-label]").forEach((group) => group.removeAttribute("aria-label"));
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", name);
  return chart;
}

// The number that a cell stands for, whatever it is written with: 1,234.50, 1.234,50 €, (12.00), 52.88 %. NaN if none.
function numberOf(text) {
  let digits = text.replace(/[\s\u00a0'’_]/g, "").replace(/^[^\d(.+−-]+|[^\d).]+$/g, "").replace("−", "-");
  if (/^\(.*\)$/.test(digits)) digits = "-" + digits.slice(1, -1);
  if (/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(digits)) digits = digits.replaceAll(",", "");
  else if (/^[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+$/.test(digits)) digits = digits.replaceAll(".", "").replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(digits) ? Number(digits) : NaN;
}

// What is drawn at the width of its place, and again when that changes.
const drawings = new Map();
function drawing(place, draw) {
  drawings.set(place, draw);
  draw();
}
const widthOf = (place, least = 280) => Math.max(least, Math.floor(place.clientWidth) || least);
