// Puts the parts together: events, the address with the picked row and the threshold, and the first view.

// The part of the address after #: row=12&top=50, row=12&share=1 or row=12&score=2.5.
let written = "";
function writeAddress() {
  const parts = new URLSearchParams();
  if (state.picked !== null) parts.set("row", rows.number(state.picked));
  if (threshold.by !== "score" || threshold.value !== data.scores.threshold) parts.set(threshold.by, threshold.value);
  const text = `#${parts}`;
  if (text === location.hash) return;
  written = text;
  // A page in a frame may not be allowed to.
  try { history.replaceState(null, "", text); } catch { /* The address stays as it is. */ }
}

function readAddress(address = location.hash) {
  const parts = new URLSearchParams(address.slice(1));
  const by = ["top", "share", "score"].find((name) => Number.isFinite(parseFloat(parts.get(name))));
  if (by) changeThreshold({ by, value: parseFloat(parts.get(by)) });
  const i = parts.has("row") ? rows.find(Number(parts.get("row"))) : null;
  if (i !== null && i < rows.listed) {
    pick(i);
    const place = list.order.indexOf(i);
    if (place >= 0) bringIntoView(place);
  }
}

function changeThreshold(asked, source = null) {
  setThreshold(asked, source);
  if (wanted.flagged) listChanged();
  else { showGroups(); drawRows(true); }
  writeAddress();
}

function thresholdEvents() {
  byId("threshold").max = SLIDER;
  byId("threshold").addEventListener("input", (event) => changeThreshold({ by: "top", value: rowsAt(Number(event.target.value)) }));
  for (const by of ["top", "share", "score"]) {
    const field = byId(`threshold-${by}`);
    field.addEventListener("input", () => {
      const value = parseFloat(field.value);
      if (Number.isFinite(value)) changeThreshold({ by, value: by === "score" ? value : Math.max(0, value) }, field);
    });
    // What was typed gives way to what holds, also where rows of the same score make it more.
    field.addEventListener("change", () => setThreshold(threshold));
  }
}

function filterEvents() {
  let waitingSearch = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waitingSearch);
    waitingSearch = setTimeout(() => { wanted.text = byId("search").value; listChanged(); }, rows.listed > 5000 ? 150 : 0);
  });
  byId("flagged-only").addEventListener("change", (event) => { wanted.flagged = event.target.checked; listChanged(); });
  byId("mark-filter").addEventListener("change", (event) => { wanted.mark = event.target.value; listChanged(); });
  byId("label-filter").addEventListener("change", (event) => { wanted.label = event.target.value; listChanged(); });
  byId("label-filter").closest("label").hidden = !rows.hasLabels;
  byId("filter-column").append(...fields.filter((field) => field.key !== "mark").map((field) => element("option", { value: field.key }, cut(field.name, 40))));
  byId("filter-form").addEventListener("submit", (event) => { event.preventDefault(); addFilter(); });
  byId("chooser").addEventListener("toggle", showChooser);
  byId("chooser-search").addEventListener("input", showChooser);
  byId("chooser").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    byId("chooser").open = false;
    byId("chooser").querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", (event) => { if (!byId("chooser").contains(event.target)) byId("chooser").open = false; });
}

function rowEvents() {
  const grid = byId("list");
  grid.tBodies[0].addEventListener("click", (event) => {
    const line = event.target.closest("tr[data-index]");
    if (!line) return;
    pick(Number(line.dataset.index));
    grid.focus({ preventScroll: true });
  });
  grid.addEventListener("keydown", listKeys);
  pane().addEventListener("scroll", () => drawRows(), { passive: true });
  byId("mark-anomaly").addEventListener("click", () => toggleMark(state.picked, 1));
  byId("mark-ordinary").addEventListener("click", () => toggleMark(state.picked, 0));
  byId("comment").addEventListener("input", (event) => setMark(state.picked, { comment: event.target.value }));
  byId("comment").addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") grid.focus();
  });
  byId("hold").addEventListener("click", () => holdForComparison(state.picked));
  byId("compare-similar").addEventListener("click", () => {
    state.against = rows.wayOut(state.picked)?.similar ?? null;
    showComparison();
    byId("comparison").scrollIntoView({ block: "nearest" });
  });
  byId("end-comparison").addEventListener("click", () => { state.against = null; showComparison(); });
  byId("save-labels").addEventListener("click", saveLabels);
  byId("save-table").addEventListener("click", saveTable);
  byId("forget").addEventListener("click", () => { marks.clear(); memory.write([]); showMarks(); listChanged(); });
}

function pageEvents() {
  window.addEventListener("hashchange", () => { if (location.hash !== written) readAddress(); });
  let width = window.innerWidth, resizing = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      drawRows(true);
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      drawings.forEach((draw) => draw());
    }, 150);
  });
  // A printer sees the whole page at once, and the first rows.
  window.addEventListener("beforeprint", () => {
    [...waiting.keys()].forEach(drawWaiting);
    drawRows(true, [0, Math.min(25, list.order.length)]);
  });
  window.addEventListener("afterprint", () => drawRows(true));
}

// Picking the first row writes the address: what it was is read before that.
const asked = location.hash;
overview();
readMarks();
setThreshold(threshold);
listChanged();
thresholdEvents();
filterEvents();
rowEvents();
pageEvents();
showFilters();
showMarks();
importances();
ranking();
showTerms();
if (rows.listed) pick(0);
else byId("explained").hidden = true;
readAddress(asked);
