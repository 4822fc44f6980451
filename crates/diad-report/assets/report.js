"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const STEPS = data.scores.above.length - 1;
  const FIRST_PAIRS = 12;
  const BARS = 9;
  const compared = data.scale !== null;
  const state = { picked: null, sort: { column: "score", down: true }, threshold: 0, drawn: [] };

  // Text reaches the page through textContent only.
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined) continue;
      if (name === "class") made.className = value;
      else made.setAttribute(name, value);
    }
    for (const child of children) made.append(child);
    return made;
  };
  const whole = (n) => n.toLocaleString("en-US");
  // Rounded down, so that it is 100 only where it is all.
  const percent = (share) => (Math.floor(share * 1e4) / 100).toFixed(2) + " %";
  const signed = (v) => (v < 0 ? "−" : "+") + Math.abs(v).toFixed(3);
  const decimals = (v) => (v < 0 ? "−" : "") + Math.abs(v).toFixed(3);
  const termName = (term) => term.columns.map((c) => data.columns[c].name).join(" × ");
  // A missing number lies beyond the end of its axis, and nowhere on those of pairs.
  const isMissing = (c, p) => data.columns[c].missing !== null && p >= data.columns[c].missing;
  const clamp = (p) => Math.min(1.01, Math.max(-0.01, p));
  const cut = (text, length) => ([...text].length > length ? [...text].slice(0, length - 1).join("") + "…" : text);
  const styled = { background: "none", color: "var(--ink)", fontSize: "12px", fontFamily: "inherit" };

  const learned = () =>
    data.labels
      ? `then from the labels of ${whole(data.labels[0])} anomalies and ${whole(data.labels[1])} normal rows what is looked for`
      : "without labels";

  function overview() {
    const s = data.scores;
    byId("title").textContent = data.table;
    byId("overview").textContent =
      `The model ${data.model} learned from ${whole(data.training_rows)} rows and ${whole(data.columns.length)} ` +
      `${data.columns.length === 1 ? "column" : "columns"} what is usual, ${learned()}. In ${data.table} it scored ` +
      `${whole(s.rows)} rows; the ${whole(data.rows.length)} most unusual ones are listed here with the reasons.`;
    if (compared) {
      byId("overview").textContent =
        `The model ${data.model} is compared with an earlier one: plots are ordered by how much they changed. In ` +
        `${data.table} it scored ${whole(s.rows)} rows; the ${whole(data.rows.length)} most unusual ones are listed ` +
        `here with the reasons.`;
    }
    for (const [name, value] of data.settings) {
      byId("settings").append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
    }
  }

  // Scores: bars, and a threshold that can be moved.
  const scoreAt = (step) => data.scores.low + ((data.scores.high - data.scores.low) * step) / STEPS;

  function drawScores() {
    const { above } = data.scores;
    const width = 5;
    const bars = [];
    for (let i = 0; i < STEPS; i += width) {
      const end = i + width;
      const count = above[i] - (end >= STEPS ? 0 : above[end]);
      bars.push({ from: scoreAt(i), to: scoreAt(end), count, on: i >= state.threshold });
    }
    const flat = data.scores.high <= data.scores.low;
    const chart = Plot.plot({
      width: 1100, height: 220, marginLeft: 60, marginBottom: 42, style: styled,
      x: { label: "score", labelAnchor: "center", labelArrow: "none", domain: flat ? [data.scores.low - 1, data.scores.low + 1] : undefined },
      y: { label: "rows (square-root scale)", type: "sqrt", grid: true, ticks: 5, tickFormat: whole, labelAnchor: "center", labelArrow: "none" },
      marks: [
        Plot.rectY(bars, { x1: "from", x2: "to", y: "count", fill: (d) => (d.on ? "var(--bar-on)" : "var(--bar)"), insetLeft: 0.5, insetRight: 0.5 }),
        Plot.ruleY([0], { stroke: "var(--soft)" }),
        Plot.ruleX([scoreAt(state.threshold)], { stroke: "var(--ink)", strokeWidth: 1.5, strokeDasharray: "4 3" }),
      ],
      color: { type: "identity" },
    });
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", "Histogram of the scores");
    byId("scores").replaceChildren(chart);
  }

  function setThreshold(step) {
    state.threshold = step;
    const { above, anomalies_above: anomalies, rows } = data.scores;
    byId("threshold").value = step;
    byId("threshold").setAttribute("aria-valuetext", `score ${decimals(scoreAt(step))}`);
    byId("threshold-value").textContent = decimals(scoreAt(step));
    const count = above[step];
    let text = `${whole(count)} of ${whole(rows)} rows (${rows ? ((100 * count) / rows).toFixed(1) : 0} %) are flagged`;
    if (anomalies) text += `; ${whole(anomalies[step])} of them are labelled as anomalies, of ${whole(anomalies[0])} in all`;
    byId("flagged").textContent = text + ".";
    drawScores();
    for (const row of byId("list").tBodies[0].rows) {
      row.classList.toggle("below", data.rows[row.dataset.index].score < scoreAt(step));
    }
  }

  // The list of rows.
  const shownColumns = () => data.columns.map((_, c) => c).slice(0, 60);

  function drawList() {
    const head = element("tr");
    const add = (key, label) => {
      const sorted = state.sort.column === key;
      const arrow = sorted ? (state.sort.down ? " ↓" : " ↑") : "";
      const button = element("button", { type: "button", title: label }, label + arrow);
      button.addEventListener("click", () => {
        state.sort = { column: key, down: sorted ? !state.sort.down : true };
        drawList();
      });
      head.append(element("th", { scope: "col", "aria-sort": sorted ? (state.sort.down ? "descending" : "ascending") : "none" }, button));
    };
    add("number", "row");
    add("score", "score");
    if (data.ranking) add("label", "label");
    for (const c of shownColumns()) add(c, data.columns[c].name);
    byId("list").tHead.replaceChildren(head);

    const wanted = byId("search").value.trim().toLowerCase();
    const matches = (row) => !wanted || String(row.number).includes(wanted) || row.values.some((v) => v.toLowerCase().includes(wanted));
    const key = state.sort.column;
    const value = (row) => (typeof key === "number" ? row.values[key] : row[key]);
    // Numbers by size, other text by its letters.
    const compare = (a, b) => (isFinite(a) && isFinite(b) ? a - b : String(a).localeCompare(String(b)));
    const order = data.rows.map((_, i) => i).filter((i) => matches(data.rows[i]));
    order.sort((a, b) => (state.sort.down ? -1 : 1) * compare(value(data.rows[a]), value(data.rows[b])) || a - b);
    const body = byId("list").tBodies[0];
    body.replaceChildren(...order.map((index) => {
      const row = data.rows[index];
      const cells = [whole(row.number), decimals(row.score)];
      if (data.ranking) cells.push(row.label ? "anomaly" : "normal");
      for (const c of shownColumns()) cells.push(row.values[c]);
      const line = element("tr", { "data-index": index, "aria-selected": String(index === state.picked), tabindex: index === state.picked ? 0 : -1 });
      line.append(...cells.map((text) => element("td", {}, text)));
      line.classList.toggle("below", row.score < scoreAt(state.threshold));
      return line;
    }));
    if (body.rows.length && !body.querySelector('tr[tabindex="0"]')) body.rows[0].tabIndex = 0;
    byId("listed").textContent = `${whole(order.length)} of ${whole(data.rows.length)} listed rows. Arrow keys move through them.`;
  }

  function listKeys(event) {
    const line = event.target.closest("tr");
    if (!line) return;
    const lines = [...byId("list").tBodies[0].rows];
    const here = lines.indexOf(line);
    const moves = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: lines.length - 1, Enter: here, " ": here };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const next = lines[Math.max(0, Math.min(lines.length - 1, moves[event.key]))];
    pick(Number(next.dataset.index));
    next.focus();
  }

  // One row: a waterfall that ends at its score, and the reasons in words.
  const valueText = (row, term) => term.columns.map((c) => `${data.columns[c].name} = ${row.values[c]}`).join(", ");

  function steps(row) {
    const parts = [{ label: "start", value: data.intercept, from: 0, total: true }];
    let sum = data.intercept;
    row.terms.slice(0, BARS).forEach(([index, value]) => {
      parts.push({ label: valueText(row, data.terms[index]), value, from: sum });
      sum += value;
    });
    const others = data.terms.length - Math.min(BARS, row.terms.length);
    const rest = row.terms.slice(BARS).reduce((total, term) => total + term[1], row.rest);
    if (others > 0) {
      parts.push({ label: `${others} other ${others === 1 ? "term" : "terms"}`, value: rest, from: sum });
    }
    sum += rest;
    parts.push({ label: "score", value: sum, from: 0, total: true });
    return parts.map((part, i) => ({ ...part, key: i, to: part.from + part.value }));
  }

  function drawWaterfall(row) {
    const parts = steps(row);
    const names = new Map(parts.map((part) => [part.key, cut(part.label, 34)]));
    const fill = (d) => (d.total ? "var(--bar)" : d.value > 0 ? "var(--up)" : "var(--down)");
    const ends = parts.flatMap((d) => [d.from, d.to]);
    const low = Math.min(0, ...ends), high = Math.max(0, ...ends), room = (high - low || 1) * 0.14;
    const chart = Plot.plot({
      width: 600, height: 40 + 24 * parts.length, marginLeft: 235, marginRight: 20, marginTop: 8, marginBottom: 34, style: styled,
      x: { label: "score", grid: true, domain: [low - (low < 0 ? room : 0), high + room], labelAnchor: "center", labelArrow: "none" },
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
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", `What the score of row ${row.number} is made of`);
    byId("waterfall").replaceChildren(chart);
    byId("waterfall").dataset.total = String(parts[parts.length - 1].to);
  }

  function pick(index) {
    const row = data.rows[index];
    state.picked = index;
    for (const line of byId("list").tBodies[0].rows) {
      const on = Number(line.dataset.index) === index;
      line.setAttribute("aria-selected", String(on));
      line.tabIndex = on ? 0 : -1;
      if (on) {
        const pane = line.closest(".scroll");
        const top = line.offsetTop - 40, bottom = line.offsetTop + line.offsetHeight;
        if (top < pane.scrollTop) pane.scrollTop = top;
        else if (bottom > pane.scrollTop + pane.clientHeight) pane.scrollTop = bottom - pane.clientHeight;
      }
    }
    byId("picked").textContent = `Row ${row.number}: score ${decimals(row.score)}`;
    byId("picked").dataset.score = String(row.score);
    byId("picked-note").textContent =
      (row.below >= 1 ? "Higher than all training rows." : `Higher than ${percent(row.below)} of the training rows.`) +
      (row.label === null ? "" : row.label ? " Labelled as an anomaly." : " Labelled as normal.");
    drawWaterfall(row);
    byId("reasons").replaceChildren(...row.terms.slice(0, 6).map(([term, value, words]) => {
      const text = valueText(row, data.terms[term]) + (words ? `: ${words}` : " together");
      return element("li", {}, element("b", { class: value > 0 ? "raises" : "lowers" }, signed(value)), element("span", {}, text));
    }));
    state.drawn.forEach((mark) => mark());
  }

  // The plots of terms. They are drawn when they come into view.
  const singleTicks = (column) => {
    const ticks = column.missing === null ? column.ticks : [...column.ticks, [column.missing, "missing"]];
    return acrossTicks({ ...column, ticks });
  };
  const axisTicks = (column) => ({ ticks: column.ticks.map((t) => t[0]), tickFormat: (p) => (column.ticks.find((t) => t[0] === p) || ["", ""])[1] });
  // Names that would run into each other are turned, and get more room below.
  const acrossTicks = (column) => ({ ...axisTicks(column), tickRotate: column.turned ? -35 : 0 });
  const below = (column) => (column.turned ? 30 : 0);
  const beside = (column) => Math.max(58, 28 + 6.2 * Math.max(0, ...column.ticks.map((t) => t[1].length)));
  const pickedRow = () => (state.picked === null ? null : data.rows[state.picked]);

  function svg(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  function lineChart(term) {
    const column = data.columns[term.columns[0]];
    const points = (values) => term.at[0].map((x, i) => ({ x, y: values[i] }));
    const most = Math.max(...column.density, 1e-9);
    const bins = column.density.map((share, i) => ({ x1: i / 64, x2: (i + 1) / 64, o: 0.38 * Math.sqrt(share / most) })).filter((b) => b.o > 0);
    const gap = (term.missing || []).map((y, i) => ({ y, now: i === 0 })).filter((d) => d.y !== null);
    const all = [0, ...term.now, ...(term.before || []), ...gap.map((d) => d.y)];
    const low = Math.min(...all), high = Math.max(...all), room = 0.08 * (high - low || 1);
    const domain = [low - room, high + room];
    const half = Math.min(0.08, 0.35 / term.at[0].length);
    const bars = (values, shift, fill) => Plot.rect(points(values), {
      x1: (d) => d.x + shift - half / 2, x2: (d) => d.x + shift + half / 2,
      y1: (d) => Math.min(0, d.y), y2: (d) => Math.max(0, d.y), fill,
    });
    const marks = [];
    if (!column.few) {
      marks.push(Plot.rect(bins, { x1: "x1", x2: "x2", y1: domain[0], y2: domain[1], fill: "var(--density)", fillOpacity: "o" }));
      if (term.before) marks.push(Plot.line(points(term.before), { x: "x", y: "y", stroke: "var(--before)", strokeWidth: 2 }));
      marks.push(Plot.line(points(term.now), { x: "x", y: "y", stroke: "var(--line)", strokeWidth: 2 }));
    } else {
      if (term.before) marks.push(bars(term.before, -half / 2, "var(--before)"));
      marks.push(bars(term.now, term.before ? half / 2 : 0, "var(--line)"));
    }
    if (gap.length) {
      const shift = (d) => (gap.length === 1 ? 0 : d.now ? 0.014 : -0.014);
      marks.push(Plot.rect(gap, {
        x1: (d) => column.missing + shift(d) - 0.013, x2: (d) => column.missing + shift(d) + 0.013,
        y1: (d) => Math.min(0, d.y), y2: (d) => Math.max(0, d.y), fill: (d) => (d.now ? "var(--line)" : "var(--before)"),
      }));
    }
    const end = (column.few ? 1.12 : 1) + (column.missing === null ? 0 : column.few ? 0.06 : 0.18);
    marks.splice(column.few ? 0 : 1, 0, Plot.ruleY([0], { stroke: "var(--soft)", strokeWidth: 0.75 }));
    return Plot.plot({
      width: 350, height: 235 + below(column), marginLeft: 60, marginBottom: 44 + below(column), marginTop: 12, style: styled,
      x: { ...singleTicks(column), label: cut(column.name, 40), labelAnchor: "center", labelArrow: "none", domain: [column.few ? -0.12 : 0, end] },
      y: { label: "contribution", domain, ticks: 5, labelAnchor: "center", labelArrow: "none" },
      opacity: { type: "identity" }, color: { type: "identity" }, marks,
    });
  }

  const decode = (shape) => Array.from(atob(shape.cells), (c) => ((c.charCodeAt(0) - 128) / 127) * shape.largest);
  const edges = (middles) => middles.map((m, i) => [i ? (m + middles[i - 1]) / 2 : 0, i + 1 < middles.length ? (m + middles[i + 1]) / 2 : 1]);

  // One scale of colours for all pairs, so that a weak one looks weak.
  const largestOfPairs = Math.max(1e-12, ...data.terms.filter((t) => t.columns.length === 2).map((t) => t.now.largest));

  function pairChart(term) {
    const [first, second] = term.columns.map((c) => data.columns[c]);
    const [across, up] = term.at.map(edges);
    const values = decode(term.now);
    const cells = values.map((value, i) => {
      const [x1, x2] = across[Math.floor(i / up.length)], [y1, y2] = up[i % up.length];
      return { x1, x2, y1, y2, fill: value > 0 ? "var(--up)" : "var(--down)", o: Math.pow(Math.abs(value) / largestOfPairs, 0.6) };
    });
    return Plot.plot({
      width: 350, height: 250 + below(first), marginLeft: beside(second), marginBottom: 44 + below(first), marginTop: 12, style: styled,
      x: { ...acrossTicks(first), label: cut(first.name, 40), labelAnchor: "center", labelArrow: "none", domain: [0, 1] },
      y: { ...axisTicks(second), label: cut(second.name, 30), labelAnchor: "center", labelArrow: "none", domain: [0, 1] },
      opacity: { type: "identity" }, color: { type: "identity" },
      marks: [
        Plot.rect(cells, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: "fill", fillOpacity: "o" }),
        Plot.frame({ stroke: "var(--edge)" }),
      ],
    });
  }

  function place(figure, term) {
    const pair = term.columns.length === 2;
    const chart = pair ? pairChart(term) : lineChart(term);
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", `Contribution of ${termName(term)}`);
    const [x, y] = [chart.scale("x"), chart.scale("y")];
    const mark = pair
      ? svg("circle", { r: 5.5, fill: "var(--mark)", stroke: "var(--panel)", "stroke-width": 2, class: "marker" })
      : svg("line", { y1: y.range[0], y2: y.range[1], stroke: "var(--mark)", "stroke-width": 2.5, class: "marker" });
    chart.append(mark);
    figure.append(chart);
    const move = () => {
      const row = pickedRow();
      const missing = row !== null && term.columns.some((c) => isMissing(c, row.positions[c]));
      mark.style.display = row && !(pair && missing) ? "" : "none";
      if (!row) return;
      const [p, q] = term.columns.map((c) => (isMissing(c, row.positions[c]) ? row.positions[c] : clamp(row.positions[c])));
      if (pair) {
        mark.setAttribute("cx", x.apply(p));
        mark.setAttribute("cy", y.apply(q));
      } else {
        mark.setAttribute("x1", x.apply(p));
        mark.setAttribute("x2", x.apply(p));
      }
    };
    state.drawn.push(move);
    move();
  }

  const waiting = new Map();
  const draw = (figure) => {
    const term = waiting.get(figure);
    if (!term) return;
    waiting.delete(figure);
    place(figure, term);
  };
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        observer.unobserve(entry.target);
        draw(entry.target);
      }
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
      element("figcaption", {}, element("strong", { title: name }, name), element("span", {}, words.join(", "))));
    waiting.set(figure, term);
    observer.observe(figure);
    return figure;
  }

  function shapes() {
    const weight = (term) => (compared ? term.change ?? 0 : term.importance);
    const ordered = (columns) => data.terms.filter((t) => t.columns.length === columns).sort((a, b) => weight(b) - weight(a));
    const singles = ordered(1), pairs = ordered(2);
    byId("shapes-note").textContent =
      "What a value adds to the score, over the column's own units. The red background shows where the training rows " +
      "were: the redder, the more. Bars are values that can be told apart, or a missing number. The green line is the picked row." +
      (compared
        ? ` Orange is the earlier model, blue the present one; the most changed come first. The earlier one is multiplied ` +
          `by ${data.scale.toPrecision(3)}, so that both weigh the same on the whole.`
        : "");
    byId("shapes").append(...singles.map(figureOf));
    byId("pairs-section").hidden = pairs.length === 0;
    byId("pairs").append(...pairs.slice(0, FIRST_PAIRS).map(figureOf));
    const rest = pairs.slice(FIRST_PAIRS);
    const more = byId("more-pairs");
    more.hidden = rest.length === 0;
    more.textContent = `Show ${rest.length} more ${rest.length === 1 ? "pair" : "pairs"}`;
    more.addEventListener("click", () => {
      byId("pairs").append(...rest.map(figureOf));
      more.hidden = true;
    });
  }

  function importances() {
    const most = [...data.terms].sort((a, b) => b.importance - a.importance).slice(0, 20);
    byId("importance-note").textContent =
      `How much each column, and each pair of columns, moves the scores of the training rows: the mean size of its ` +
      `contribution. ` + (data.terms.length > most.length ? `The ${most.length} largest of ${whole(data.terms.length)} are shown.` : "");
    const name = new Map(most.map((t, i) => [i, cut(termName(t), 42)]));
    const chart = Plot.plot({
      width: 1100, height: 45 + 22 * most.length, marginLeft: 290, marginRight: 60, marginTop: 4, marginBottom: 38, style: styled,
      x: { label: "mean size of the contribution", grid: true, labelAnchor: "center", labelArrow: "none" },
      y: { label: null, domain: most.map((_, i) => i), tickFormat: (i) => name.get(i), tickSize: 0, padding: 0.3 },
      color: { type: "identity" },
      marks: [
        Plot.barX(most, { y: (_, i) => i, x: "importance", fill: (t) => (t.columns.length === 1 ? "var(--line)" : "var(--bar)") }),
        Plot.text(most, { y: (_, i) => i, x: "importance", dx: 5, textAnchor: "start", text: (t) => t.importance.toFixed(3), fill: "var(--ink)" }),
        Plot.ruleX([0], { stroke: "var(--soft)" }),
      ],
    });
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", "Importance of columns and pairs of columns");
    byId("importances").replaceChildren(chart);
  }

  function ranking() {
    const found = data.ranking;
    byId("ranking-section").hidden = !found;
    if (!found) return;
    byId("ranking-note").textContent =
      `${whole(found.anomalies)} of ${whole(data.scores.rows)} rows are labelled as anomalies. ` +
      (data.labels ? `The model learned from some labels: rows it learned from flatter it. ` : `The training did not see the labels. `) +
      `ROC-AUC ${found.area.toFixed(3)} is the chance that one of them scores higher than another row; ` +
      `0.5 would be chance. Average precision ${found.average.toFixed(3)}; chance would be ${(found.anomalies / data.scores.rows).toFixed(3)}.`;
    const chart = (points, x, y, chance) => {
      const made = Plot.plot({
        width: 420, height: 330, marginLeft: 52, marginBottom: 44, style: styled,
        x: { label: x, domain: [0, 1], grid: true, labelAnchor: "center", labelArrow: "none" },
        y: { label: y, domain: [0, 1], grid: true, labelAnchor: "center", labelArrow: "none" },
        marks: [
          Plot.line(chance, { stroke: "var(--soft)", strokeDasharray: "3 3" }),
          Plot.line(points, { stroke: "var(--line)", strokeWidth: 2 }),
        ],
      });
      made.setAttribute("role", "img");
      made.setAttribute("aria-label", `${y} against ${x}`);
      return element("figure", { class: "ranking" }, made);
    };
    const share = found.anomalies / data.scores.rows;
    byId("ranking").append(
      chart(found.roc, "share of normal rows flagged", "share of anomalies found", [[0, 0], [1, 1]]),
      chart(found.precision, "share of anomalies found", "share of anomalies among flagged rows", [[0, share], [1, share]]),
    );
  }

  overview();
  byId("threshold").max = STEPS;
  const span = data.scores.high - data.scores.low;
  const start = span > 0 ? Math.ceil(((data.scores.threshold - data.scores.low) / span) * STEPS) : 0;
  drawList();
  setThreshold(Math.max(0, Math.min(STEPS, start)));
  byId("threshold").addEventListener("input", (event) => setThreshold(Number(event.target.value)));
  byId("search").addEventListener("input", drawList);
  byId("list").tBodies[0].addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (line) pick(Number(line.dataset.index));
  });
  byId("list").tBodies[0].addEventListener("keydown", listKeys);
  importances();
  ranking();
  shapes();
  if (data.rows.length) pick(0);
  // A printer sees the whole page at once.
  window.addEventListener("beforeprint", () => [...waiting.keys()].forEach(draw));
})();
