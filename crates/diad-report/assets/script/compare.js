// Two rows beside each other: their values, and what their terms contribute.

function holdForComparison(i) {
  state.against = state.against === i ? null : i;
  showComparison();
}

const largerFirst = (a, b) => b.apart - a.apart || a.place - b.place;

// Columns of both rows, those that differ most first.
function comparedValues(a, b) {
  const lines = [];
  const own = new Set(kept.map((column) => column.name));
  kept.forEach((column, place) => lines.push({ name: column.name, texts: [column.at(a), column.at(b)], apart: column.identifier ? 3 : column.at(a) === column.at(b) ? 0 : 1, place }));
  data.columns.forEach((column, c) => {
    if (own.has(column.name)) return;
    const texts = [rows.text(a, c), rows.text(b, c)];
    const apart = texts[0] === texts[1] ? 0 : 0.01 + Math.abs((rows.position(a, c) ?? 2) - (rows.position(b, c) ?? 2));
    lines.push({ name: column.name, texts, apart, place: lines.length });
  });
  return lines.sort(largerFirst);
}

// Terms among the largest of either row. A term that is not among the largest of the other is small there.
function comparedTerms(a, b) {
  const found = new Map();
  [a, b].forEach((i, side) => rows.terms(i).forEach(({ term, value }) => {
    const line = found.get(term) ?? { name: termName(data.terms[term]), values: [null, null], place: found.size };
    line.values[side] = value;
    found.set(term, line);
  }));
  const apart = (line) => Math.abs((line.values[0] ?? 0) - (line.values[1] ?? 0));
  return [...found.values()].map((line) => ({ ...line, apart: apart(line) })).sort(largerFirst).slice(0, 12);
}

function comparisonTable(caption, names, lines) {
  const cells = (line) => line.cells.map((text) => element("td", {}, text));
  return element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...["", ...names].map((name) => (name ? element("th", { scope: "col" }, name) : element("td", {}))))),
    element("tbody", {}, ...lines.map((line) => element("tr", { class: line.same ? "same" : null }, element("th", { scope: "row" }, line.name), ...cells(line)))));
}

function showComparison() {
  const [a, b] = [state.picked, state.against];
  const held = b !== null;
  byId("comparison").hidden = !held || a === null;
  byId("hold").setAttribute("aria-pressed", String(held && a === b));
  if (!held || a === null) return;
  const names = [rowName(a), rowName(b)];
  byId("comparison-note").textContent = a === b
    ? `${rowName(b)} is held. Pick another row to compare it with.`
    : `${rowName(a)} (score ${decimals(rows.score(a))}) beside ${rowName(b)} (score ${decimals(rows.score(b))}). What differs most comes first.`;
  byId("comparison-tables").replaceChildren(...(a === b ? [] : [
    comparisonTable("Values", names, comparedValues(a, b).map((line) => ({ name: line.name, cells: line.texts, same: line.apart === 0 }))),
    comparisonTable("Contributions", names, comparedTerms(a, b).map((line) => ({ name: line.name, cells: line.values.map((v) => (v === null ? "small" : signed(v))) }))),
  ]));
}
