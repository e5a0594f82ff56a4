// The charts of a run, over the axis that the reader chose.
import { Chart, recolor } from "./chart.js";
import { bytes, number, seconds } from "./format.js";
import { smoothed } from "./store.js";

const axes = {
  round: { label: "round", format: number },
  seconds: { label: "time", format: seconds },
  queries: { label: "query", format: number },
  bytes: { label: "bytes", format: bytes },
};

const two = (label, name) => [
  { label: "raw", color: "--raw", raw: true },
  { label, color: name },
];

const fixed = {
  loss: { title: "Loss", series: two("smoothed", "--series-1"), wide: true },
  participation: {
    title: "Participation", zero: true, whole: true, tall: true, series: [
      { label: "contributors", color: "--series-1" },
      { label: "asked", color: "--series-4", raw: true, dash: [4, 3] },
      { label: "late", color: "--series-2" },
      { label: "declined", color: "--series-3", raw: true },
    ],
  },
  took: { title: "Round time", zero: true, format: seconds, series: two("smoothed", "--series-2") },
  traffic: {
    title: "Bytes of a device a round", zero: true, format: bytes, series: [
      { label: "down", color: "--series-1" },
      { label: "up", color: "--series-2" },
    ],
  },
  refused: { title: "Refused messages a round", zero: true, whole: true, series: [{ label: "refused", color: "--series-2" }] },
  step: {
    title: "Step of a round", zero: true, series: [{ label: "round_step", color: "--series-4" }],
  },
  epsilon: { title: "Privacy spent (ε)", zero: true, series: [{ label: "ε", color: "--series-4" }] },
};

export class Curves {
  constructor(root, store) {
    this.root = root;
    this.store = store;
    this.axis = "round";
    this.weight = 0.9;
    this.logarithmic = false;
    this.charts = new Map();
  }

  // chart returns the chart of a name, and makes it where it belongs.
  #chart(name, about) {
    let chart = this.charts.get(name);
    if (!chart) {
      chart = new Chart(about);
      this.charts.set(name, chart);
      this.root.append(chart.root);
    }
    return chart;
  }

  clear() {
    for (const chart of this.charts.values()) chart.destroy();
    this.charts.clear();
  }

  recolor() {
    recolor();
    for (const chart of this.charts.values()) chart.redraw();
  }

  // places returns where each round is on the axis, and which rounds are shown: over rounds, one that
  // a rollback took back is not.
  #places() {
    const r = this.store.rounds, xs = [], shown = [];
    let sum = 0;
    for (let i = 0; i < r.n.length; i++) {
      sum += (r.up[i] + r.down[i]) * Math.max(1, i > 0 ? r.round[i] - r.round[i - 1] : 1);
      const x = this.axis === "round" ? r.round[i] : this.axis === "seconds" ? r.time[i] - r.time[0]
        : this.axis === "queries" ? r.queries[i] : sum;
      while (xs.length > 0 && xs[xs.length - 1] >= x) { xs.pop(); shown.pop(); }
      xs.push(x);
      shown.push(i);
    }
    return { xs, shown };
  }

  draw() {
    const { store } = this, r = store.rounds, x = axes[this.axis];
    const { xs, shown } = this.#places();
    const pick = column => shown.map(i => r[column][i]);
    const both = values => [xs, values, smoothed(values, this.weight)];
    const records = shown.map(i => r.n[i]);
    const marks = [];
    for (const m of store.marks) {
      if (!m.chart) continue;
      const at = place(records, m.n);
      if (at < xs.length) marks.push({ x: xs[at], kind: m.level, text: m.text });
      else if (xs.length) marks.push({ x: xs[xs.length - 1], kind: m.level, text: m.text });
    }
    const show = (name, data, about = fixed[name], log = false) =>
      this.#chart(name, about).show(data, x, marks, log);

    const losses = pick("loss");
    const positive = losses.every(v => v === null || v > 0);
    show("loss", both(losses), fixed.loss, this.logarithmic && positive);
    show("participation", [xs, pick("contributors"), pick("asked").map(v => v || null), pick("late"),
      pick("declines")]);
    for (const name of store.metrics()) this.#metric(name, xs, records, x, marks);
    show("took", both(pick("seconds")));
    show("traffic", [xs, pick("down"), pick("up")]);
    show("step", [xs, pick("round_step")]);
    show("refused", [xs, pick("refused")]);
    const spent = pick("epsilon");
    if (spent.some(v => v > 0)) show("epsilon", [xs, spent]);
  }

  #metric(name, xs, records, x, marks) {
    const px = [], ys = [];
    for (const e of [...this.store.evaluations.values()].sort((a, b) => a.n - b.n)) {
      const v = e.metrics[name];
      if (v === undefined || v === null || !xs.length) continue;
      const at = Math.min(place(records, e.n), xs.length - 1);
      if (px.length && px[px.length - 1] >= xs[at]) { px.pop(); ys.pop(); }
      px.push(xs[at]);
      ys.push(v);
    }
    const best = /loss|error|perplexity/i.test(name) ? "low" : "high";
    const series = [{ label: name, color: "--series-3" }]; // a mean already
    this.#chart("metric " + name, { title: `Metric: ${name}`, best, series }).show([px, ys], x, marks);
  }
}

// place is the index of the first record that is at least n.
function place(records, n) {
  let low = 0, high = records.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (records[middle] < n) low = middle + 1;
    else high = middle;
  }
  return low;
}
