// A chart: curves by uPlot, with a legend that follows the cursor, a sentence that says what is
// drawn, and its numbers as a table.
/* global uPlot */
import { element, number, put, table } from "./format.js";

const style = () => getComputedStyle(document.documentElement);
let colors = {};

// color is a color of the theme.
function color(name) {
  if (!(name in colors)) colors[name] = style().getPropertyValue(name).trim();
  return colors[name];
}

// recolor forgets the theme's colors.
export function recolor() { colors = {}; }

// wholes are the steps of an axis of counts.
const wholes = Array.from({ length: 10 }, (_, i) => [1, 2, 5].map(m => m * 10 ** i)).flat();

const markColors = { bad: "--bad", warn: "--warn", info: "--muted" };

export class Chart {
  // about: title, series of {label, color, raw, dash}, format of values, whole numbers, wide, tall.
  constructor(about) {
    this.about = about;
    this.x = { format: number, label: "" };
    this.marks = [];
    this.data = null;
    this.plot = element("div", { class: about.tall ? "plot tall" : "plot", role: "img" });
    this.empty = element("div", { class: "empty", text: "nothing yet" });
    this.plot.append(this.empty);
    this.says = element("p", { class: "says" });
    this.values = about.series.map(() => element("b"));
    const legend = about.series.map((s, i) => {
      const key = element("i");
      key.style.color = `var(${s.color})`;
      return element("span", {}, key, s.label, this.values[i]);
    });
    this.numbers = element("div", { class: "numbers", tabindex: "0", role: "region",
      "aria-label": `${about.title} in numbers` });
    this.details = element("details", {}, element("summary", { text: "In numbers" }), this.numbers);
    this.details.addEventListener("toggle", () => this.#list());
    this.root = element("figure", { class: about.wide ? "chart card wide" : "chart card" },
      element("figcaption", {}, element("h3", { text: about.title }),
        element("div", { class: "legend" }, ...legend), this.says),
      this.plot, this.details);
    this.seen = new ResizeObserver(() => this.#fit());
    this.seen.observe(this.plot);
  }

  destroy() {
    this.seen.disconnect();
    this.uplot?.destroy();
    this.root.remove();
  }

  // show draws data: x first, then the series. marks are {x, kind, text}.
  show(data, x, marks, logarithmic = false) {
    this.x = x;
    this.marks = marks;
    this.data = data;
    const there = data[0].length > 0;
    this.empty.hidden = there;
    if (this.uplot && this.logarithmic !== logarithmic) {
      this.uplot.destroy();
      this.uplot = null;
    }
    this.logarithmic = logarithmic;
    if (there && !this.uplot) this.#make();
    else if (there) this.uplot.setData(data);
    else if (this.uplot) { this.uplot.destroy(); this.uplot = null; }
    this.#tell();
    this.#list();
  }

  redraw() { this.uplot?.redraw(false, true); }

  #fit() {
    const { width, height } = this.plot.getBoundingClientRect();
    if (this.uplot && width > 0) this.uplot.setSize({ width: Math.floor(width), height: Math.floor(height) });
  }

  #make() {
    const box = this.plot.getBoundingClientRect();
    const axis = {
      stroke: () => color("--muted"), font: "11px system-ui, sans-serif",
      grid: { stroke: () => color("--grid"), width: 1 }, ticks: { show: false },
    };
    const format = this.about.format || number;
    this.uplot = new uPlot({
      width: Math.floor(box.width) || 300, height: Math.floor(box.height) || 190,
      legend: { show: false },
      cursor: { sync: { key: "zofl" }, points: { size: 6 }, drag: { x: true, y: false } },
      padding: [8, 18, 0, 0],
      scales: {
        x: { time: false },
        y: this.logarithmic ? { distr: 3 } : { range: (u, low, high) => span(low, high, this.about.zero) },
      },
      axes: [
        { ...axis, size: 26, values: (u, list) => list.map(v => this.x.format(v)), space: 60 },
        { ...axis, size: 58, values: (u, list) => list.map(v => v === null ? "" : format(v)), space: 34,
          ...(this.about.whole && { incrs: wholes }) },
      ],
      series: [{}, ...this.about.series.map(s => ({
        label: s.label, stroke: () => color(s.color), width: s.raw ? 1 : 2, dash: s.dash,
        points: { show: (u, i) => this.data[i].filter(v => v !== null).length < 3, size: 5,
          fill: () => color(s.color) },
        spanGaps: true,
      }))],
      hooks: {
        drawAxes: [u => this.#drawMarks(u)],
        setCursor: [u => this.#values(u.cursor.idx)],
      },
    }, this.data, this.plot);
  }

  #drawMarks(u) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    for (const m of this.marks) {
      const x = Math.round(u.valToPos(m.x, "x", true));
      if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
      ctx.strokeStyle = color(markColors[m.kind] || markColors.info);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  // values shows those at an index in the legend; without one, the last.
  #values(at) {
    const format = this.about.format || number;
    this.values.forEach((e, i) => {
      const column = this.data ? this.data[i + 1] : [];
      let v = null;
      for (let j = at ?? column.length - 1; j >= 0 && v === null; j--) v = column[j];
      put(e, v === null || v === undefined ? "" : format(v));
    });
  }

  // tell says in a sentence what the chart shows.
  #tell() {
    this.#values(this.uplot?.cursor.idx ?? null);
    const format = this.about.format || number;
    const main = this.about.series.findIndex(s => !s.raw);
    const [xs] = this.data, column = this.data[main + 1] || [];
    let low = -1, last = -1;
    for (let i = 0; i < column.length; i++) {
      if (column[i] === null || column[i] === undefined) continue;
      last = i;
      if (low < 0 || this.about.best === "high" ? column[i] > (column[low] ?? -Infinity) : column[i] < column[low]) low = i;
    }
    if (last < 0) {
      put(this.says, "");
      this.plot.setAttribute("aria-label", `${this.about.title}: nothing yet`);
      return;
    }
    const best = this.about.best === "high" ? "highest" : "lowest";
    const text = `${format(column[last])} at ${this.x.label} ${this.x.format(xs[last])}, ` +
      `${best} ${format(column[low])} at ${this.x.format(xs[low])}`;
    put(this.says, text);
    this.plot.setAttribute("aria-label", `${this.about.title}, a curve: ${text}`);
  }

  // list writes at most 24 of the numbers into the table, if it is open.
  #list() {
    if (!this.details.open || !this.data) return;
    const [xs] = this.data, format = this.about.format || number, rows = [];
    const step = Math.max(1, Math.ceil(xs.length / 24));
    for (let i = xs.length - 1; i >= 0; i -= step) {
      rows.push([this.x.format(xs[i]), ...this.about.series.map((_, s) => {
        const v = this.data[s + 1][i];
        return v === null || v === undefined ? "–" : format(v);
      })]);
    }
    const heads = [this.x.label, ...this.about.series.map(s => s.label)];
    this.numbers.replaceChildren(table(heads, rows, heads.map((_, i) => i)));
  }
}

// span is the range of an axis: from zero if asked, else with some room.
function span(low, high, zero) {
  if (low === null || high === null) return [0, 1];
  if (zero) low = Math.min(0, low);
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [zero && low === 0 ? 0 : low - room, high + room];
}
