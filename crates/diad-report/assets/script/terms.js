// The plots of terms: curves and bars of columns, colours of pairs. They are drawn when they come into view.
const FIRST_PLOTS = 24;
const FIRST_PAIRS = 12;
const DENSITY_BINS = 64;

const MOST_NAMES = 14;
// What a turned name takes along an axis.
const TURNED = 20;
const LONGEST_NAME = 16;
const LETTER = 6.8;

// Names short enough for marks: what many have in common at the start and the end goes first, then the middle.
function shortNames(names) {
  const long = names.filter((name) => name.length > LONGEST_NAME);
  const common = (letter) => {
    let count = 0;
    while (long.length > 1 && long.every((name) => count < name.length && letter(name, count) === letter(long[0], count))) count++;
    return count > 3 ? count : 0;
  };
  const start = common((name, k) => name[k]), end = common((name, k) => name[name.length - 1 - k]);
  const without = (name) => (start ? "…" : "") + name.slice(start, Math.max(start + 1, name.length - end)) + (end ? "…" : "");
  return names.map((name) => (name.length > LONGEST_NAME ? cutInside(without(name), LONGEST_NAME) : name));
}

// A column as an axis from 0 to 1: where places are drawn, and the marks. Numbers have the places that the model gives them;
// categories, which it puts close together or far apart, have room for each.
function axisOf(column, at, names, room = Infinity) {
  if (column.ordered) return { place: (p) => p, ticks: column.ticks, turned: column.turned, edges: edges(at) };
  const count = at.length, slot = (k) => (k + 0.5) / count;
  const nearest = (p) => at.reduce((best, q, k) => (Math.abs(q - p) < Math.abs(at[best] - p) ? k : best), 0);
  const step = Math.ceil(count / Math.max(3, Math.min(MOST_NAMES, Math.floor(room / TURNED))));
  const ticks = shortNames(names).map((name, k) => [slot(k), name]).filter((_, k) => k % step === 0);
  const turned = ticks.some((tick) => tick[1].length * LETTER > (Math.min(270, room) / ticks.length) - 4);
  // A category that the training did not have lies beyond the last.
  const place = (p) => (p > at[count - 1] + 0.005 ? 1.04 : slot(nearest(p)));
  return { place, ticks, turned, edges: at.map((_, k) => [k / count, (k + 1) / count]) };
}

// Names that would run into each other are turned, and get more room below.
const longest = (axis) => Math.max(0, ...axis.ticks.map((t) => t[1].length));
const below = (axis) => (axis.turned ? Math.max(18, Math.min(66, 3.9 * longest(axis) - 2)) : 0);
const beside = (axis) => Math.min(165, Math.max(58, 46 + LETTER * longest(axis)));
// Room at the left, where the first name of a turned axis ends below the plot.
const leftOf = (axis, width, least) => {
  const [place, name] = axis.ticks[0] ?? [0, ""];
  return axis.turned ? Math.max(least, 5.6 * name.length + 8 - place * (width - least)) : least;
};
const scaleOf = (axis, name) => ({
  ticks: axis.ticks.map((t) => t[0]), tickFormat: (p) => (axis.ticks.find((t) => t[0] === p) || ["", ""])[1],
  label: name, labelAnchor: "center", labelArrow: "none",
});
const across = (axis, name) => ({ ...scaleOf(axis, name), tickRotate: axis.turned ? -35 : 0 });
const edges = (middles) => middles.map((m, i) => [i ? (m + middles[i - 1]) / 2 : 0, i + 1 < middles.length ? (m + middles[i + 1]) / 2 : 1]);

// Whether few training rows support a point or a cell.
function fewAt(term) {
  const bytes = atob(term.few);
  return (k) => Boolean((bytes.charCodeAt(k >> 3) >> (k & 7)) & 1);
}
const FEW = " (few rows)";

// A line, drawn in dots where few rows support it. Each point but the first ends a piece.
function supportedLine(points, few, stroke) {
  const pieces = [];
  points.forEach((point, k) => {
    const dotted = few(k) || (k > 0 && few(k - 1));
    if (!pieces.length || pieces.at(-1).dotted !== dotted) pieces.push({ dotted, points: k ? [points[k - 1]] : [] });
    pieces.at(-1).points.push(point);
  });
  return pieces.map((piece) => Plot.line(piece.points, { x: "x", y: "y", stroke, strokeWidth: piece.dotted ? 1.6 : 2, strokeDasharray: piece.dotted ? "1.5 3" : null }));
}

function lineMarks(term, column, axis, domain, gap) {
  const points = (values) => term.at.map((p, i) => ({ x: axis.place(p), y: values[i] }));
  const half = column.ordered ? Math.min(0.08, 0.35 / term.at.length) : 0.7 / term.at.length;
  const bars = (values, shift, fill) => Plot.rect(points(values), {
    x1: (d) => d.x + shift - half / 2, x2: (d) => d.x + shift + half / 2,
    y1: (d) => Math.min(0, d.y), y2: (d) => Math.max(0, d.y), fill,
  });
  const zero = Plot.ruleY([0], { stroke: "var(--soft)", strokeWidth: 0.75 });
  const marks = [];
  if (!column.few) {
    const most = Math.max(...column.density, 1e-9);
    const bins = column.density.map((share, i) => ({ x1: i / DENSITY_BINS, x2: (i + 1) / DENSITY_BINS, o: 0.38 * Math.sqrt(share / most) })).filter((b) => b.o > 0);
    marks.push(Plot.rect(bins, { x1: "x1", x2: "x2", y1: domain[0], y2: domain[1], fill: "var(--density)", fillOpacity: "o" }), zero);
    if (term.before) marks.push(Plot.line(points(term.before), { x: "x", y: "y", stroke: "var(--before)", strokeWidth: 2 }));
    marks.push(...supportedLine(points(term.now), fewAt(term), "var(--line)"));
  } else {
    marks.push(zero);
    if (term.before) marks.push(bars(term.before, -half / 2, "var(--before)"));
    marks.push(bars(term.now, term.before ? half / 2 : 0, "var(--line)"));
  }
  const shift = (d) => (gap.length === 1 ? 0 : d.now ? 0.014 : -0.014);
  if (gap.length) {
    marks.push(Plot.rect(gap, {
      x1: (d) => column.missing + shift(d) - 0.013, x2: (d) => column.missing + shift(d) + 0.013,
      y1: (d) => Math.min(0, d.y), y2: (d) => Math.max(0, d.y), fill: (d) => (d.now ? "var(--line)" : "var(--before)"),
    }));
  }
  return marks;
}

function lineChart(term, width) {
  const column = data.columns[term.columns[0]], said = saidOf(term.columns[0]);
  const gap = (term.missing || []).map((y, i) => ({ y, now: i === 0 })).filter((d) => d.y !== null);
  const all = [0, ...term.now, ...(term.before || []), ...gap.map((d) => d.y)];
  const low = Math.min(...all), high = Math.max(...all), room = 0.08 * (high - low || 1);
  const domain = [low - room, high + room];
  const axis = axisOf(column, term.at, term.names, width - 110);
  const few = column.few && column.ordered;
  const end = (few ? 1.12 : column.ordered ? 1 : 1.06) + (column.missing === null ? 0 : few ? 0.16 : 0.26);
  if (column.missing !== null) axis.ticks = [...axis.ticks, [column.missing, "missing"]];
  const chart = Plot.plot({
    width, height: 235 + below(axis), marginLeft: leftOf(axis, width, 60), marginBottom: 44 + below(axis), marginTop: 12, style: styled,
    x: { ...across(axis, cut(said, 40)), domain: [few ? -0.12 : 0, end] },
    y: { label: "contribution", domain, ticks: 5, labelAnchor: "center", labelArrow: "none" },
    opacity: { type: "identity" }, color: { type: "identity" }, marks: lineMarks(term, column, axis, domain, gap),
  });
  const [x, y] = [chart.scale("x"), chart.scale("y")];
  const earlier = (k) => (term.before ? `, before ${signed(term.before[k])}` : "");
  const points = term.at.map((p, k) => ({
    x: x.apply(axis.place(p)), y: y.apply(term.now[k]), text: `${said} ${term.names[k]}: ${signed(term.now[k])}${earlier(k)}${fewAt(term)(k) ? FEW : ""}`,
  }));
  const missing = gap.filter((d) => d.now).map((d) => ({ x: x.apply(column.missing), y: y.apply(d.y), text: `${said} missing: ${signed(d.y)}` }));
  return { chart, axes: [axis], points: [...points, ...missing] };
}

const decode = (shape) => Array.from(atob(shape.cells), (c) => ((c.charCodeAt(0) - 128) / 127) * shape.largest);

// One scale of colours for all pairs, so that a weak one looks weak.
const largestOfPairs = Math.max(1e-12, ...data.terms.filter((t) => t.columns.length === 2 && t.now).map((t) => t.now.largest));

function pairChart(term, width) {
  const [first, second] = term.columns.map((c) => ({ ...data.columns[c], said: saidOf(c) }));
  const axes = [[first, width - 170], [second]].map(([column, room]) => axisOf(column, column.cells.map((cell) => cell[0]), column.cells.map((cell) => cell[1]), room));
  const [columns, lines] = axes.map((axis) => axis.edges);
  const values = decode(term.now);
  const few = fewAt(term);
  const cells = values.map((value, i) => {
    const [x1, x2] = columns[Math.floor(i / lines.length)], [y1, y2] = lines[i % lines.length];
    return { x1, x2, y1, y2, fill: value > 0 ? "var(--up)" : "var(--down)", o: Math.pow(Math.abs(value) / largestOfPairs, 0.6) };
  });
  const chart = Plot.plot({
    width, height: 250 + below(axes[0]), marginLeft: leftOf(axes[0], width, beside(axes[1])), marginBottom: 44 + below(axes[0]), marginTop: 12, style: styled,
    x: { ...across(axes[0], cut(first.said, 40)), domain: [0, 1] },
    y: { ...scaleOf(axes[1], cut(second.said, 30)), domain: [0, 1] },
    opacity: { type: "identity" }, color: { type: "identity" },
    marks: [
      Plot.rect(cells, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: "fill", fillOpacity: "o" }),
      Plot.frame({ stroke: "var(--edge)" }),
    ],
  });
  const [x, y] = [chart.scale("x"), chart.scale("y")];
  const points = values.map((value, i) => {
    const [k, l] = [Math.floor(i / lines.length), i % lines.length];
    return {
      cell: true, x: x.apply((columns[k][0] + columns[k][1]) / 2), y: y.apply((lines[l][0] + lines[l][1]) / 2),
      text: `${first.said} ${first.cells[k][1]}, ${second.said} ${second.cells[l][1]}: ${signed(value)}${few(i) ? FEW : ""}`,
    };
  });
  return { chart, axes, points };
}

const markers = new Map();
const moveMarkers = () => markers.forEach((move) => move());

function drawTerm(figure, term) {
  const pair = term.columns.length === 2;
  drawing(figure, () => {
    const { chart, axes, points } = (pair ? pairChart : lineChart)(term, Math.min(420, widthOf(figure)));
    titled(chart, `Contribution of ${termName(term)}`);
    const [x, y] = [chart.scale("x"), chart.scale("y")];
    const mark = pair
      ? svgElement("circle", { r: 5.5, fill: "var(--mark)", stroke: "var(--panel)", "stroke-width": 2, class: "marker" })
      : svgElement("line", { y1: y.range[0], y2: y.range[1], stroke: "var(--mark)", "stroke-width": 2.5, class: "marker" });
    chart.append(mark);
    figure.querySelectorAll("svg, output").forEach((old) => old.remove());
    figure.append(chart);
    readable(figure, chart, points);
    const move = () => {
      const i = state.picked;
      const places = i === null ? [null] : term.columns.map((c, k) => {
        if (rows.isMissing(i, c)) return pair ? null : data.columns[c].missing;
        return axes[k].place(rows.position(i, c));
      });
      mark.style.display = places.includes(null) ? "none" : "";
      if (places.includes(null)) return;
      const [p, q] = places;
      if (pair) {
        mark.setAttribute("cx", x.apply(p));
        mark.setAttribute("cy", y.apply(q));
      } else {
        mark.setAttribute("x1", x.apply(p));
        mark.setAttribute("x2", x.apply(p));
      }
    };
    markers.set(figure, move);
    move();
  });
}

const waiting = new Map();
const drawWaiting = (figure) => {
  const term = waiting.get(figure);
  if (!term) return;
  waiting.delete(figure);
  drawTerm(figure, term);
};
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    observer.unobserve(entry.target);
    drawWaiting(entry.target);
  }
}, { rootMargin: "600px" });

function figureOf(term) {
  const name = termName(term);
  const words = [];
  if (term.change !== null) {
    words.push(`changed by ${term.change.toFixed(3)}`);
    if (term.agreement !== null && term.agreement < -0.2) words.push("turned over");
  } else {
    words.push(`importance ${term.importance.toFixed(3)}`);
    if (term.columns.length === 2) words.push(`up to ±${term.now.largest.toFixed(2)}`);
  }
  const figure = element("figure", { class: "plot", "data-term": name },
    element("figcaption", {}, element("strong", {}, name), element("span", {}, words.join(", "))));
  waiting.set(figure, term);
  observer.observe(figure);
  return figure;
}

// Plots in a grid, the first of them at once and the others when asked for.
function plotsIn(id, terms, first, [one, many]) {
  byId(id).append(...terms.slice(0, first).map(figureOf));
  const rest = terms.slice(first);
  const more = byId(`more-${id}`);
  more.hidden = rest.length === 0;
  more.textContent = `Show ${plural(rest.length, one, many)}`;
  more.addEventListener("click", () => {
    byId(id).append(...rest.map(figureOf));
    more.hidden = true;
  });
}

function showTerms() {
  const weight = (term) => (compared ? term.change ?? 0 : term.importance);
  const ordered = (columns) => data.terms.filter((t) => t.columns.length === columns && t.now).sort((a, b) => weight(b) - weight(a));
  byId("shapes-note").textContent =
    "What a value adds to the score, over the column's own units. The red background shows where the training rows " +
    "were: the redder, the more; a dotted line rests on fewer than five. Bars are values that can be told apart, or a missing number. The green line is the picked row. " +
    "Point at a plot, or move along it with the arrow keys, to read its values." +
    (compared
      ? ` Orange is the earlier model, blue the present one; the most changed come first. The earlier one is multiplied ` +
        `by ${data.scale.toPrecision(3)}, so that both weigh the same on the whole.`
      : "");
  const pairs = ordered(2);
  plotsIn("shapes", ordered(1), FIRST_PLOTS, ["more column", "more columns"]);
  byId("pairs-section").hidden = pairs.length === 0;
  plotsIn("pairs", pairs, FIRST_PAIRS, ["more pair", "more pairs"]);
}
