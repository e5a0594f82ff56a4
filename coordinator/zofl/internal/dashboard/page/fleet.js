// The table of devices. Only the rows in sight are in the document, and only pages around them are
// fetched: the server sorts and filters.
import { ago, element, number, put, seconds } from "./format.js";
import { headers } from "./token.js";

const rowHeight = 37; // px, with its line: as style.css has it
const pageRows = 100;
const mostHeight = 432; // px, of the table
const overscan = 8; // rows beyond each edge
const mostPages = 12; // kept

const columns = [
  { key: "id", title: "Device", width: 144 },
  { key: "slot", title: "Slot", number: true, width: 56 },
  { key: "state", title: "State", width: 140 },
  { key: "seen", title: "Last seen", width: 104 },
  { key: "record", title: "Last record", number: true, width: 100 },
  { key: "contributions", title: "Contributed", number: true, width: 104 },
  { key: "latency", title: "Answers in", number: true, width: 98 },
  { key: "declines", title: "Declined", number: true, width: 88 },
  { key: "missed", title: "Missed", number: true, width: 74 },
  // The columns below are there where a device has something in them.
  { key: "digest", title: "Digest", width: 84, told: true },
  { key: "program", title: "Program", width: 146, told: true },
  { key: "platform", title: "Platform", width: 116, told: true },
  { key: "battery", title: "Power", width: 142, told: true },
  { key: "network", title: "Network", width: 100, told: true },
];
const kind = c => [c.number && "number", c.told && `told ${c.key}`].filter(Boolean).join(" ") || undefined;

export class Fleet {
  // open(device) shows one.
  constructor(base, open) {
    this.base = base;
    this.open = open;
    this.scroller = document.getElementById("fleet");
    this.table = this.scroller.querySelector("table");
    this.body = this.table.querySelector("tbody");
    this.count = document.getElementById("fleet-count");
    this.sort = "";
    this.descending = false;
    this.find = "";
    this.where = "";
    this.total = 0;
    this.current = 0; // the row that the keyboard is on
    this.pages = new Map(); // by number, of {rows, at}; the last used last
    this.asked = new Set();
    this.generation = 0;
    this.rows = [];
    this.#heads();
    this.top = element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colspan: columns.length }));
    this.bottom = element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colspan: columns.length }));
    this.none = element("tr", { class: "empty" }, element("td", { colspan: columns.length, text: "No device." }));
    this.body.append(this.top, this.bottom);
    this.scroller.addEventListener("scroll", () => this.#soon(), { passive: true });
    this.body.addEventListener("keydown", e => this.#key(e));
    new ResizeObserver(() => this.#soon()).observe(this.scroller);
    this.#controls();
  }

  #heads() {
    const row = this.table.tHead.rows[0];
    for (const c of columns) {
      const button = element("button", { type: "button", text: c.title,
        onclick: () => this.#by(c.key) });
      const th = element("th", { scope: "col", class: kind(c) }, button);
      th.style.width = `${c.width}px`;
      c.head = th;
      row.append(th);
    }
  }

  #by(key) {
    this.descending = this.sort === key && !this.descending;
    this.sort = key;
    for (const c of columns) {
      if (c.key === key) c.head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else c.head.removeAttribute("aria-sort");
    }
    this.#anew();
  }

  #controls() {
    const find = document.getElementById("find"), where = document.getElementById("where");
    for (const s of ["present", "silent", "away", "left", "left out", "retired", "ended"]) {
      where.append(element("option", { value: s, text: s }));
    }
    let wait = 0;
    find.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(() => { this.find = find.value.trim(); this.#anew(); }, 150);
    });
    where.addEventListener("change", () => { this.where = where.value; this.#anew(); });
  }

  // anew begins at the first row.
  #anew() {
    this.scroller.scrollTop = 0;
    this.current = 0;
    this.refresh();
  }

  // refresh fetches again what is in sight. The old rows stay until the new ones are there.
  refresh() {
    this.generation++;
    this.asked.clear();
    this.#soon();
  }

  // summary takes the counts of the whole fleet.
  summary(fleet) {
    if (!fleet) return;
    let width = 0, count = 0;
    for (const c of columns) {
      const shown = !c.told || fleet.tells.includes(c.key);
      this.table.classList.toggle(`no-${c.key}`, !shown);
      if (shown) { width += c.width; count++; }
    }
    for (const row of [this.top, this.bottom, this.none]) row.firstChild.colSpan = count;
    this.table.style.minWidth = `${width}px`;
    const states = Object.entries(fleet.states).map(([state, n]) => `${number(n)} ${state}`);
    put(this.count, fleet.members ? `${number(fleet.members)} devices: ${states.join(", ")}`
      : fleet.open ? "An open roster has no list." : "Nobody has joined yet.");
  }

  #soon() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.draw(); });
  }

  // range is the rows in sight, and those beyond the edges.
  #range() {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - overscan);
    const count = Math.ceil(this.scroller.clientHeight / rowHeight) + 2 * overscan;
    return [first, Math.min(this.total, first + count)];
  }

  draw() {
    const height = Math.min(mostHeight, this.table.tHead.offsetHeight + 2 + Math.max(3, this.total) * rowHeight);
    if (this.height !== height) {
      this.height = height;
      this.scroller.style.height = `${height}px`;
    }
    const [first, end] = this.#range(), count = Math.max(0, end - first);
    for (let page = Math.floor(first / pageRows); page === 0 || page * pageRows < end; page++) {
      const kept = this.pages.get(page);
      if (!kept || kept.generation !== this.generation) this.#fetch(page);
    }
    while (this.rows.length < count) {
      const row = makeRow(device => this.open(device), at => { this.current = at; });
      this.body.insertBefore(row.root, this.bottom);
      this.rows.push(row);
    }
    while (this.rows.length > count) this.rows.pop().root.remove();
    this.top.firstChild.style.height = `${first * rowHeight}px`;
    this.bottom.firstChild.style.height = `${Math.max(0, this.total - end) * rowHeight}px`;
    this.table.setAttribute("aria-rowcount", String(this.total + 1));
    const now = performance.now();
    for (let i = 0; i < count; i++) {
      const at = first + i, page = this.pages.get(Math.floor(at / pageRows));
      fill(this.rows[i], at, page?.rows[at % pageRows], page ? (now - page.at) / 1000 : 0,
        at === this.current || (i === 0 && (this.current < first || this.current >= end)));
    }
    if (this.total === 0 && this.pages.has(0)) this.body.insertBefore(this.none, this.bottom);
    else this.none.remove();
  }

  async #fetch(page) {
    const { generation } = this, key = `${generation}:${page}`;
    if (!this.base || this.asked.has(key)) return;
    this.asked.add(key);
    const query = new URLSearchParams({ from: page * pageRows, count: pageRows });
    if (this.sort) query.set("sort", this.sort);
    if (this.descending) query.set("order", "desc");
    if (this.find) query.set("find", this.find);
    if (this.where) query.set("state", this.where);
    try {
      const response = await fetch(`${this.base}/devices?${query}`, { headers: headers(), cache: "no-store" });
      if (!response.ok) throw new Error(response.status);
      const answer = await response.json();
      if (generation !== this.generation) return;
      this.pages.delete(page);
      this.pages.set(page, { rows: answer.devices, at: performance.now(), generation });
      for (const old of this.pages.keys()) {
        if (this.pages.size <= mostPages) break;
        this.pages.delete(old);
      }
      this.total = answer.total;
      this.#soon();
    } catch {
      setTimeout(() => this.asked.delete(key), 1000); // the next refresh, or scroll, asks again
    }
  }

  // key moves between rows.
  #key(e) {
    const rows = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
    const to = {
      ArrowDown: this.current + 1, ArrowUp: this.current - 1, PageDown: this.current + rows,
      PageUp: this.current - rows, Home: 0, End: this.total - 1,
    }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    this.current = Math.max(0, Math.min(this.total - 1, to));
    const y = this.current * rowHeight, { scrollTop, clientHeight } = this.scroller;
    const head = this.table.tHead.offsetHeight;
    if (y < scrollTop) this.scroller.scrollTop = y;
    else if (y + rowHeight + head > scrollTop + clientHeight) {
      this.scroller.scrollTop = y + rowHeight + head - clientHeight;
    }
    this.draw();
    this.rows.find(r => r.at === this.current)?.button.focus({ preventScroll: true });
  }
}

function makeRow(open, focused) {
  const cells = columns.map(c => element("td", { class: kind(c) }));
  const button = element("button", { type: "button", tabindex: "-1" });
  const state = element("span", { class: "dot" });
  cells[0].append(button);
  cells[2].append(state);
  const root = element("tr", {}, ...cells);
  // The texts of a row, in the order of its columns: the document is told what changed alone.
  const texts = [button, cells[1], state, ...cells.slice(3)].map(e => e.appendChild(new Text("")));
  const row = { root, texts, button, state, at: -1, device: null };
  button.addEventListener("click", () => { if (row.device) open(row.device); });
  button.addEventListener("focus", () => focused(row.at));
  return row;
}

// fill puts a device into a row; old is for how many seconds the page has it.
function fill(row, at, d, old, current) {
  if (row.at !== at) row.root.setAttribute("aria-rowindex", String(at + 2));
  row.at = at;
  row.device = d || null;
  const tab = current ? 0 : -1;
  if (row.button.tabIndex !== tab) row.button.tabIndex = tab;
  const kind = d ? (d.suspect ? "suspect" : d.state) : "";
  if (row.state.dataset.kind !== kind) row.state.dataset.kind = kind;
  const values = d ? [
    d.id, String(d.slot), d.suspect ? `${d.state}, suspect` : d.state, d.last_seen ? ago((d.silence_seconds || 0) + old) : "not yet",
    d.record ? number(d.record) : "", number(d.contributions || 0), d.latency_ms ? seconds(d.latency_ms / 1000) : "",
    String(d.declines || 0), String(d.missed || 0), d.digest || "",
    d.program || "", d.platform || "", power(d), d.network || "",
  ] : ["…"];
  row.texts.forEach((cell, i) => {
    const text = values[i] || "";
    if (cell.data === text) return;
    cell.data = text;
    cell.parentElement.title = text;
  });
}

// power is what a device tells of its battery, in words.
function power(d) {
  return [d.battery_percent && `${d.battery_percent} %`, d.power].filter(Boolean).join(", ");
}

// facts are the words for all that is known of a device.
export function facts(d) {
  const list = [["Slot", String(d.slot)], ["State", d.state]];
  const add = (title, value) => { if (value) list.push([title, value]); };
  add("Last seen", d.last_seen ? new Date(d.last_seen).toLocaleString("en-GB") : "not since the coordinator began");
  add("Back", d.until && new Date(d.until).toLocaleString("en-GB"));
  add("Last record", d.record && `${number(d.record)}, ${number(d.behind || 0)} behind the log`);
  add("Contributed", d.contributions && `${number(d.contributions)} times`);
  add("Answers in", d.latency_ms && `${seconds(d.latency_ms / 1000)}, smoothed`);
  add("Awaited", d.awaited && "the open round waits for it");
  add("Declined", d.declines && `${d.declines} times`);
  add("Missed", d.missed && `${d.missed} rounds waited in vain`);
  add("Digest", d.digest === "differs" ? "differs from the reference" : d.digest);
  add("Cut", d.cut && `${d.cut} contributions, by bound`);
  add("Doubt", d.doubt && `${number(100 * d.doubt)} % of its weight lost, by trust`);
  add("Suspect", d.suspect);
  add("Refused", d.refused && `${number(d.refused)} messages beyond its share`);
  add("Same id", d.same_id && "two devices use this id: give one of them another");
  add("Faulty", d.faulty && `${number(d.faulty)} messages that no honest device sends`);
  for (const [name, value] of Object.entries(d.reported || {})) add(name, number(value));
  add("Program", d.program);
  add("Platform", d.platform);
  add("Power", power(d));
  add("Network", d.network);
  return list;
}
