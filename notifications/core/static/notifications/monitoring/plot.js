// One plot: the chart, the legend with numbers, and the same numbers as a table.
/* global Chart */

import { annotations, dragging, hatched, limits } from "./drawings.js";
import { words } from "./numbers.js";
import { instant, tick, ticks } from "./range.js";

const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
const POINTS = ["circle", "rect", "triangle", "rectRot"];

export class Plot {
  constructor(frame, zoom) {
    this.frame = frame;
    this.canvas = frame.querySelector("canvas");
    this.legend = frame.querySelector(".nc-series");
    this.table = frame.querySelector("details table");
    this.details = frame.querySelector("details");
    this.hidden = new Set();
    this.chart = null;
    this.drag = dragging(this.canvas, () => this.chart, zoom);
    this.details.addEventListener("toggle", () => this.fillTable());
  }

  /** Draw `data`, a plot of the server's answer, within `range`. */
  draw(data, range, lines) {
    Object.assign(this, { data, range, lines });
    const isEmpty = data.series.every((series) => series.values.every((value) => !value));
    this.frame.toggleAttribute("data-empty", isEmpty);
    this.frame.setAttribute("aria-busy", "false");
    this.canvas.setAttribute("aria-label", this.summary(isEmpty));
    this.redraw();
    this.fillLegend();
    this.fillTable();
  }

  /** Draw the same figures again, for example in the colours of another theme. */
  redraw() {
    if (!this.data) return;
    const style = getComputedStyle(this.frame);
    this.colour = (name) => style.getPropertyValue(`--plot-${name}`).trim();
    const config = this.config();
    if (this.chart && this.chart.config.type === config.type) {
      this.chart.data = config.data;
      this.chart.options = config.options;
      this.chart.update("none");
    } else {
      this.chart?.destroy();
      this.chart = new Chart(this.canvas, config);
    }
  }

  config() {
    const { data } = this;
    const datasets = data.series.map((series, index) => this.dataset(series, index));
    return { type: data.type, data: { datasets }, options: this.options(), plugins: this.plugins() };
  }

  plugins() {
    return [limits, annotations, this.drag];
  }

  dataset(series, index) {
    const colour = this.colour(series.colour);
    const half = this.data.type === "bar" ? this.data.step / 2 : 0;
    const points = this.data.at.map((at, place) => ({ x: at + half, y: series.values[place] }));
    const isAlone = ({ dataIndex: place }) =>
      series.values[place - 1] == null && series.values[place + 1] == null;
    const fill = series.hatched ? hatched(colour, this.colour("paper")) : colour;
    return {
      label: series.name,
      data: points,
      hidden: this.hidden.has(series.name),
      parsing: false,
      borderColor: colour,
      backgroundColor: this.data.type === "bar" ? fill : colour,
      hoverBackgroundColor: this.data.type === "bar" ? fill : colour,
      hoverBorderColor: colour,
      borderDash: DASHES[index % DASHES.length],
      borderWidth: this.data.type === "bar" ? 0 : 2,
      pointStyle: POINTS[index % POINTS.length],
      pointRadius: (context) => (isAlone(context) ? 3 : 0),
      pointHoverRadius: 4,
      barPercentage: 1,
      categoryPercentage: 0.85,
      stack: "all",
    };
  }

  options() {
    const { data, range } = this;
    const [text, grid, mark] = ["text", "grid", "annotation"].map(this.colour);
    const span = range.until - range.since;
    const count = Math.max(2, Math.floor(this.canvas.clientWidth / 90));
    const isBar = data.type === "bar";
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      layout: { padding: { top: 18, right: 4 } },
      interaction: { mode: "index", intersect: false, axis: "x" },
      scales: {
        x: {
          type: "linear",
          min: range.since,
          max: range.until,
          offset: false,
          grid: { display: false },
          border: { color: grid },
          ticks: { color: text, maxRotation: 0, callback: (at) => tick(at, span) },
          afterBuildTicks: (axis) => {
            axis.ticks = ticks(range.since, range.until, count).map((value) => ({ value }));
          },
        },
        y: {
          type: data.logarithmic ? "logarithmic" : "linear",
          stacked: isBar,
          beginAtZero: !data.logarithmic,
          suggestedMax: data.unit === "count" ? 4 : undefined,
          max: data.unit === "share" && isBar ? 1 : undefined,
          grid: { color: grid, drawTicks: false },
          border: { display: false },
          ticks: {
            color: text,
            padding: 6,
            maxTicksLimit: 6,
            precision: data.unit === "count" ? 0 : undefined,
            callback: (value) => this.yTick(value),
          },
        },
      },
      plugins: {
        legend: { display: false },
        tooltip: this.tooltip(span),
        limits: { lines: this.limitLines() },
        annotations: { lines: this.lines, colour: mark, paper: this.colour("paper") },
        dragging: { colour: mark },
      },
    };
  }

  yTick(value) {
    if (this.data.logarithmic && !Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6)) return "";
    return words(value, this.data.unit, { short: true });
  }

  limitLines() {
    return (this.data.limits ?? []).map((limit) => ({ ...limit, colour: this.colour(limit.colour) }));
  }

  tooltip(span) {
    const { data } = this;
    return {
      backgroundColor: this.colour("tooltip"),
      titleColor: this.colour("tooltip-text"),
      bodyColor: this.colour("tooltip-text"),
      footerColor: this.colour("tooltip-text"),
      usePointStyle: true,
      filter: (item) => item.raw.y !== null && (data.type !== "bar" || item.raw.y !== 0),
      callbacks: {
        title: ([item]) => (item ? `${instant(data.at[item.dataIndex], span)} UTC` : ""),
        label: (item) => ` ${item.dataset.label}: ${words(item.raw.y, data.unit)}`,
        footer: ([item]) => (item ? this.changesNear(data.at[item.dataIndex]) : ""),
      },
    };
  }

  changesNear(at) {
    const near = this.lines.filter((line) => line.at >= at && line.at < at + this.data.step);
    return near.slice(0, 4).map((line) => line.label);
  }

  total(series) {
    const values = series.values.filter((value) => value !== null);
    if (!values.length) return null;
    if (this.data.total === "sum") return values.reduce((sum, value) => sum + value, 0);
    return values.at(-1);
  }

  summary(isEmpty) {
    const title = this.frame.querySelector("h2").firstChild.textContent.trim();
    if (isEmpty) return `${title}: no values in this time.`;
    const kind = this.data.total === "sum" ? "in all" : "last";
    const parts = this.data.series.map(
      (series) => `${series.name} ${words(this.total(series), this.data.unit)}`,
    );
    return `${title}, ${kind}: ${parts.join(", ")}. The table below has the numbers.`;
  }

  fillLegend() {
    const items = this.data.series.map((series, index) => {
      const button = document.createElement("button");
      const swatch = document.createElement("span");
      const value = document.createElement("b");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!this.hidden.has(series.name)));
      swatch.className = `nc-swatch nc-swatch-${this.data.type}`;
      swatch.dataset.dash = this.data.type === "bar" ? Number(Boolean(series.hatched)) : index % DASHES.length;
      swatch.style.setProperty("--swatch", `var(--plot-${series.colour})`);
      value.textContent = words(this.total(series), this.data.unit, { short: true });
      button.append(swatch, series.name, " ", value);
      button.addEventListener("click", () => this.toggle(series.name));
      const item = document.createElement("li");
      item.append(button);
      return item;
    });
    const focused = [...this.legend.querySelectorAll("button")].indexOf(document.activeElement);
    this.legend.replaceChildren(...items);
    if (focused >= 0) this.legend.querySelectorAll("button")[focused]?.focus();
  }

  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.redraw();
    this.fillLegend();
  }

  fillTable() {
    if (!this.details.open || !this.data) return;
    const { data, range } = this;
    const span = range.until - range.since;
    const head = row("th", ["Time (UTC)", ...data.series.map((series) => series.name)]);
    const rows = data.at.map((at, place) => [at, data.series.map((series) => series.values[place])]);
    const filled = rows.filter(([, values]) => values.some((value) => value));
    const lines = filled.map(([at, values]) =>
      row("td", [instant(at, span), ...values.map((value) => words(value, data.unit))]),
    );
    if (!lines.length) lines.push(row("td", ["No values in this time."]));
    this.table.replaceChildren(head, ...lines.reverse());
  }
}

function row(tag, texts) {
  const line = document.createElement("tr");
  for (const text of texts) {
    const cell = document.createElement(tag);
    if (tag === "th") cell.scope = "col";
    cell.textContent = text;
    line.append(cell);
  }
  return line;
}
