// The list of runs: those that this program leads, those of logs beside its own, those of its
// broker. The chosen ones are drawn over each other, each in a color that it keeps.
import { ago, element, number, put } from "./format.js";
import { Store } from "./store.js";
import { headers } from "./token.js";

const every = 5000; // ms between two looks
const colors = 6; // --run-1 and so on; beyond them lines are dashed, too
const mostFirst = 4; // runs that are chosen where the page leads none

export class Runs {
  // changed is called when the chosen runs, or what is known of them, changed. open shows a run that
  // this program leads.
  constructor(changed, open) {
    this.changed = changed;
    this.open = open;
    this.section = document.getElementById("runs");
    this.find = document.getElementById("runs-find");
    this.box = document.getElementById("runs-list");
    this.list = [];
    this.own = null; // {key, store} of the run whose feed the page hears
    this.leads = false; // this program leads a run, or will
    this.chosen = new Map(); // by key, of {key, name, color, dash, store}; asked: what it has
    this.wanted = new URLSearchParams(location.search).getAll("with");
    this.find.addEventListener("input", () => this.#draw());
  }

  // hear says which run's feed the page hears, and its store.
  hear(key, store) {
    if (this.own) this.chosen.delete(this.own.key);
    this.own = { key, store };
    this.#choose(key, key, store);
    this.#draw();
    this.changed();
  }

  #choose(key, name, store) {
    const used = new Set([...this.chosen.values()].map(c => c.place));
    let place = this.leads && key !== this.own?.key ? 1 : 0; // the first color is the own run's
    while (used.has(place)) place++;
    this.chosen.set(key, { key, name, store, place, color: `--run-${place % colors + 1}`,
      dash: place < colors ? undefined : [7, 4], asked: "" });
  }

  // shown are the chosen runs in the order of the list, the own one first.
  shown() { return [...this.chosen.values()].filter(c => c.store.length).sort((a, b) => a.place - b.place); }

  // look asks for the list, and for what is new of the chosen runs.
  async look() {
    const response = await fetch("api/runs", { headers: headers(), cache: "no-store" });
    if (response.status === 401) return { denied: true, runs: [] };
    const { runs, list, leads, version } = await response.json();
    put(document.getElementById("version"), version);
    this.list = list;
    this.leads = leads;
    const first = this.wanted.length ? this.wanted : this.leads || this.chosen.size ? [] : list.slice(0, mostFirst).map(r => r.key);
    for (const r of list) if (first.includes(r.key) && !this.chosen.has(r.key)) this.#choose(r.key, r.name, new Store());
    this.wanted = [];
    await this.#fill();
    this.#draw();
    return { runs, list, leads };
  }

  // follow looks again and again, while the page is seen. It tells heard whether the server answers.
  follow(heard) {
    setInterval(() => {
      if (!document.hidden) this.look().then(() => heard(true), () => heard(false));
    }, every);
  }

  // fill fetches the curves of chosen runs that changed since.
  async #fill() {
    let filled = false;
    for (const r of this.list) {
      const c = this.chosen.get(r.key), state = JSON.stringify([r.round, r.time, r.state]);
      if (!c || r.key === this.own?.key || c.asked === state) continue;
      const response = await fetch(`api/curves?run=${encodeURIComponent(r.key)}`, { headers: headers(), cache: "no-store" });
      if (!response.ok) continue;
      c.store.take("snapshot", await response.json());
      c.asked = state;
      filled = true;
    }
    if (filled) this.changed();
  }

  async #toggle(r, on) {
    if (!on) this.chosen.delete(r.key);
    else this.#choose(r.key, r.name, r.key === this.own?.key ? this.own.store : new Store());
    const query = new URLSearchParams(location.search);
    query.delete("with");
    for (const key of this.chosen.keys()) if (key !== this.own?.key) query.append("with", key);
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}`);
    this.changed();
    this.#draw();
    await this.#fill();
  }

  #draw() {
    this.section.hidden = this.leads && this.list.length < 2;
    const text = this.find.value.trim().toLowerCase();
    this.find.closest("label").hidden = this.list.length < 6;
    const rows = this.list.filter(r => `${r.name} ${(r.tags || []).join(" ")} ${r.state}`.toLowerCase().includes(text));
    const key = JSON.stringify([rows, [...this.chosen.keys()]]);
    if (this.box.dataset.key === key) return;
    this.box.dataset.key = key;
    const focus = document.activeElement?.dataset?.run;
    this.box.replaceChildren(...rows.map(r => this.#row(r)));
    put(document.getElementById("runs-count"), `${number(this.list.length)} runs, ${number(this.chosen.size)} drawn`);
    for (const box of this.box.querySelectorAll("input")) if (box.dataset.run === focus) box.focus();
  }

  #row(r) {
    const c = this.chosen.get(r.key), swatch = element("i", { class: "swatch", "data-dash": Boolean(c?.dash) });
    if (c) swatch.style.color = `var(${c.color})`;
    const box = element("input", { type: "checkbox", "data-run": r.key, checked: Boolean(c),
      onchange: e => this.#toggle(r, e.target.checked).catch(() => {}) });
    const name = element("label", { class: "run" }, box, swatch, element("span", { class: "name", text: r.name, title: r.name }));
    const tags = element("span", { class: "tags" }, ...(r.tags || []).map(t => element("span", { class: "tag", text: t })));
    const end = r.led && r.key !== this.own?.key
      ? element("button", { type: "button", class: "quiet", text: "Open", onclick: () => this.open(r.key) }) : "";
    return element("li", {}, name, element("span", { class: "state", text: r.state }),
      element("span", { class: "number", text: r.round ? `round ${number(r.round)}` : "" }),
      element("span", { class: "number", text: r.round ? `loss ${number(r.loss)}` : "" }),
      element("span", { class: "muted when", text: r.time && !r.led ? ago((Date.now() - Date.parse(r.time)) / 1000) : "" }), tags, end);
  }
}
