// What the page knows of a run: rounds by columns, evaluations, marks, status, plan.

// mostRounds bounds the rounds that the page keeps. Beyond it, every second one of the older half
// is dropped.
const mostRounds = 20000;

const columns = ["n", "round", "time", "loss", "seconds", "contributors", "asked", "late",
  "declines", "up", "down", "queries", "step", "round_step", "perturbations", "epsilon",
  "refused", "too_late"];

export class Store {
  constructor() { this.clear(); }

  clear() {
    this.rounds = Object.fromEntries(columns.map(c => [c, []]));
    this.evaluations = new Map(); // by record
    this.reported = new Map(); // by record: numbers of the apps' own, by name
    this.marks = [];
    this.status = null;
    this.plan = null;
    this.fleet = null;
  }

  // take adds what an event brings. A snapshot begins anew.
  take(name, data) {
    if (name === "snapshot") this.clear();
    if (data.status) this.status = data.status;
    if (data.plan) this.plan = data.plan;
    if (data.fleet) this.fleet = data.fleet;
    if (data.rounds) this.#addRounds(data.rounds);
    for (const e of data.evaluations || []) this.evaluations.set(e.n, e);
    for (const r of data.reported || []) this.reported.set(r.n, r);
    if (data.marks) {
      // What came while the snapshot was made is in it, and comes again.
      const last = new Set(this.marks.slice(-100).map(m => m.time + m.text));
      this.marks.push(...data.marks.filter(m => !last.has(m.time + m.text)));
      if (this.marks.length > 1000) this.marks = this.marks.slice(-800);
    }
  }

  #addRounds(more) {
    const mine = this.rounds, count = more.n.length;
    for (let i = 0; i < count; i++) {
      let at = mine.n.length;
      while (at > 0 && mine.n[at - 1] > more.n[i]) at--;
      const same = at > 0 && mine.n[at - 1] === more.n[i];
      for (const c of columns) {
        const value = more[c] ? more[c][i] : null;
        if (same) mine[c][at - 1] = value;
        else if (at === mine[c].length) mine[c].push(value);
        else mine[c].splice(at, 0, value);
      }
    }
    if (mine.n.length > mostRounds) {
      const half = mine.n.length >> 1;
      for (const c of columns) mine[c] = mine[c].filter((_, i) => i >= half || i % 2 === 0);
    }
  }

  get length() { return this.rounds.n.length; }

  // last is the last value of a column, or null.
  last(column) {
    const values = this.rounds[column];
    return values.length ? values[values.length - 1] : null;
  }

  // metrics are the names of what devices evaluate.
  metrics() {
    const names = new Set(this.plan?.metrics || []);
    for (const e of this.evaluations.values()) for (const m in e.metrics) names.add(m);
    return [...names].slice(0, 12);
  }

  // evaluated are the values of a metric by record, ascending.
  evaluated(name) {
    return ascending(this.evaluations).map(e => [e.n, e.metrics[name]]);
  }

  // reports are the names of what apps report.
  reports() {
    const names = new Set();
    for (const r of this.reported.values()) for (const name in r.values) names.add(name);
    return [...names].sort();
  }

  // heard are the values of what apps report by record, ascending: of is median, min or max.
  heard(name, of) {
    return ascending(this.reported).map(r => [r.n, r.values[name]?.[of]]);
  }

  // rate is how many rounds a second there were lately; 0: unknown.
  rate() {
    const { time, round } = this.rounds, end = time.length - 1, from = Math.max(0, end - 30);
    const took = (time[end] - time[from]), rounds = round[end] - round[from];
    return took > 0 && rounds > 0 ? rounds / took : 0;
  }
}

const ascending = map => [...map.values()].sort((a, b) => a.n - b.n);
