// The picked row: a waterfall that ends at its score, the reasons in words, and what would make it ordinary.
const BARS = 9;
const REASONS = 6;

function steps(i) {
  const parts = [{ label: "start", value: data.intercept, from: 0, total: true }];
  const terms = rows.terms(i);
  let sum = data.intercept;
  terms.slice(0, BARS).forEach(({ term, value }) => {
    parts.push({ label: valueText(i, data.terms[term]), short: (length) => shortValueText(i, data.terms[term], length), value, from: sum });
    sum += value;
  });
  const others = data.terms.length - Math.min(BARS, terms.length);
  const rest = terms.slice(BARS).reduce((total, { value }) => total + value, rows.rest(i));
  if (others > 0) parts.push({ label: plural(others, "other term", "other terms"), value: rest, from: sum });
  sum += rest;
  parts.push({ label: "score", value: sum, from: 0, total: true });
  return parts.map((part, k) => ({ ...part, key: k, to: part.from + part.value }));
}

function drawWaterfall(i) {
  const place = byId("waterfall");
  drawing(place, () => {
    const parts = steps(i);
    const width = widthOf(place);
    const room = Math.min(235, Math.round(width * 0.42));
    const letters = Math.floor(room / 7.4);
    const names = new Map(parts.map((part) => [part.key, part.short ? part.short(letters) : cut(part.label, letters)]));
    const fill = (d) => (d.total ? "var(--bar)" : d.value > 0 ? "var(--up)" : "var(--down)");
    const ends = parts.flatMap((d) => [d.from, d.to]);
    const low = Math.min(0, ...ends), high = Math.max(0, ...ends);
    // Room for the number at the end of the longest bar.
    const spare = ((high - low || 1) * 52) / Math.max(60, width - room - 72);
    const chart = Plot.plot({
      width, height: 40 + 24 * parts.length, marginLeft: room, marginRight: 20, marginTop: 8, marginBottom: 34, style: styled,
      x: { label: "score", grid: true, ticks: Math.max(3, Math.floor((width - room) / 70)), domain: [low, high + spare], labelAnchor: "center", labelArrow: "none" },
      y: { label: null, domain: parts.map((d) => d.key), tickFormat: (key) => names.get(key), tickSize: 0, padding: 0.25 },
      color: { type: "identity" },
      marks: [
        Plot.barX(parts, { y: "key", x1: "from", x2: "to", fill, title: "label" }),
        Plot.ruleX([0], { stroke: "var(--soft)" }),
        Plot.text(parts, {
          y: "key", x: (d) => Math.max(d.from, d.to), dx: 5, textAnchor: "start",
          text: (d) => (d.total ? decimals(d.value) : signed(d.value)), fill: "var(--ink)",
        }),
      ],
    });
    titled(chart, `What the score of ${rowName(i)} is made of`);
    place.replaceChildren(chart);
    place.dataset.total = String(parts[parts.length - 1].to);
  });
}

function showReasons(i) {
  byId("reasons").replaceChildren(...rows.terms(i).slice(0, REASONS).map(({ term, value, sentence }) =>
    element("li", {},
      element("b", { class: value > 0 ? "raises" : "lowers" }, signed(value)),
      element("span", {}, sentence ?? valueText(i, data.terms[term])))));
}

const changeWords = (changes) => changes.map(([c, from, to]) => `${saidOf(c)} were ${to}${from === null ? "" : ` instead of ${from}`}`).join(" and ");

function showWaysOut(i) {
  const way = rows.wayOut(i);
  const place = byId("ways-out");
  const items = [];
  if (way) {
    const limit = data.scores.threshold;
    for (const [score, changes] of way.changes) {
      const [now, below] = apart(score, limit);
      items.push(`Its score would be ${now}, below ${below}, if ${changeWords(changes)}.`);
    }
    if (!items.length && rows.score(i) >= limit) items.push(`No change of one or two columns brings its score below ${decimals(limit)}.`);
  }
  place.replaceChildren(...items.map((text) => element("li", {}, text)));
  byId("ways-out-part").hidden = items.length === 0;
}

function showSimilar(i) {
  const similar = rows.wayOut(i)?.similar ?? null;
  byId("similar-part").hidden = similar === null;
  if (similar === null) return;
  const differs = data.columns.map((_, c) => c).filter((c) => rows.text(i, c) !== rows.text(similar, c));
  const apart = (c) => Math.abs((rows.position(i, c) ?? 2) - (rows.position(similar, c) ?? 2));
  const most = differs.sort((a, b) => apart(b) - apart(a)).slice(0, 4).map((c) => `${saidOf(c)} ${rows.text(similar, c)} instead of ${rows.text(i, c)}`);
  byId("similar").textContent = `${rowName(similar)}, score ${decimals(rows.score(similar))}. ` +
    (most.length ? `It has ${most.join(", ")}${differs.length > most.length ? `, and ${plural(differs.length - most.length, "smaller difference", "smaller differences")}` : ""}.` : "All its values are the same.");
}

function pick(i) {
  state.picked = i;
  byId("picked").textContent = `${rowName(i)}: score ${decimals(rows.score(i))}`;
  byId("picked").dataset.score = String(rows.score(i));
  byId("picked-note").textContent =
    rows.standing(i) + (data.rule ? (rows.score(i) >= data.scores.threshold ? ` An alert by ${data.rule}.` : ` No alert by ${data.rule}.`) : "") +
    (rows.label(i) === null ? "" : rows.label(i) ? " Labelled as an anomaly." : " Labelled as normal.");
  markPicked();
  showReasons(i);
  drawWaterfall(i);
  showWaysOut(i);
  showSimilar(i);
  showMarks();
  showComparison();
  moveMarkers();
  writeAddress();
}
