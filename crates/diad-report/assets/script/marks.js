// Marks: what a reader calls an anomaly or ordinary, with a comment. They stay in this browser, and can be saved as labels.
const marks = new Map();
const MARK_NAMES = { 1: "anomaly", 0: "ordinary" };
const memory = (() => {
  // A name for these rows and scores, so that another report has its own marks.
  let hash = 2166136261;
  for (const text of [data.table, data.rows.numbers.data, data.rows.scores.data]) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  }
  const key = `diad-marks-${(hash >>> 0).toString(16)}`;
  // A page in a frame without rights may keep nothing.
  const attempt = (action) => { try { return action(); } catch { return null; } };
  return {
    read: () => attempt(() => JSON.parse(localStorage.getItem(key))) ?? [],
    write: (entries) => attempt(() => (entries.length ? localStorage.setItem(key, JSON.stringify(entries)) : localStorage.removeItem(key))),
  };
})();

function readMarks() {
  for (const entry of memory.read()) {
    if (!Array.isArray(entry)) continue;
    const [number, label, comment] = entry;
    const i = rows.find(number);
    if (i !== null && (label === 0 || label === 1 || label === null)) marks.set(i, { label, comment: String(comment ?? "") });
  }
}

function setMark(i, change) {
  const mark = { label: null, comment: "", ...marks.get(i), ...change };
  if (mark.label === null && !mark.comment) marks.delete(i);
  else marks.set(i, mark);
  memory.write([...marks].map(([row, { label, comment }]) => [rows.number(row), label, comment]));
  showMarks();
  listChanged();
}

const markName = (i) => MARK_NAMES[marks.get(i)?.label] ?? "";
const labelled = () => [...marks].filter(([, mark]) => mark.label !== null).sort((a, b) => a[0] - b[0]);

function showMarks() {
  const anomalies = labelled().filter(([, mark]) => mark.label === 1).length;
  const ordinary = labelled().length - anomalies;
  byId("marked").textContent = marks.size
    ? `${plural(labelled().length, "row", "rows")} marked: ${plural(anomalies, "anomaly", "anomalies")}, ${whole(ordinary)} ordinary.`
    : "No row is marked yet.";
  byId("save-labels").disabled = labelled().length === 0;
  byId("forget").disabled = marks.size === 0;
  const mark = state.picked === null ? null : marks.get(state.picked);
  for (const [id, label] of [["mark-anomaly", 1], ["mark-ordinary", 0]]) {
    byId(id).setAttribute("aria-pressed", String(mark?.label === label));
  }
  if (document.activeElement !== byId("comment")) byId("comment").value = mark?.comment ?? "";
}

// A press of the button of a mark that is there takes it away.
const toggleMark = (i, label) => setMark(i, { label: marks.get(i)?.label === label ? null : label });

// A cell of a CSV file. What a spreadsheet would take for a formula gets an apostrophe before it; a number is left as it is.
function csvCell(text) {
  let cell = String(text);
  const plain = /^[-+]?[\d.,]+(e[-+]?\d+)?%?$/i.test(cell);
  if (/^[=+\-@\t\r]/.test(cell) && !plain) cell = "'" + cell;
  return /[",\r\n;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
const csv = (lines) => lines.map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";

function save(name, text) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function saveLabels() {
  const line = ([i, mark]) => [identifier ? identifier.at(i) : rows.number(i), mark.label, mark.comment];
  save("labels.csv", csv([[idName, "label", "comment"], ...labelled().map(line)]));
}
