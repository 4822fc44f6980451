// Values under the pointer. A plot that has the focus is read with the arrow keys.

// `points` are places of the plot in pixels with a text each; `mark` is drawn where one is read.
function readable(figure, chart, points, { output = null } = {}) {
  if (!points.length) return;
  const line = svgElement("line", { class: "reading", y1: 0, y2: 0 });
  const dot = svgElement("circle", { class: "reading", r: 4 });
  const scale = chart.scale("y");
  line.setAttribute("y1", Math.min(...scale.range));
  line.setAttribute("y2", Math.max(...scale.range));
  chart.append(line, dot);
  const said = output ?? element("output", { class: "said" });
  if (!output) figure.append(said);
  let here = -1;
  const show = (index) => {
    here = index;
    const point = points[index];
    for (const mark of [line, dot]) mark.style.display = point ? "" : "none";
    said.textContent = point ? point.text : "";
    if (!point) return;
    line.setAttribute("x1", point.x);
    line.setAttribute("x2", point.x);
    dot.setAttribute("cx", point.x);
    dot.setAttribute("cy", point.y);
    if (!output) {
      const share = point.x / chart.viewBox.baseVal.width;
      said.style.left = share < 0.5 ? `${(100 * share).toFixed(1)}%` : "auto";
      said.style.right = share < 0.5 ? "auto" : `${(100 * (1 - share)).toFixed(1)}%`;
    }
  };
  show(-1);
  const nearest = (event) => {
    const box = chart.getBoundingClientRect();
    const zoom = chart.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom];
    let best = 0, least = Infinity;
    points.forEach((point, i) => {
      // Along a curve the height does not matter; among cells it does.
      const distance = Math.abs(point.x - x) + (point.cell ? Math.abs(point.y - y) : 0);
      if (distance < least) [least, best] = [distance, i];
    });
    return best;
  };
  chart.addEventListener("pointermove", (event) => show(nearest(event)));
  chart.addEventListener("pointerdown", (event) => show(nearest(event)));
  chart.addEventListener("pointerleave", () => show(-1));
  chart.addEventListener("blur", () => show(-1));
  chart.setAttribute("tabindex", "0");
  chart.setAttribute("focusable", "true");
  const across = points[0].cell ? points.filter((point) => point.x === points[0].x).length : 1;
  chart.addEventListener("keydown", (event) => {
    const last = points.length - 1;
    const moves = { ArrowRight: here < 0 ? 0 : here + across, ArrowLeft: here < 0 ? last : here - across, Home: 0, End: last };
    if (points[0].cell) Object.assign(moves, { ArrowUp: here + 1, ArrowDown: here - 1 });
    if (event.key === "Escape") show(-1);
    if (!(event.key in moves)) return;
    event.preventDefault();
    show(Math.max(0, Math.min(last, moves[event.key])));
  });
}
