// Tests of what charts draw, for `node --test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, number, tick } from "./format.js";
import { along, csv, ends, places, reach, smoothed, span, steps, table, wholes } from "./series.js";

test("the smoothed line begins at the first value and has the gaps of the raw one", () => {
  assert.equal(smoothed([4, 2, null, 2], 0.9)[0], 4);
  const line = smoothed([4, 2, null, 2], 0.9);
  assert.ok(line[1] > 2 && line[1] < 4 && line[2] === null && line[3] < line[1]);
  assert.deepEqual(smoothed([4, 2], 0), [4, 2]);
});

test("equal losses are a flat line in the middle of an axis whose ticks differ", () => {
  for (const [low, high] of [[2.303, 2.303], [2.302585, 2.302586], [1e-7, 1e-7], [5e8, 5e8], [0, 0], [-3, -3]]) {
    const [a, b] = span(low, high, false), at = (low - a) / (b - a), room = (b - a) / Math.max(1e-9, Math.abs(high));
    assert.ok(at > 0.4 && at < 0.6 && (high - low) / (b - a) < 0.01, `${low} is at ${at}`);
    assert.ok(room > 0.05);
    const step = steps.find(s => (b - a) / s <= 5), write = tick();
    const texts = [0, 1, 2].map(i => write((Math.ceil(a / step) + i) * step, step));
    assert.equal(new Set(texts).size, 3, texts.join(" "));
  }
  const [a, b] = span(2, 3, false);
  assert.ok(a < 2 && b > 3 && b - a < 1.2);
  assert.deepEqual(span(0, 0, true), [0, 1]);
  assert.equal(span(5, 9, true)[0], 0);
  assert.deepEqual(span(null, null, false), [0, 1]);
});

test("an axis of rounds has whole steps, and one round is in its middle", () => {
  assert.ok(wholes.every(Number.isInteger) && wholes[0] === 1 && wholes[3] === 10);
  assert.deepEqual(reach(7, 7), [6, 8]);
  assert.deepEqual(reach(0, 0), [0, 1]);
  assert.deepEqual(reach(1, 2), [1, 2]);
});

const rounds = { n: [2, 3, 4, 6, 7], round: [1, 2, 3, 2, 3], time: [10, 11, 12, 20, 21],
  queries: [5, 10, 15, 20, 25], up: [1, 1, 1, 1, 1], down: [2, 2, 2, 2, 2] };

test("over rounds a chart leaves out what a rollback took back; over time it does not", () => {
  assert.deepEqual(places(rounds, "round"), { xs: [1, 2, 3], shown: [0, 3, 4] });
  assert.deepEqual(places(rounds, "seconds").xs, [0, 1, 2, 10, 11]);
  assert.deepEqual(places(rounds, "queries").xs, [5, 10, 15, 20, 25]);
});

test("an evaluation is at the round of its record, the last one of a record", () => {
  const { xs, shown } = places(rounds, "round"), records = shown.map(i => rounds.n[i]);
  assert.deepEqual(along([[2, 0.1], [3, 0.2], [7, 0.7], [9, 0.9], [9, null]], xs, records), [[1, 2, 3], [0.1, 0.2, 0.9]]);
  assert.deepEqual(along([[2, 1]], [], []), [[], []]);
});

test("the best and the last value are measured ones", () => {
  assert.deepEqual(ends([null, 3, 1, 2, null]), { last: 3, best: 2 });
  assert.deepEqual(ends([null, 3, 1], true), { last: 2, best: 1 });
  assert.deepEqual(ends([null]), { last: -1, best: -1 });
});

test("runs of unlike rounds share one table, which is written as CSV", () => {
  const a = { xs: [1, 2, 4], ys: [3, 2, 1] }, b = { xs: [2, 3], ys: [9, null] };
  const joined = table([a, b]);
  assert.deepEqual(joined, [[1, 2, 3, 4], [3, 2, null, 1], [null, 9, null, null]]);
  assert.equal(csv(["round", 'a, "x"', "b"], joined), 'round,"a, ""x""",b\n1,3,\n2,2,9\n3,,\n4,1,\n');
  assert.deepEqual(table([]), [[]]);
});

test("ages have one unit, and numbers four digits", () => {
  assert.deepEqual([0, 59, 413, 7300, 90000].map(ago), ["now", "59 s ago", "6 min ago", "2 h ago", "1 d ago"]);
  assert.equal(number(3.33391), "3.334");
});
