// The threshold: as a number of rows, a share of them or a score; and the scores as bars.
const stops = unpack(data.scores.stops);
const above = unpack(data.scores.above);
const anomaliesAbove = data.scores.anomalies_above && unpack(data.scores.anomalies_above);
const SLIDER = 1000;
const BINS = 80;

// How many stops are at or above a score.
function stopsFrom(score) {
  let low = 0, high = stops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stops[middle] >= score) low = middle + 1;
    else high = middle;
  }
  return low;
}
const rowsFrom = (score) => { const k = stopsFrom(score); return k ? above[k - 1] : 0; };

// The score of the last of the highest rows: as many as asked for, and those of the same score.
function scoreOfTop(count) {
  if (count <= 0 || !stops.length) return Infinity;
  let k = 0;
  while (k + 1 < stops.length && above[k] < count) k++;
  return stops[k];
}

// A slider along which few rows and many have room: each step is so many times more rows.
const rowsAt = (place) => Math.round(Math.pow(Math.max(1, data.scores.rows), place / SLIDER));
const placeOf = (count) => (count <= 1 ? 0 : Math.round((SLIDER * Math.log(count)) / Math.log(Math.max(2, data.scores.rows))));

// `threshold` is what was asked for: { by: "top" | "share" | "score", value }.
let threshold = { by: "score", value: data.scores.threshold };

function setThreshold(asked, source = null) {
  threshold = asked;
  const total = data.scores.rows;
  const top = asked.by === "share" ? Math.ceil((total * asked.value) / 100 - 1e-9) : asked.value;
  state.flagged = asked.by === "score" ? asked.value : scoreOfTop(top);
  const count = rowsFrom(state.flagged);
  const share = total ? (100 * count) / total : 0;
  const fields = {
    "threshold-top": count,
    "threshold-share": Number(share.toPrecision(3)),
    "threshold-score": Number.isFinite(state.flagged) ? Number(state.flagged.toFixed(4)) : "",
  };
  for (const [id, value] of Object.entries(fields)) if (byId(id) !== source) byId(id).value = value;
  byId("threshold").value = placeOf(count);
  byId("threshold").setAttribute("aria-valuetext", plural(count, "row", "rows"));
  let text = `${whole(count)} of ${plural(total, "row", "rows")} (${share.toFixed(share < 1 ? 2 : 1)} %) are flagged`;
  if (data.rule && asked.by === "score" && asked.value === data.scores.threshold) text += `, the alerts by ${data.rule}`;
  if (anomaliesAbove) {
    const k = stopsFrom(state.flagged);
    text += `; ${whole(k ? anomaliesAbove[k - 1] : 0)} of them are labelled as anomalies, of ` +
      `${whole(anomaliesAbove[anomaliesAbove.length - 1] ?? 0)} in all`;
  }
  byId("flagged").textContent = text + ".";
  drawScores();
}

function scoreBars() {
  const low = stops.length ? stops[stops.length - 1] : 0, high = stops.length ? stops[0] : 0;
  const size = (high - low) / BINS || 1;
  const bars = [];
  for (let i = 0; i < BINS && stops.length; i++) {
    const from = low + i * size;
    const count = (i ? rowsFrom(from) : data.scores.rows) - (i + 1 < BINS ? rowsFrom(from + size) : 0);
    bars.push({ from, to: from + size, count, on: from + size / 2 >= state.flagged });
    if (high === low) break;
  }
  return bars;
}

function drawScores() {
  drawing(byId("scores"), () => {
    const bars = scoreBars();
    const width = widthOf(byId("scores"));
    const most = whole(Math.max(0, ...bars.map((bar) => bar.count)));
    const chart = Plot.plot({
      width, height: 200, marginLeft: 35 + 7 * most.length, marginBottom: 40, style: styled,
      x: { label: "score", labelAnchor: "center", labelArrow: "none", ticks: Math.max(3, Math.floor(width / 90)) },
      y: { label: "rows (square-root scale)", type: "sqrt", grid: true, ticks: 5, tickFormat: whole, labelAnchor: "center", labelArrow: "none" },
      marks: [
        Plot.rectY(bars, { x1: "from", x2: "to", y: "count", fill: (d) => (d.on ? "var(--bar-on)" : "var(--bar)"), insetLeft: 0.5, insetRight: 0.5 }),
        Plot.ruleY([0], { stroke: "var(--soft)" }),
        Plot.ruleX(Number.isFinite(state.flagged) ? [state.flagged] : [], { stroke: "var(--ink)", strokeWidth: 1.5, strokeDasharray: "4 3" }),
      ],
      color: { type: "identity" },
    });
    titled(chart, "Histogram of the scores");
    byId("scores").replaceChildren(chart);
    const [x, y] = [chart.scale("x"), chart.scale("y")];
    readable(byId("scores"), chart, bars.map((bar) => ({
      x: x.apply((bar.from + bar.to) / 2), y: y.apply(bar.count),
      text: `score ${decimals(bar.from)} to ${decimals(bar.to)}: ${plural(bar.count, "row", "rows")}`,
    })));
  });
}
