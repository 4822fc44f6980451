// Fields: what the list can show, sort, search and filter by. Then which rows of the list are wanted.
const MOST_FIELDS = 30;
const MOST_GROUPS = 8;
const SAMPLE = 200;

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

// A field of texts. It is numeric if nearly all its texts are numbers, as the first of them tell; the numbers of all are found
// when they are needed.
function textField(key, name, texts) {
  let numbers = null, numeric = null;
  const isNumeric = () => {
    if (numeric === null) {
      const there = texts.distinct.filter((text) => text && text !== "missing").slice(0, SAMPLE);
      numeric = there.length > 0 && there.filter((text) => !Number.isNaN(numberOf(text))).length >= 0.9 * there.length;
    }
    return numeric;
  };
  const value = (i) => (numbers ??= texts.distinct.map(numberOf))[texts.code(i)];
  return { key, name, text: texts.at, texts, value, isNumeric };
}

const fields = (() => {
  const plain = (key, name, text, value) => ({ key, name, text, value, isNumeric: () => true });
  const all = [plain("number", "row", (i) => whole(rows.number(i)), rows.number)];
  all.push(plain("score", "score", (i) => decimals(rows.score(i)), rows.score));
  const word = (key, name, text) => ({ key, name, text, isNumeric: () => false });
  if (rows.hasLabels) all.push(word("label", "label", (i) => (rows.label(i) ? "anomaly" : "normal")));
  all.push(word("mark", "mark", markName));
  all.push(word("reason", "first reason", rows.reason));
  kept.forEach((column, k) => all.push(textField(`k${k}`, column.name, column)));
  data.columns.forEach((column, c) => {
    // Parts of times are put in the order of their axis: weekdays have names.
    const order = column.ordered ? (i) => rows.position(i, c) ?? 2 : null;
    all.push({ ...textField(`c${c}`, column.name, rows.values(c)), source: column.source, order });
  });
  return all;
})();
const fieldOf = (key) => fields.find((field) => field.key === key);
const idField = identifier ? fields.find((field) => field.key === `k${kept.indexOf(identifier)}`) : fieldOf("number");

// What the list shows at first: a column of the model only where the table's own is not there.
const shown = new Set();
(() => {
  const names = new Set(kept.map((column) => column.name));
  shown.add("mark").add("reason");
  if (rows.hasLabels) shown.add("label");
  for (const field of fields) {
    if (shown.size >= MOST_FIELDS) break;
    if (field.key.startsWith("k") || (field.key.startsWith("c") && !names.has(field.source))) shown.add(field.key);
  }
})();
const shownFields = () => [idField, fieldOf("score"), ...fields.filter((field) => field !== idField && field.key !== "score" && shown.has(field.key))];

// Filters: a field, an operator and a value each. All must hold.
const OPERATORS = {
  "=": (order) => order === 0, "≠": (order) => order !== 0, "<": (order) => order < 0,
  "≤": (order) => order <= 0, ">": (order) => order > 0, "≥": (order) => order >= 0,
};
const filters = [];
const wanted = { text: "", flagged: false, mark: "", label: "", group: null };

// Whether a row passes a filter. Numbers are compared as numbers, all else as text.
function test({ field, operator, value }) {
  const text = value.toLowerCase();
  if (operator === "contains") return (i) => field.text(i).toLowerCase().includes(text);
  const holds = OPERATORS[operator];
  const number = numberOf(value);
  if (field.isNumeric() && !Number.isNaN(number)) {
    return (i) => { const v = field.value(i); return Number.isNaN(v) ? operator === "≠" : holds(v - number); };
  }
  return (i) => {
    const there = field.text(i);
    if (there === "" && value !== "") return operator === "≠";
    return holds(collator.compare(there, value));
  };
}

// Searches every field, also those that are not shown.
function searched(text) {
  const sought = text.trim().toLowerCase();
  if (!sought) return null;
  const plainNumber = sought.replaceAll(",", "");
  const found = fields.filter((field) => field.texts).map((field) => {
    const hits = field.texts.distinct.map((text) => text.toLowerCase().includes(sought));
    return hits.some(Boolean) ? (i) => hits[field.texts.code(i)] : null;
  }).filter(Boolean);
  return (i) => found.some((hit) => hit(i)) || (!identifier && String(rows.number(i)).includes(plainNumber)) ||
    (marks.get(i)?.comment ?? "").toLowerCase().includes(sought);
}

function wantedRows({ groups = true } = {}) {
  const tests = filters.map(test);
  const search = searched(wanted.text);
  if (search) tests.push(search);
  if (wanted.flagged) tests.push(isFlagged);
  if (wanted.mark) tests.push((i) => (markName(i) || "none") === wanted.mark);
  if (wanted.label) tests.push((i) => (rows.label(i) ? "anomaly" : "normal") === wanted.label);
  if (groups && wanted.group !== null) tests.push((i) => rows.group(i) === wanted.group);
  const found = [];
  for (let i = 0; i < rows.listed; i++) if (tests.every((holds) => holds(i))) found.push(i);
  return found;
}

const filterName = ({ field, operator, value }) => `${field.name} ${operator} ${value || "(empty)"}`;

function showFilters() {
  byId("filters").replaceChildren(...filters.map((filter, k) => {
    const name = filterName(filter);
    const remove = () => {
      filters.splice(k, 1);
      showFilters();
      listChanged();
      byId("filter-value").focus();
    };
    return element("button", { type: "button", class: "chip", "aria-label": `Remove the filter ${name}`, onclick: remove }, `${cut(name, 60)} ×`);
  }));
}

function addFilter() {
  filters.push({ field: fieldOf(byId("filter-column").value), operator: byId("filter-operator").value, value: byId("filter-value").value.trim() });
  byId("filter-value").value = "";
  showFilters();
  listChanged();
}

const groupName = (group) => rows.groups[group] || "nothing in particular";

// Groups of the flagged rows that are wanted, the largest first.
let allGroups = false;
function showGroups() {
  const counts = new Map();
  for (const i of wantedRows({ groups: false })) {
    const group = rows.group(i);
    if (group !== null && isFlagged(i)) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const largest = [...counts].filter(([group, count]) => count > 1 || group === wanted.group).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  if (wanted.group !== null && !counts.has(wanted.group)) largest.unshift([wanted.group, 0]);
  const few = allGroups ? largest : largest.slice(0, MOST_GROUPS);
  const chips = few.map(([group, count]) => {
    const name = groupName(group);
    const choose = () => {
      wanted.group = wanted.group === group ? null : group;
      listChanged();
      byId("groups").querySelector(`[data-group="${group}"]`)?.focus();
    };
    return element("button", {
      type: "button", class: "chip", "data-group": group, title: name, "aria-pressed": String(wanted.group === group), onclick: choose,
    }, element("b", {}, plural(count, "row", "rows")), `: ${cut(name, 70)}`);
  });
  if (few.length < largest.length) {
    const more = () => { allGroups = true; showGroups(); };
    chips.push(element("button", { type: "button", class: "link", onclick: more }, `${whole(largest.length - few.length)} more groups`));
  }
  byId("groups").replaceChildren(...chips);
  byId("grouped").hidden = largest.length === 0;
}
