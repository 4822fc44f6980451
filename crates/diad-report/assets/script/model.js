// What the model is: in a sentence, by its most important terms, and by how well it finds labelled rows.

function overview() {
  const learned = data.labels
    ? `then from the labels of ${plural(data.labels[0], "anomaly", "anomalies")} and ${plural(data.labels[1], "normal row", "normal rows")} what is looked for`
    : "without labels";
  byId("title").textContent = data.table;
  const start = compared
    ? `The model ${data.model} is compared with an earlier one: plots are ordered by how much they changed.`
    : `The model ${data.model} learned from ${plural(data.training_rows, "row", "rows")} and ` +
      `${plural(data.columns.length, "column", "columns")} what is usual, ${learned}.`;
  byId("overview").textContent = `${start} In ${data.table} it scored ${plural(data.scores.rows, "row", "rows")}; ` +
    `the ${whole(rows.listed)} most unusual are listed here with the reasons.` +
    (data.edits.length ? ` People have changed what single columns add: ${data.edits.join("; ")}.` : "");
  for (const [name, value] of data.settings) {
    byId("settings").append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  }
}

function importances() {
  const most = [...data.terms].sort((a, b) => b.importance - a.importance).slice(0, 20);
  byId("importance-note").textContent =
    `How much each column, and each pair of columns, moves the scores of the training rows: the mean size of its ` +
    `contribution. ` + (data.terms.length > most.length ? `The ${most.length} largest of ${whole(data.terms.length)} are shown.` : "");
  const place = byId("importances");
  drawing(place, () => {
    const width = widthOf(place);
    const room = Math.min(290, Math.round(width * 0.45));
    const name = new Map(most.map((t, i) => [i, cutEach(t.columns.map(saidOf), t.columns.slice(1).map(() => " × "), Math.floor(room / 7.2))]));
    const chart = Plot.plot({
      width, height: 45 + 22 * most.length, marginLeft: room, marginRight: 60, marginTop: 4, marginBottom: 38, style: styled,
      x: { label: "mean size of the contribution", grid: true, ticks: Math.max(2, Math.floor((width - room) / 80)), labelAnchor: "center", labelArrow: "none" },
      y: { label: null, domain: most.map((_, i) => i), tickFormat: (i) => name.get(i), tickSize: 0, padding: 0.3 },
      color: { type: "identity" },
      marks: [
        Plot.barX(most, { y: (_, i) => i, x: "importance", fill: (t) => (t.columns.length === 1 ? "var(--line)" : "var(--bar)"), title: termName }),
        Plot.text(most, { y: (_, i) => i, x: "importance", dx: 5, textAnchor: "start", text: (t) => t.importance.toFixed(3), fill: "var(--ink)" }),
        Plot.ruleX([0], { stroke: "var(--soft)" }),
      ],
    });
    titled(chart, "Importance of columns and pairs of columns");
    place.replaceChildren(chart);
  });
}

function rankingChart(points, [x, y], chance) {
  const figure = element("figure", { class: "ranking" });
  byId("ranking").append(figure);
  drawing(figure, () => {
    const chart = Plot.plot({
      width: Math.min(420, widthOf(figure)), height: 320, marginLeft: 52, marginBottom: 44, style: styled,
      x: { label: x, domain: [0, 1], grid: true, labelAnchor: "center", labelArrow: "none" },
      y: { label: y, domain: [0, 1], grid: true, labelAnchor: "center", labelArrow: "none" },
      marks: [
        Plot.line(chance, { stroke: "var(--soft)", strokeDasharray: "3 3" }),
        Plot.line(points, { stroke: "var(--line)", strokeWidth: 2 }),
      ],
    });
    titled(chart, `${y} against ${x}`);
    figure.replaceChildren(chart);
    const [across, up] = [chart.scale("x"), chart.scale("y")];
    readable(figure, chart, points.map(([p, q]) => ({
      x: across.apply(p), y: up.apply(q), text: `${x} ${percent(p)}, ${y} ${percent(q)}`,
    })));
  });
}

function ranking() {
  const found = data.ranking;
  byId("ranking-section").hidden = !found;
  if (!found) return;
  const share = found.anomalies / data.scores.rows;
  byId("ranking-note").textContent =
    `${whole(found.anomalies)} of ${whole(data.scores.rows)} rows are labelled as anomalies. ` +
    (data.labels ? `The model learned from some labels: rows it learned from flatter it. ` : `The training did not see the labels. `) +
    `ROC-AUC ${found.area.toFixed(3)} is the chance that one of them scores higher than another row; ` +
    `0.5 would be chance. Average precision ${found.average.toFixed(3)}; chance would be ${share.toFixed(3)}.`;
  rankingChart(found.roc, ["share of normal rows flagged", "share of anomalies found"], [[0, 0], [1, 1]]);
  rankingChart(found.precision, ["share of anomalies found", "share of anomalies among flagged rows"], [[0, share], [1, share]]);
}
