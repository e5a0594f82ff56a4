// The dashboard of a run.
import { Controls, say } from "./controls.js";
import { recolor } from "./chart.js";
import { Curves } from "./curves.js";
import { denied, follow } from "./feed.js";
import { Fleet } from "./fleet.js";
import { clock, put } from "./format.js";
import { jump } from "./jump.js";
import * as panels from "./panels.js";
import { Runs } from "./runs.js";
import { Spread } from "./spread.js";
import { Store } from "./store.js";
import { headers, takeToken } from "./token.js";

const id = name => document.getElementById(name);

takeToken();
const store = new Store();
const curves = new Curves(id("charts"));
const runs = new Runs(() => draw(), key => watch(key));
let feed = null, fleet = null, controls = null, spread = null, base = "", painted = false;

// draw shows what has come, at most once a frame.
let drawing = false;
function draw(now = false) {
  if (drawing && !now) return;
  drawing = true;
  const paint = () => {
    drawing = false;
    curves.runs = runs.shown();
    if (store.status) own();
    else if (!curves.runs.length) return;
    curves.draw();
    jump();
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

// own shows the run whose feed the page hears.
function own() {
  panels.head(store);
  panels.tiles(store);
  panels.events(store);
  panels.rejects(store);
  panels.digests(store);
  panels.plan(store);
  controls.show();
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
    spread.look(base, store.fleet);
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
  runs.hear(run, store);
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
  spread = new Spread(async name => {
    const response = await fetch(`${base}/devices?count=500&find=${encodeURIComponent(name)}`, { headers: headers(), cache: "no-store" });
    const device = (await response.json()).devices?.find(d => d.id === name);
    if (device) controls.device(device);
  });
  controls = new Controls("", store, () => feed ? feed.again() : begin2());
  await begin2();
}

// begin2 asks which runs there are, until the server answers. It hears the feed of one that this
// program leads; without one it shows the curves of the others.
async function begin2() {
  for (;;) {
    try {
      const { denied, runs: led, list, leads } = await runs.look();
      if (denied) {
        await controls.token("This page needs the token.");
        if (feed) return;
        continue;
      }
      if (feed) return;
      if (!leads) put(id("loading"), "No run is there yet. It appears here when one begins.");
      if (led.length || list.length && !leads) {
        const wanted = new URLSearchParams(location.search).get("run");
        if (led.length) watch(led.includes(wanted) ? wanted : led[0]);
        else browse();
        runs.follow(led.length ? () => {} : heard => linked(heard ? "good" : "bad", heard ? "live" : "reconnecting"));
        return;
      }
    } catch { /* the server may not be there yet */ }
    await new Promise(done => setTimeout(done, 500));
  }
}

// browse shows runs that other programs lead, or led.
function browse() {
  document.body.dataset.state = "browse";
  put(id("state"), "");
  put(id("run-name"), "runs");
  linked("good", "live");
  feed = { again() {}, stop() {} };
  draw();
}

function choices() {
  for (const radio of document.querySelectorAll("input[name=axis]")) {
    radio.addEventListener("change", () => { curves.axis = radio.value; draw(); });
  }
  id("smoothing").addEventListener("input", e => {
    curves.weight = Number(e.target.value);
    put(id("smoothing-value"), curves.weight ? String(curves.weight) : "none");
    draw();
  });
  id("logarithmic").addEventListener("change", e => { curves.logarithmic = e.target.checked; draw(); });
  id("plan-all").addEventListener("change", () => draw());
  const theme = id("theme");
  theme.value = document.documentElement.dataset.theme || "auto";
  theme.addEventListener("change", () => {
    document.documentElement.dataset.theme = theme.value;
    try { localStorage.setItem("zofl-theme", theme.value); } catch { /* storage may be off */ }
    recolor();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => recolor());
  addEventListener("hashchange", () => { if (takeToken()) feed?.again(); });
  // Ages grow while nothing comes.
  setInterval(() => { if (!document.hidden) fleet.draw(); }, 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) draw(); });
}

choices();
begin();
