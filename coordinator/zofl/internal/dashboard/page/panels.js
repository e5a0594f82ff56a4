// The parts of the page that are text: tiles, events, refused messages, digests, plan.
import { bytes, clock, element, number, put, seconds, table } from "./format.js";
import { ends, place, places } from "./series.js";

const id = name => document.getElementById(name);

const kinds = { open: "good", waiting: "warn", paused: "warn", ended: "", deposed: "bad" };

// stateOf is the state of a run. Between two rounds it waits for the log, for a moment.
function stateOf(s) {
  return s.state === "waiting" && s.rounds > 0 && !s.log_error ? "open" : s.state;
}

// head shows name, tags, state and what is wrong.
export function head(store) {
  const s = store.status;
  if (!s) return;
  put(id("run-name"), s.run);
  document.title = `${s.run} · ${stateOf(s)} · Zofl`;
  const state = id("state"), now = stateOf(s);
  put(state, s.end ? `${now}: ${s.end}` : now);
  state.dataset.kind = kinds[now] ?? "";
  document.body.dataset.state = now;
  document.body.dataset.round = s.rounds;
  document.body.dataset.run = s.run;
  const tags = id("tags"), told = (s.tags || []).join(" ");
  if (tags.dataset.key !== told) {
    tags.dataset.key = told;
    tags.replaceChildren(...(s.tags || []).map(text => element("span", { class: "tag", text })));
  }
  const reason = id("reason");
  const wrong = s.log_error || s.object_error || s.catch_up_error;
  const text = wrong ? `The log: ${wrong}` : s.state === "paused" ? `Paused: ${s.reason}`
    : s.state === "waiting" && s.waits ? `Waiting for devices: ${s.waits}` : s.no_fall || "";
  reason.hidden = !text;
  reason.dataset.kind = wrong || /^diverged/.test(s.reason || "") ? "bad" : "warn";
  put(reason, text);
  const stand = [...Object.entries(s.suspects || {}).map(([who, why]) => `Suspect: ${who}: ${why}`), s.disputed];
  const suspects = stand.filter(Boolean).join("; ");
  id("suspects").hidden = !suspects;
  put(id("suspects"), suspects);
  id("asks").hidden = !s.asks;
  put(id("asks"), s.asks ? `Devices are asked for ${s.asks}` : "");
}

const built = new Map();

function tile(name) {
  let t = built.get(name);
  if (!t) {
    t = { value: element("dd", { class: "value" }), more: element("dd", { class: "more" }) };
    id("tiles").append(element("div", {}, element("dt", { text: name }), t.value, t.more));
    built.set(name, t);
  }
  return (value, more = "", title = more) => {
    put(t.value, value);
    put(t.more, more);
    t.value.title = value;
    t.more.title = title;
  };
}

export function tiles(store) {
  const s = store.status, r = store.rounds, plan = store.plan;
  if (!s || !plan) return;
  const rate = stateOf(s) === "open" ? store.rate() : 0;
  const left = plan.rounds && rate ? (plan.rounds - s.rounds) / rate : 0;
  tile("Round")(number(s.rounds), plan.rounds ? `of ${number(plan.rounds)}` : "without an end");
  const { shown } = places(r, "round"), { best } = ends(shown.map(i => r.loss[i])), at = shown[best];
  tile("Training loss")(number(store.last("loss")),
    best < 0 ? "" : `lowest ${number(r.loss[at])}, round ${number(r.round[at])}`);
  const latest = [...store.evaluations.values()].reduce((a, b) => (a && a.n > b.n ? a : b), null);
  for (const name of store.metrics().slice(0, 3)) {
    tile(`Held-out ${name}`)(number(latest?.metrics[name]), latest ? `round ${number(r.round[Math.min(place(r.n, latest.n), r.n.length - 1)])}` : "not yet");
  }
  if (s.best) tile(`Best ${s.best.metric}`)(number(s.best.value), `round ${number(s.best.round)}`);
  const took = s.participation, asked = store.last("asked") || took?.asked;
  const spread = took?.median >= 10 ? `a device has contributed ${number(took.fewest)} to ${number(took.most)} times` : undefined;
  tile("Contributors")(number(store.last("contributors")),
    [asked ? `of ${number(asked)} asked` : "", store.last("late") ? `${store.last("late")} late` : ""].filter(Boolean).join(", "), spread);
  if (s.state === "ended") tile("Present")("–", `of ${number(s.members)}: it has ended`);
  else tile("Present")(number(s.present), `of ${number(s.members)} members`);
  tile("Round time")(seconds(store.last("seconds")), rate ? `${number(Math.round(rate * 100) / 100)} a second` : "");
  tile("Bytes a round")(bytes(store.last("down")), store.length ? `down; up ${bytes(store.last("up"))}` : "");
  if (plan.rounds) tile("Time left")(left ? seconds(left) : "–", s.state === "ended" ? "it has ended" : "");
}

const happened = new Set();

export function events(store) {
  const list = id("events");
  const all = store.marks.slice(-200).reverse();
  const rows = all.map(m => {
    const li = element("li", { "data-kind": m.level },
      element("time", { datetime: m.time, text: clock(m.time) }),
      element("span", { class: "at", text: m.round ? `round ${number(m.round)}` : "" }),
      element("span", { class: "text", text: m.text }));
    return li;
  });
  list.replaceChildren(...(rows.length ? rows : [element("li", {}, element("span", { class: "text muted", text: "nothing yet" }))]));
}

// news returns the marks that were not told yet.
export function news(marks) {
  const fresh = marks.filter(m => !happened.has(m.time + m.text));
  for (const m of fresh) happened.add(m.time + m.text);
  return fresh;
}

export function rejects(store) {
  const drops = (store.status?.drops || []).filter(d => d.count > 0).sort((a, b) => b.count - a.count);
  const most = drops[0]?.count || 1;
  const rows = drops.map(d => {
    const bar = element("i", { "aria-hidden": "true" });
    bar.style.width = `${100 * d.count / most}%`;
    return [d.cause === "late" ? "too late: its record was closed" : d.cause, bar, number(d.count)];
  });
  const box = id("rejects"), key = JSON.stringify(drops);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(drops.length ? table(["Reason", "Share", "Messages"], rows, [2], "bars")
    : element("p", { class: "muted", text: "None was refused." }));
  const offenders = store.status?.offenders || [];
  if (offenders.length) {
    box.append(element("p", { class: "muted small",
      text: "Most of them from: " + offenders.map(o => `${o.id} (${number((o.refused || 0) + (o.faulty || 0))})`).join(", ") }));
  }
}

export function digests(store) {
  const list = store.status?.digests || [], box = id("digests"), key = JSON.stringify(list);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const rows = [];
  for (const d of [...list].reverse()) {
    for (const [digest, devices] of Object.entries(d.devices)) {
      const says = !d.reference ? "no reference yet" : digest === d.reference ? `reference, by ${d.source}` : "differs";
      rows.push([number(d.n), element("code", { text: digest }), number(devices), says]);
    }
    if (d.differing) rows.push([number(d.n), `${number(d.differing)} differ: ${(d.differ || []).join(", ")}`, "", ""]);
  }
  const focused = box.contains(document.activeElement);
  box.replaceChildren(rows.length ? element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Digests" },
    table(["Record", "Digest", "Devices", "Verdict"], rows, [0, 2]))
    : element("p", { class: "muted", text: "No device has reported one yet." }));
  if (focused) box.querySelector(".scroll")?.focus({ preventScroll: true });
}

export function plan(store) {
  const p = store.plan, box = id("plan");
  if (!p) return;
  const all = id("plan-all").checked, key = JSON.stringify([p, all]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const changed = new Set(p.changed || []);
  box.replaceChildren(element("dl", { class: "plan-grid" }, ...p.fields
    .filter(f => all || f.set || changed.has(f.name))
    .map(f => element("div", { class: changed.has(f.name) ? "changed" : "", title: f.doc },
      element("dt", { text: f.name }),
      element("dd", { class: "value mono", text: short(f.value) + (changed.has(f.name) ? " (changed)" : "") }),
      element("dd", { class: "doc muted small", text: f.doc })))));
}

function short(text) { return text.length > 60 ? text.slice(0, 57) + "…" : text; }
