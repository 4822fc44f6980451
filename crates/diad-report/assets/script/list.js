// The list of rows. Only those in view are in the page, so that there may be very many.
const ROW_HEIGHT = 30;
const SPARE = 12;
const list = { order: [], sort: { key: "score", down: true }, shownFrom: -1, shownTo: -1 };
const pane = () => byId("list").closest(".scroll");

function compareBy(field) {
  if (field.isNumeric()) {
    const at = (i) => { const v = field.value(i); return Number.isNaN(v) ? Infinity : v; };
    return (a, b) => { const [x, y] = [at(a), at(b)]; return x === y ? 0 : x - y; };
  }
  if (field.order) return (a, b) => field.order(a) - field.order(b);
  if (field.texts) {
    // Each different text is compared once.
    const rank = new Map([...field.texts.distinct].sort(collator.compare).map((text, place) => [text, place]));
    return (a, b) => rank.get(field.text(a)) - rank.get(field.text(b));
  }
  return (a, b) => collator.compare(field.text(a), field.text(b));
}

function listChanged() {
  const order = wantedRows();
  const compare = compareBy(fieldOf(list.sort.key) ?? idField);
  const sign = list.sort.down ? -1 : 1;
  order.sort((a, b) => sign * compare(a, b) || a - b);
  list.order = order;
  byId("list").setAttribute("aria-rowcount", order.length + 1);
  byId("listed").textContent = `${whole(order.length)} of ${plural(rows.listed, "listed row", "listed rows")}.`;
  showGroups();
  drawHead();
  drawRows(true);
}

const widthIn = (field) => {
  if (field.key === "reason") return 30;
  const texts = field.texts?.distinct.slice(0, 300) ?? [];
  const longest = Math.max(...texts.map((text) => text.length), field.texts ? 4 : 6, Math.min(field.name.length + 2, 16));
  return Math.min(26, longest + 2);
};

function drawHead() {
  const head = element("tr", { "aria-rowindex": 1 });
  const widths = [];
  shownFields().forEach((field, place) => {
    const sorted = list.sort.key === field.key;
    const arrow = sorted ? (list.sort.down ? " ↓" : " ↑") : "";
    const sort = () => {
      list.sort = { key: field.key, down: sorted ? !list.sort.down : field.isNumeric() };
      listChanged();
      byId("list").querySelector(`th[data-key="${field.key}"] button`)?.focus();
    };
    const order = sorted ? (list.sort.down ? "descending" : "ascending") : "none";
    const kind = [place < 2 ? `stay stay-${place}` : "", field.isNumeric() ? "" : "words"].join(" ").trim();
    head.append(element("th", { scope: "col", class: kind, "aria-sort": order, "data-key": field.key },
      element("button", { type: "button", title: field.name, onclick: sort }, field.name + arrow)));
    widths.push(element("col", { class: place < 2 ? `stay-${place}` : null, style: place < 2 ? null : `width: ${widthIn(field)}ch` }));
  });
  byId("list").tHead.replaceChildren(head);
  byId("widths").replaceChildren(...widths);
}

function rowLine(place) {
  const i = list.order[place];
  const line = element("tr", {
    id: `row-${i}`, "data-index": i, "aria-rowindex": place + 2, "aria-selected": String(i === state.picked),
    class: [isFlagged(i) ? "" : "below", markName(i)].join(" ").trim() || null,
  });
  shownFields().forEach((field, at) => {
    const text = field.text(i);
    const kind = [at < 2 ? `stay stay-${at}` : "", field.isNumeric() ? "" : "words"].join(" ").trim() || null;
    line.append(element(at ? "td" : "th", { scope: at ? null : "row", class: kind, title: text.length > 12 ? text : null }, text));
  });
  return line;
}

// Puts the rows that are in view, and some around them, into the page.
function drawRows(always = false, [from, to] = rowsInView()) {
  if (!always && from >= list.shownFrom && to <= list.shownTo) return;
  const first = Math.max(0, from - SPARE), last = Math.min(list.order.length, to + SPARE);
  const gap = (height) => element("tr", { class: "gap", "aria-hidden": true }, element("td", { colspan: shownFields().length, style: `height: ${height}px` }));
  const lines = [];
  if (first > 0) lines.push(gap(first * ROW_HEIGHT));
  for (let place = first; place < last; place++) lines.push(rowLine(place));
  if (last < list.order.length) lines.push(gap((list.order.length - last) * ROW_HEIGHT));
  byId("list").tBodies[0].replaceChildren(...lines);
  [list.shownFrom, list.shownTo] = [first, last];
  nameActive();
}

function rowsInView() {
  const from = Math.floor(pane().scrollTop / ROW_HEIGHT);
  return [Math.min(from, list.order.length), Math.min(list.order.length, from + Math.ceil((pane().clientHeight || 600) / ROW_HEIGHT) + 1)];
}

// The grid keeps the focus; the picked row is named to those who cannot see it.
function nameActive() {
  const id = `row-${state.picked}`;
  if (byId(id)) byId("list").setAttribute("aria-activedescendant", id);
  else byId("list").removeAttribute("aria-activedescendant");
}

function markPicked() {
  for (const line of byId("list").tBodies[0].rows) {
    if (line.dataset.index) line.setAttribute("aria-selected", String(Number(line.dataset.index) === state.picked));
  }
  nameActive();
}

function bringIntoView(place) {
  const head = byId("list").tHead.offsetHeight;
  const top = place * ROW_HEIGHT, bottom = top + ROW_HEIGHT + head;
  if (top < pane().scrollTop) pane().scrollTop = top;
  else if (bottom > pane().scrollTop + pane().clientHeight) pane().scrollTop = bottom - pane().clientHeight;
  drawRows();
}

function listKeys(event) {
  if (event.target !== byId("list") || event.ctrlKey || event.metaKey || event.altKey) return;
  const here = list.order.indexOf(state.picked);
  const page = Math.max(1, Math.floor(pane().clientHeight / ROW_HEIGHT) - 2);
  const moves = {
    ArrowDown: here + 1, ArrowUp: here - 1, PageDown: here + page, PageUp: here - page, Home: 0, End: list.order.length - 1,
  };
  const picked = state.picked;
  const actions = {
    a: () => toggleMark(picked, 1), o: () => toggleMark(picked, 0), u: () => setMark(picked, { label: null }),
    c: () => byId("comment").focus(), x: () => holdForComparison(picked),
  };
  if (event.key in moves && list.order.length) {
    const place = Math.max(0, Math.min(list.order.length - 1, moves[event.key]));
    pick(list.order[place]);
    bringIntoView(place);
  } else if (event.key in actions && picked !== null) actions[event.key]();
  else return;
  event.preventDefault();
}

function showChooser() {
  const sought = byId("chooser-search").value.trim().toLowerCase();
  const choices = fields.filter((field) => field !== idField && field.key !== "score" && field.name.toLowerCase().includes(sought));
  byId("chooser-list").replaceChildren(...choices.slice(0, 200).map((field) => {
    const box = element("input", { type: "checkbox", "data-key": field.key, checked: shown.has(field.key) });
    box.addEventListener("change", () => {
      if (box.checked) shown.add(field.key);
      else shown.delete(field.key);
      drawHead();
      drawRows(true);
    });
    const made = field.key.startsWith("c") && kept.some((column) => column.name === field.name) ? " (as the model reads it)" : "";
    return element("label", {}, box, ` ${field.name}${made}`);
  }));
  byId("chooser-note").textContent = choices.length > 200 ? `The first 200 of ${whole(choices.length)} columns; search for others.` : "";
}

function saveTable() {
  const columns = fields.filter((field) => field !== idField && field.key !== "mark" && (shown.has(field.key) || field.key === "score"));
  const line = (i) => [identifier ? identifier.at(i) : rows.number(i), ...columns.map((field) => (field.texts ? field.text(i) : field.value?.(i) ?? field.text(i))),
    isFlagged(i) ? "yes" : "no", markName(i), marks.get(i)?.comment ?? ""];
  save("rows.csv", csv([[idName, ...columns.map((field) => field.name), "flagged", "mark", "comment"], ...list.order.map(line)]));
}
