"use strict";

const at = (id) => document.getElementById(id);
const say = (id, text) => { at(id).textContent = text; };
const worker = new Worker("worker.js");

// A tab is one of this browser's devices: the first that no other tab is. It keeps being that one
// when it is loaded again. The lock also keeps the browser from freezing a tab that is not seen.
async function identity() {
  const mine = sessionStorage.getItem("device");
  if (mine !== null && await locked(mine, { signal: AbortSignal.timeout(3000) })) return mine;
  for (let i = 1; ; i++) {
    if (await locked(String(i), { ifAvailable: true })) return String(i);
  }
}

function locked(number, how) {
  return new Promise((resolve) => {
    navigator.locks.request("device-" + number, how, (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {}); // held until the tab is closed
    }).catch(() => resolve(false));
  });
}

// nameOf returns the name of a device, which is drawn once and kept.
function nameOf(number) {
  const key = "name-" + number;
  if (localStorage.getItem(key) === null) {
    const random = crypto.getRandomValues(new Uint8Array(4));
    localStorage.setItem(key, "browser-" + Array.from(random, (b) => b.toString(16).padStart(2, "0")).join(""));
  }
  return localStorage.getItem(key);
}

async function begin() {
  const number = await identity();
  sessionStorage.setItem("device", number);
  const config = await (await fetch("config.json")).json();
  const id = nameOf(number);
  document.body.dataset.id = id;
  document.title = id + ": digits, learned together";
  worker.postMessage({
    kind: "start", address: config.address, run: config.run, id, place: "device-" + number,
  });
  at("leave").disabled = false;
}

// What the device says. The body's data are for programs that look at the page.
const hear = {
  ready() { begin().catch(fail); },
  progress(m) {
    const data = document.body.dataset;
    data.state = m.state;
    data.n = m.n;
    data.round = m.round;
    say("state", `This tab is ${document.body.dataset.id}. ` + stateInWords(m));
    if (m.loss !== undefined) {
      data.loss = m.loss;
      const of = m.rounds ? " of " + m.rounds : "";
      say("round", `Round ${m.round + 1}${of}: my loss is ${m.loss.toFixed(3)}. ` +
        "Whoever guesses by chance has 2.303.");
    }
    say("fault", m.fault || "");
  },
  link(m) {
    document.body.dataset.links = Number(document.body.dataset.links || 0) + (m.fault ? 0 : 1);
    say("link", m.fault);
  },
  score(m) {
    document.body.dataset.right = m.right;
    say("score", `The model reads ${Math.round(100 * m.right)} in 100 digits right that nobody ` +
      "learns from.");
  },
  guess(m) {
    say("guess", m.text);
    document.body.dataset.guess = m.odds ? m.odds.indexOf(Math.max(...m.odds)) : "";
  },
  drawn(m) {
    document.body.dataset.drawn = m.count;
    say("drawn", m.count === 0 ? "" : `I learn from ${m.count} of your drawings.`);
  },
  stopped(m) {
    Object.assign(document.body.dataset, { n: m.n, digest: m.digest, state: m.left ? "left" : "ended" });
    at("leave").disabled = true;
    say("state", (m.left ? "I have left the run. Load the page again to go on." :
      "The run has ended, and the model is done. Draw, and see what it reads.") +
      ` Its digest after record ${m.n} is ${m.digest.slice(0, 12)}: the same at every device.`);
  },
  failed(m) { fail(m.error); },
};

function stateInWords(m) {
  return {
    "joining": "It joins, or waits for the coordinator.",
    "catching up": `It catches up: record ${m.n} of ${m.last}.`,
    "waiting": "It waits for the next round.",
    "working": "It measures how ten small changes of the model change its loss.",
    "paused": `The run is paused: ${m.reason}.`,
    "ended": "The run has ended.",
  }[m.state];
}

function fail(error) {
  document.body.dataset.state = "failed";
  say("fault", String(error));
}

worker.onmessage = (event) => {
  const message = JSON.parse(event.data);
  hear[message.kind](message);
};
worker.onerror = (event) => fail(event.message);

// The paper.
const paper = at("paper");
const ink = paper.getContext("2d", { willReadFrequently: true });
Object.assign(ink, { lineWidth: 20, lineCap: "round", lineJoin: "round", strokeStyle: "#000" });
let last = null;

function point(event) {
  const box = paper.getBoundingClientRect();
  return [(event.clientX - box.left) * paper.width / box.width,
    (event.clientY - box.top) * paper.height / box.height];
}

paper.addEventListener("pointerdown", (event) => {
  paper.setPointerCapture(event.pointerId);
  last = point(event);
  stroke(last);
});
paper.addEventListener("pointermove", (event) => { if (last) stroke(point(event)); });
for (const end of ["pointerup", "pointercancel"]) {
  paper.addEventListener(end, () => {
    if (last) ask({ kind: "guess" });
    last = null;
  });
}

function stroke(to) {
  ink.beginPath();
  ink.moveTo(...last);
  ink.lineTo(...to);
  ink.stroke();
  last = to;
}

// ask sends what is drawn. The alpha of a pixel is its ink.
function ask(message) {
  const pixels = ink.getImageData(0, 0, paper.width, paper.height).data;
  const alpha = new Uint8Array(paper.width * paper.height);
  for (let i = 0; i < alpha.length; i++) alpha[i] = pixels[4 * i + 3];
  worker.postMessage({ ...message, ink: alpha, side: paper.width });
}

function clear() { ink.clearRect(0, 0, paper.width, paper.height); }

for (let digit = 0; digit < 10; digit++) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = digit;
  button.addEventListener("click", () => { ask({ kind: "draw", label: digit }); clear(); });
  at("labels").append(button);
}
at("clear").addEventListener("click", () => { clear(); say("guess", "Draw a digit."); });
at("leave").addEventListener("click", () => worker.postMessage({ kind: "leave" }));
