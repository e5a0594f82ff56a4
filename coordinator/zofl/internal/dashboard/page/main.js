// The dashboard of a run.
import { Controls, say } from "./controls.js";
import { Curves } from "./curves.js";
import { denied, follow } from "./feed.js";
import { Fleet } from "./fleet.js";
import { clock, put } from "./format.js";
import * as panels from "./panels.js";
import { Store } from "./store.js";
import { headers, takeToken } from "./token.js";

const id = name => document.getElementById(name);

takeToken();
const store = new Store();
const curves = new Curves(id("charts"), store);
let feed = null, fleet = null, controls = null, base = "", painted = false;

// draw shows what has come, at most once a frame.
let drawing = false;
function draw(now = false) {
  if (drawing && !now) return;
  drawing = true;
  const paint = () => {
    drawing = false;
    if (!store.status) return;
    panels.head(store);
    panels.tiles(store, curves.weight);
    curves.draw();
    panels.events(store);
    panels.rejects(store);
    panels.digests(store);
    panels.plan(store);
    controls.show();
    if (!painted) {
      painted = true;
      performance.mark("zofl-painted");
      document.body.dataset.painted = Math.round(performance.now());
    }
    document.body.dataset.points = store.length;
  };
  if (now || document.hidden) paint();
  else requestAnimationFrame(paint);
}

function take(name, data) {
  store.take(name, data);
  if (name === "snapshot") panels.news(store.marks);
  else {
    const told = panels.news(data.marks || []);
    if (told.length) say(told.map(m => m.text).join(". "));
  }
  if (data.fleet) {
    fleet.summary(store.fleet);
    fleet.refresh();
  }
  draw();
}

// linked shows whether the page hears the coordinator. A break that lasts is told in words.
let since = null, asked = false;
function linked(kind, text) {
  id("link").dataset.kind = kind;
  put(id("link"), text);
  const gone = id("gone"), heard = kind === "good", locked = text === denied;
  if (heard) since = null;
  else since ??= Date.now();
  if (heard) asked = false;
  const away = !heard && Date.now() - since > 1000;
  gone.hidden = !away || !store.status;
  if (away) {
    put(gone, locked ? "The token is not that of this coordinator. The button Token takes another."
      : `The coordinator has not answered since ${clock(since)}. This page shows how the run was ` +
        "then, and goes on by itself.");
  }
  put(id("loading"), locked ? "This page needs the token. The button Token takes it."
    : "Waiting for the coordinator.");
  if (controls.away !== away) {
    controls.away = away;
    controls.show();
  }
}

function watch(run) {
  feed?.stop();
  store.clear();
  curves.clear();
  base = `api/runs/${encodeURIComponent(run)}`;
  controls.base = base;
  fleet.base = base;
  feed = follow(`${base}/stream`, {
    event: take,
    link: linked,
    denied() {
      if (asked || id("ask").open) return;
      asked = true; // once: then the button Token is there
      controls.token("This page needs the token.");
    },
  });
}

async function begin() {
  fleet = new Fleet("", device => controls.device(device));
  controls = new Controls("", store, () => feed ? feed.again() : begin2());
  await begin2();
}

// begin2 asks which runs there are, until the server answers.
async function begin2() {
  for (;;) {
    try {
      const response = await fetch("api/runs", { headers: headers(), cache: "no-store" });
      if (response.status === 401) {
        await controls.token("This page needs the token.");
        if (feed) return;
        continue;
      }
      const { runs } = await response.json();
      if (runs.length) {
        if (feed) return;
        choose(runs);
        return;
      }
    } catch { /* the server may not be there yet */ }
    await new Promise(done => setTimeout(done, 500));
  }
}

function choose(runs) {
  const select = id("run-choice"), wanted = new URLSearchParams(location.search).get("run");
  const run = runs.includes(wanted) ? wanted : runs[0];
  select.replaceChildren(...runs.map(r => new Option(r, r, false, r === run)));
  id("runs").hidden = runs.length < 2;
  select.addEventListener("change", () => watch(select.value));
  watch(run);
}

function choices() {
  for (const radio of document.querySelectorAll("input[name=axis]")) {
    radio.addEventListener("change", () => { curves.axis = radio.value; draw(); });
  }
  id("smoothing").addEventListener("change", e => { curves.weight = Number(e.target.value); draw(); });
  id("logarithmic").addEventListener("change", e => { curves.logarithmic = e.target.checked; draw(); });
  id("plan-all").addEventListener("change", () => draw());
  const theme = id("theme");
  theme.value = document.documentElement.dataset.theme || "auto";
  theme.addEventListener("change", () => {
    document.documentElement.dataset.theme = theme.value;
    try { localStorage.setItem("zofl-theme", theme.value); } catch { /* storage may be off */ }
    curves.recolor();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => curves.recolor());
  addEventListener("hashchange", () => { if (takeToken()) feed?.again(); });
  // Ages grow while nothing comes.
  setInterval(() => { if (!document.hidden) fleet.draw(); }, 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) draw(); });
}

choices();
begin();
