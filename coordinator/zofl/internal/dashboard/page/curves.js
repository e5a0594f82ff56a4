// The charts of runs, over the axis that the reader chose, in groups: what the training sees, what
// devices measure of the model, what the app reports, and what rounds cost.
import { Chart } from "./chart.js";
import { bytes, element, number, seconds } from "./format.js";
import { along, place, places, smoothed } from "./series.js";

const axes = {
  round: { label: "round", format: number, whole: true },
  seconds: { label: "time", format: seconds },
  queries: { label: "query", format: number, whole: true },
  bytes: { label: "bytes", format: bytes, whole: true },
};

const groups = [
  ["training", "Training", ""],
  ["metrics", "Held-out metrics", "Devices evaluate the model with data that they do not train on."],
  ["reported", "Reported by the app", "Numbers of the app's own: the median over its devices, the least and the greatest."],
  ["rounds", "Rounds", ""],
];

const one = (label, column, color, more) => ({ label, column, color, ...more });

// fixed are the charts of a round. Of several runs a chart shows the first line alone.
const fixed = {
  loss: {
    group: "training", title: "Training loss", wide: true, tall: true, smooth: true, best: "low",
    note: "Weighted mean of the contributors' losses.", lines: [one("raw", "loss", "--run-1")],
  },
  step: {
    group: "training", title: "Step of a round", zero: true, tall: true,
    lines: [one("round_step", "round_step", "--series-4")],
  },
  participation: {
    group: "rounds", title: "Participation", zero: true, whole: true, lines: [
      one("contributors", "contributors", "--series-1"),
      one("asked", "asked", "--series-4", { kind: "band", gap: true }),
      one("late", "late", "--series-2", { kind: "band" }),
      one("declined", "declines", "--series-3", { dash: [5, 4] }),
    ],
  },
  took: {
    group: "rounds", title: "Round time", zero: true, format: seconds, smooth: true,
    lines: [one("raw", "seconds", "--series-2")],
  },
  traffic: {
    group: "rounds", title: "Bytes of a device a round", zero: true, whole: true, format: bytes,
    lines: [one("down", "down", "--series-1"), one("up", "up", "--series-2")],
  },
  refused: {
    group: "rounds", title: "Late and refused messages", zero: true, whole: true, lines: [
      one("too late", "too_late", "--series-4"),
      one("refused", "refused", "--series-2"),
    ],
  },
  epsilon: {
    group: "rounds", title: "Privacy spent (ε)", zero: true, optional: true,
    lines: [one("ε", "epsilon", "--series-4")],
  },
};

export class Curves {
  constructor(root) {
    this.root = root;
    this.runs = []; // {name, color, dash, store} of the chosen ones
    this.axis = "round";
    this.weight = 0.6;
    this.logarithmic = false;
    this.charts = new Map();
    this.groups = new Map(groups.map(([key, title, note]) => [key, this.#group(key, title, note)]));
  }

  #group(key, title, note) {
    const box = element("div", { class: "charts" });
    const root = element("section", { id: key, "aria-labelledby": `${key}-title`, hidden: true },
      element("div", { class: "bar" }, element("h2", { id: `${key}-title`, text: title }),
        element("p", { class: "muted small grow", text: note })), box);
    this.root.append(root);
    return { root, box };
  }

  // chart returns the chart of a name, and makes it where it belongs.
  #chart(name, group, about) {
    let chart = this.charts.get(name);
    if (!chart) {
      chart = new Chart(about);
      chart.group = group;
      this.charts.set(name, chart);
      this.groups.get(group).box.append(chart.root);
      this.groups.get(group).root.hidden = false;
    }
    this.drawn.add(name);
    return chart;
  }

  draw() {
    this.drawn = new Set();
    const x = axes[this.axis], several = this.runs.length > 1;
    const placed = this.runs.map(run => {
      const { xs, shown } = places(run.store.rounds, this.axis);
      return { run, xs, shown, records: shown.map(i => run.store.rounds.n[i]) };
    });
    const marks = several || !placed.length ? [] : marksOf(placed[0]);
    for (const [name, about] of Object.entries(fixed)) {
      const lines = this.#fixed(about, placed, several);
      if (about.optional && !lines.some(l => l.ys.some(v => v > 0))) continue;
      const positive = lines.every(l => l.ys.every(v => v === null || v > 0));
      this.#chart(name, about.group, about).show(lines, x, marks, name === "loss" && this.logarithmic && positive);
    }
    const draw = (group, about, name, pairs) => this.#measured(group, about, name, pairs, placed, x, marks);
    for (const name of names(placed, store => store.metrics())) {
      const best = /loss|error|perplexity|mse|mae|rmse/i.test(name) ? "low" : "high";
      draw("metrics", { title: `Held-out ${name}`, best }, name, [[name, store => store.evaluated(name)]]);
    }
    for (const name of names(placed, store => store.reports())) {
      draw("reported", { title: name, best: "high" }, name, ["median", "min", "max"].map(of =>
        [of, store => store.heard(name, of)]));
    }
    this.#sweep();
  }

  // fixed returns the lines of a chart: of one run all, of several the first of each.
  #fixed(about, placed, several) {
    const lines = [];
    for (const { run, xs, shown } of placed) {
      for (const l of several ? about.lines.slice(0, 1) : about.lines) {
        const ys = shown.map(i => l.gap ? run.store.rounds[l.column][i] || null : run.store.rounds[l.column][i]);
        const label = several ? run.name : l.label;
        const color = several ? run.color : l.color, dash = several ? run.dash : l.dash;
        lines.push({ ...l, label, color, dash, width: width(placed, run), xs, ys, run: several ? run.name : "" });
        if (about.smooth && this.weight > 0) {
          lines.push({ label: `${several ? `${run.name}, ` : ""}smoothed ${this.weight}`, kind: "thin", quiet: several,
            color: `${color}-thin`, xs, ys: smoothed(ys, this.weight) });
        }
      }
    }
    return lines.sort((a, b) => (b.kind === "band") - (a.kind === "band")); // bands are behind lines
  }

  // measured draws what belongs to records: of one run all of parts, of several the first of each.
  #measured(group, about, name, parts, placed, x, marks) {
    const several = placed.length > 1, lines = [];
    for (const { run, xs, records } of placed) {
      for (const [label, pairs] of several ? parts.slice(0, 1) : parts) {
        const [px, ys] = along(pairs(run.store), xs, records);
        if (several && !px.length) continue;
        lines.push(several ? { label: run.name, run: run.name, color: run.color, dash: run.dash, width: width(placed, run), xs: px, ys }
          : { label, color: label === parts[0][0] ? "--series-3" : "--muted", kind: label === parts[0][0] ? "line" : "thin",
            xs: px, ys });
      }
    }
    this.#chart(`${group} ${name}`, group, about).show(lines, x, marks);
  }

  // sweep removes charts that no run needs any more.
  #sweep() {
    for (const [name, chart] of this.charts) {
      if (this.drawn.has(name)) continue;
      chart.destroy();
      this.charts.delete(name);
    }
    for (const { root, box } of this.groups.values()) root.hidden = !box.childElementCount;
  }
}

// marksOf returns the events of a run where they are on the axis.
function marksOf({ run, xs, records }) {
  return !xs.length ? [] : run.store.marks.filter(m => m.chart).map(m =>
    ({ x: xs[Math.min(place(records, m.n), xs.length - 1)], kind: m.level, text: m.text }));
}

// names are those that a list of runs has, at most as many as a page can show.
function names(placed, of) { return [...new Set(placed.flatMap(p => of(p.run.store)))].slice(0, 32); }

// width is that of a run's line. The first lines are wider, so that the last ones do not hide them.
function width(placed, run) {
  const after = placed.length - 1 - placed.findIndex(p => p.run === run);
  return after ? 2 + Math.min(1.5, 3 / (placed.length - 1)) * after : undefined;
}
