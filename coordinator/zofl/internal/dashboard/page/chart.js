// A chart: lines by uPlot, with a legend that follows the cursor, a sentence that says what is
// drawn, and its numbers as a table, as CSV and as PNG.
/* global uPlot */
import { element, number, put, table as list, tick } from "./format.js";
import { picture, save } from "./save.js";
import { csv, ends, reach, span, steps, table, wholes } from "./series.js";

const style = () => getComputedStyle(document.documentElement);
let colors = {};

// color is a color of the theme.
function color(name) {
  if (!(name in colors)) colors[name] = style().getPropertyValue(name).trim();
  return colors[name];
}

const charts = new Set(); // on the page

// recolor draws all charts anew, in the theme's colors of now.
export function recolor() {
  colors = {};
  for (const chart of charts) chart.uplot?.redraw(true, true); // bars keep their color with their paths
}

const markColors = { bad: "--bad", warn: "--warn", info: "--muted" };

// kinds say how a line is drawn. A band is wide and pale, so that a line on it does not hide it.
const kinds = {
  line: { width: 2 }, thin: { width: 1.25 }, band: { width: 8, alpha: 0.38 },
  bars: { width: 0, fill: true },
};

export class Chart {
  // about: title, note, format of values, zero, whole numbers, wide, tall, best ("low", "high").
  constructor(about) {
    this.about = about;
    this.format = about.format || number;
    this.x = { format: number, label: "" };
    this.marks = [];
    this.lines = [];
    this.values = [];
    this.data = [[]];
    this.made = "";
    this.plot = element("div", { class: about.tall ? "plot tall" : "plot", role: "img" });
    this.empty = element("div", { class: "empty", text: "nothing yet" });
    this.plot.append(this.empty);
    this.says = element("p", { class: "says" });
    this.legend = element("div", { class: "legend" });
    this.numbers = element("div", { class: "numbers", tabindex: "0", role: "region",
      "aria-label": `${about.title} in numbers` });
    this.details = element("details", {}, element("summary", { text: "In numbers" }), this.numbers);
    this.details.addEventListener("toggle", () => this.#list());
    const button = (text, does) => element("button", { type: "button", class: "save", text,
      "aria-label": `${about.title} as ${text}`, title: `Save ${about.title} as ${text}`, onclick: does });
    this.root = element("figure", { class: about.wide ? "chart card wide" : "chart card" },
      element("figcaption", {}, element("h3", { text: about.title }), this.legend,
        about.note ? element("p", { class: "note", text: about.note }) : "", this.says),
      this.plot, element("div", { class: "foot" }, this.details,
        button("CSV", () => this.#csv()), button("PNG", () => this.#png())));
    this.seen = new ResizeObserver(() => this.#fit());
    this.seen.observe(this.plot);
    charts.add(this);
  }

  destroy() {
    charts.delete(this);
    this.seen.disconnect();
    this.uplot?.destroy();
    this.root.remove();
  }

  // show draws lines of {label, color, kind, dash, xs, ys}; marks are {x, kind, text}.
  show(lines, x, marks, logarithmic = false) {
    this.x = x;
    this.marks = marks;
    this.lines = lines;
    this.data = table(lines);
    this.logarithmic = logarithmic;
    const there = this.data[0].length > 0;
    this.empty.hidden = there;
    const made = there ? JSON.stringify([logarithmic, lines.map(l => [l.label, l.color, l.kind, l.dash, l.width])]) : "";
    if (made !== this.made) this.#remake(made);
    else if (there) this.uplot.setData(this.data);
    this.#tell();
    this.#list();
  }

  #remake(made) {
    this.made = made;
    this.uplot?.destroy();
    this.uplot = null;
    this.values = this.lines.map(() => element("b"));
    this.legend.replaceChildren(...this.lines.map((l, i) => {
      const key = element("i", { "data-kind": l.kind || "line", "data-dash": Boolean(l.dash) });
      key.style.color = `var(${l.color})`;
      return element("span", { hidden: l.quiet }, key, l.label, this.values[i]);
    }));
    if (made) this.#make();
  }

  #fit() {
    const { width, height } = this.plot.getBoundingClientRect();
    if (this.uplot && width > 0) this.uplot.setSize({ width: Math.floor(width), height: Math.floor(height) });
  }

  #make() {
    const { about } = this, box = this.plot.getBoundingClientRect();
    const axis = {
      stroke: () => color("--muted"), font: "11px system-ui, sans-serif",
      grid: { stroke: () => color("--grid"), width: 1 }, ticks: { show: false },
    };
    const write = tick(about.format), places = (u, values, at, space, step) =>
      values.map(v => v === null ? "" : write(v, step));
    this.uplot = new uPlot({
      width: Math.floor(box.width) || 300, height: Math.floor(box.height) || 190,
      legend: { show: false },
      cursor: { sync: { key: about.bars ? `bars-${about.title}` : "zofl" }, points: { size: 6 }, drag: { x: true, y: false } },
      padding: [8, 18, 0, 0],
      scales: {
        x: { time: false, range: (u, low, high) => about.bars ? about.bars() : reach(low, high) },
        y: this.logarithmic ? { distr: 3 } : { range: (u, low, high) => span(low, high, about.zero) },
      },
      axes: [
        { ...axis, size: 26, space: 60, values: (u, list) => list.map(v => this.x.format(v)),
          incrs: () => this.x.whole ? wholes : steps },
        { ...axis, size: 58, space: 34, incrs: about.whole ? wholes : steps,
          values: this.logarithmic ? (u, list) => list.map(v => v === null ? "" : this.format(v)) : places },
      ],
      series: [{}, ...this.lines.map(l => this.#series(l))],
      hooks: {
        drawAxes: [u => this.#drawMarks(u)],
        setCursor: [u => this.#values(u.cursor.idx)],
      },
    }, this.data, this.plot);
  }

  #series(l) {
    const kind = kinds[l.kind || "line"];
    return {
      label: l.label, stroke: () => color(l.color), width: l.width ?? kind.width, alpha: kind.alpha ?? 1, dash: l.dash,
      fill: kind.fill ? () => color(l.color) : undefined,
      paths: kind.fill ? uPlot.paths.bars({ size: [0.88, Infinity] }) : undefined,
      points: kind.fill || l.kind === "band" ? { show: false }
        : { show: (u, i) => this.data[i].filter(v => v !== null).length < 3, size: 6, fill: () => color(l.color) },
      spanGaps: true,
    };
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
    this.values.forEach((e, i) => {
      const column = this.data[i + 1] || [];
      let v = null;
      for (let j = at ?? column.length - 1; j >= 0 && (v === null || v === undefined); j--) v = column[j];
      put(e, v === null || v === undefined || this.about.bars ? "" : this.format(v));
    });
  }

  // tell says in a sentence what the chart shows, of what was measured and not of its smoothing.
  #tell() {
    this.#values(this.uplot?.cursor.idx ?? null);
    const text = this.about.says ? this.about.says() : this.#sentence();
    put(this.says, text);
    this.plot.setAttribute("aria-label", `${this.about.title}${text ? `, a curve: ${text}` : ": nothing yet"}`);
  }

  #sentence() {
    const high = this.about.best === "high", measured = this.lines.filter(l => l.kind !== "thin" && l.kind !== "band");
    const found = measured.map(l => ({ l, ...ends(l.ys, high) })).filter(f => f.last >= 0);
    if (!found.length) return "";
    const best = found.reduce((a, b) => (high ? b.l.ys[b.best] > a.l.ys[a.best] : b.l.ys[b.best] < a.l.ys[a.best]) ? b : a);
    const at = i => this.x.format(best.l.xs[i]), most = high ? "highest" : "lowest";
    if (best.l.run) return !this.about.best ? "" : `${most} ${this.format(best.l.ys[best.best])}: ${best.l.run} at ${this.x.label} ${at(best.best)}`;
    const { l, last } = found[0], low = ends(l.ys, high).best;
    return `${this.format(l.ys[last])} at ${this.x.label} ${this.x.format(l.xs[last])}, ` +
      `${most} ${this.format(l.ys[low])} at ${this.x.format(l.xs[low])}`;
  }

  // list writes at most 24 of the numbers into the table, if it is open.
  #list() {
    if (!this.details.open) return;
    const [xs] = this.data, rows = [], step = Math.max(1, Math.ceil(xs.length / 24));
    for (let i = xs.length - 1; i >= 0; i -= step) {
      rows.push([this.x.format(xs[i]), ...this.lines.map((_, s) => {
        const v = this.data[s + 1][i];
        return v === null || v === undefined ? "–" : this.format(v);
      })]);
    }
    const heads = [this.x.label, ...this.lines.map(l => l.label)];
    this.numbers.replaceChildren(list(heads, rows, heads.map((_, i) => i)));
  }

  #name(end) { return `${[document.body.dataset.run, this.about.title].filter(Boolean).join("-")}.${end}`.toLowerCase(); }

  #csv() {
    const heads = [this.x.label, ...this.lines.map(l => l.label)];
    save(new Blob([csv(heads, this.data)], { type: "text/csv" }), this.#name("csv"));
  }

  #png() {
    if (!this.uplot) return;
    picture(this.uplot.ctx.canvas, {
      title: this.about.title, says: this.says.textContent, name: this.#name("png"),
      keys: this.lines.filter(l => !l.quiet).map(l => ({ label: l.label, color: color(l.color) })),
      ground: color("--card"), text: color("--text"), muted: color("--muted"),
    });
  }
}
