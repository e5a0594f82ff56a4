// What charts draw, as plain numbers: no document, no theme. The checks run this file in Node.

// smoothed is the exponential mean of a column, without the bias of its beginning. Gaps stay gaps.
export function smoothed(values, weight) {
  if (!weight) return values;
  let mean = 0, total = 0;
  return values.map(v => {
    if (v === null || v === undefined || !Number.isFinite(v)) return null;
    mean = weight * mean + (1 - weight) * v;
    total = weight * total + (1 - weight);
    return mean / total;
  });
}

// places returns where each round is on an axis, and which rounds are shown: over rounds, one that a
// rollback took back is not.
export function places(rounds, axis) {
  const r = rounds, xs = [], shown = [];
  let sum = 0;
  for (let i = 0; i < r.n.length; i++) {
    sum += (r.up[i] + r.down[i]) * Math.max(1, i > 0 ? r.round[i] - r.round[i - 1] : 1);
    const x = axis === "round" ? r.round[i] : axis === "seconds" ? r.time[i] - r.time[0]
      : axis === "queries" ? r.queries[i] : sum;
    while (xs.length > 0 && xs[xs.length - 1] >= x) { xs.pop(); shown.pop(); }
    xs.push(x);
    shown.push(i);
  }
  return { xs, shown };
}

// place is the index of the first record that is at least n.
export function place(records, n) {
  let low = 0, high = records.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (records[middle] < n) low = middle + 1;
    else high = middle;
  }
  return low;
}

// along puts values that belong to records, as [n, value], on an axis whose places are xs.
export function along(pairs, xs, records) {
  const px = [], ys = [];
  if (!xs.length) return [px, ys];
  for (const [n, v] of pairs) {
    if (v === undefined || v === null) continue;
    const at = Math.min(place(records, n), xs.length - 1);
    if (px.length && px[px.length - 1] >= xs[at]) { px.pop(); ys.pop(); }
    px.push(xs[at]);
    ys.push(v);
  }
  return [px, ys];
}

// span is the range of an axis: from zero if asked, else with some room. Values that differ by less
// than a reader can see are a flat line in the middle.
export function span(low, high, zero) {
  if (low === null || high === null || low === undefined || high === undefined) return [0, 1];
  if (zero) low = Math.min(0, low);
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low < 1e-4 * size || high === low) {
    const room = size * 0.05 || 1;
    return zero && low === 0 ? [0, size * 1.1 || 1] : [low - room, high + room];
  }
  const room = (high - low) * 0.06;
  return [zero && low === 0 ? 0 : low - room, high + room];
}

// reach is the range of the x axis. One point alone is in the middle.
export function reach(low, high) {
  if (low === null || high === null || low === undefined || high === undefined) return [0, 1];
  if (low < high) return [low, high];
  return [Math.max(0, low - 1), low + 1];
}

// steps are those of an axis, and wholes those of an axis of counts.
export const steps = Array.from({ length: 32 }, (_, i) => [1, 2, 5].map(m => Number(`${m}e${i - 16}`))).flat();
export const wholes = steps.filter(s => s >= 1);

// ends returns the indexes of the last value of a column and of its best; -1: there is none.
export function ends(column, high = false) {
  let best = -1, last = -1;
  for (let i = 0; i < column.length; i++) {
    const v = column[i];
    if (v === null || v === undefined) continue;
    last = i;
    if (best < 0 || (high ? v > column[best] : v < column[best])) best = i;
  }
  return { last, best };
}

// table joins lines, each with its own xs and ys, into columns over one sorted x.
export function table(lines) {
  const same = lines.every(l => l.xs === lines[0].xs);
  if (same) return lines.length ? [lines[0].xs, ...lines.map(l => l.ys)] : [[]];
  const xs = [...new Set(lines.flatMap(l => l.xs))].sort((a, b) => a - b);
  const at = new Map(xs.map((x, i) => [x, i]));
  return [xs, ...lines.map(l => {
    const column = new Array(xs.length).fill(null);
    l.xs.forEach((x, i) => { column[at.get(x)] = l.ys[i] ?? null; });
    return column;
  })];
}

// csv writes columns with their names. A text with a comma or a quote is quoted; a gap is empty.
export function csv(heads, columns) {
  const cell = v => v === null || v === undefined ? "" : /[",\n]/.test(v) ? `"${String(v).replaceAll('"', '""')}"` : String(v);
  const lines = [heads.map(cell).join(",")];
  for (let i = 0; i < (columns[0]?.length || 0); i++) lines.push(columns.map(c => cell(c[i])).join(","));
  return lines.join("\n") + "\n";
}
