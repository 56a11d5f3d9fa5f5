// Plugins for Chart.js: limits, annotations, and zooming by dragging. Colours come from the plot.

/** Dashed lines at a service level, each with its words at the left edge. */
export const limits = {
  id: "limits",
  afterDatasetsDraw(chart, _given, options) {
    const { ctx, chartArea: area, scales } = chart;
    ctx.save();
    ctx.font = "11px Inter, sans-serif";
    for (const { value, name, colour } of options.lines ?? []) {
      const y = scales.y.getPixelForValue(value);
      if (y < area.top || y > area.bottom) continue;
      ctx.strokeStyle = ctx.fillStyle = colour;
      ctx.setLineDash([2, 4]);
      ctx.beginPath();
      ctx.moveTo(area.left, y);
      ctx.lineTo(area.right, y);
      ctx.stroke();
      ctx.fillText(name, area.left + 4, y - area.top < 16 ? y + 12 : y - 4);
    }
    ctx.restore();
  },
};

const LETTERS = { deploy: "D", template: "T", breaker: "B", switch: "H", settings: "S" };

/** A vertical line for each change, with the letter of its kind on top. */
export const annotations = {
  id: "annotations",
  afterDatasetsDraw(chart, _given, options) {
    const { ctx, chartArea: area, scales } = chart;
    let last = -Infinity;
    ctx.save();
    ctx.font = "bold 10px Inter, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const { at, kind } of options.lines ?? []) {
      const x = scales.x.getPixelForValue(at);
      if (x < area.left || x > area.right) continue;
      ctx.strokeStyle = options.colour;
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(x, area.top);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
      if (x - last < 14) continue; // badges side by side, not on each other
      last = x;
      ctx.fillStyle = options.colour;
      ctx.beginPath();
      ctx.roundRect(x - 7, area.top - 15, 14, 14, 3);
      ctx.fill();
      ctx.fillStyle = options.paper;
      ctx.fillText(LETTERS[kind] ?? "•", x, area.top - 7.5);
    }
    ctx.restore();
  },
};

const SHORTEST_DRAG = 8; // pixels; below, the gesture is a click

/** Call `select(since, until)` after a drag over the plot. */
export function dragging(canvas, chartOf, select) {
  let from = null;
  let to = null;

  const inside = (event) => {
    const { left, right } = chartOf().chartArea;
    const x = event.clientX - canvas.getBoundingClientRect().left;
    return Math.min(Math.max(x, left), right);
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !chartOf()) return;
    from = to = inside(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from === null) return;
    to = inside(event);
    chartOf().draw();
  });
  const end = (event) => {
    if (from === null) return;
    const scale = chartOf().scales.x;
    const [left, right] = [Math.min(from, to), Math.max(from, to)];
    from = to = null;
    chartOf().draw();
    if (event.type === "pointerup" && right - left >= SHORTEST_DRAG) {
      select(scale.getValueForPixel(left), scale.getValueForPixel(right));
    }
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);

  return {
    id: "dragging",
    afterDraw(chart, _given, options) {
      if (from === null || from === to) return;
      const { ctx, chartArea: area } = chart;
      ctx.save();
      ctx.globalAlpha = 0.2;
      ctx.fillStyle = options.colour;
      ctx.fillRect(Math.min(from, to), area.top, Math.abs(to - from), area.height);
      ctx.restore();
    },
  };
}

/** A fill of slanted lines, so that a colour is not the only difference. */
export function hatched(colour, paper) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const ctx = tile.getContext("2d");
  ctx.fillStyle = colour;
  ctx.fillRect(0, 0, 6, 6);
  ctx.strokeStyle = paper;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (const offset of [-6, 0, 6]) {
    ctx.moveTo(offset, 6);
    ctx.lineTo(offset + 6, 0);
  }
  ctx.stroke();
  return ctx.createPattern(tile, "repeat");
}
