// The fleet as histograms: how its devices differ, and which stand out, by name.
import { Chart } from "./chart.js";
import { element, number, seconds } from "./format.js";
import { headers } from "./token.js";

const leastDevices = 20; // fewer are read better in the table
const every = 4000; // ms between two looks

const milliseconds = ms => seconds(ms / 1000);
const about = {
  latency: { title: "Answers in", format: milliseconds, color: "--series-1", worst: "slowest" },
  contributions: { title: "Contributions", whole: true, color: "--series-3", worst: "fewest" },
  declines: { title: "Declines", whole: true, color: "--series-2", worst: "most" },
};

export class Spread {
  // open(id) shows a device.
  constructor(open) {
    this.open = open;
    this.root = document.getElementById("spread");
    this.parts = new Map();
    this.base = "";
    this.at = -every; // of the last look
    this.next = null; // the timer of the next one
  }

  // look fetches the histograms of a fleet that is large enough, now or once the last look is old
  // enough. The page calls it when a round may have changed them.
  look(base, fleet) {
    const large = Boolean(fleet) && fleet.members >= leastDevices;
    this.root.hidden = !large;
    this.base = base;
    if (!large || this.next) return;
    this.next = setTimeout(() => this.#fetch(), this.at + every - performance.now());
  }

  async #fetch() {
    this.next = null;
    this.at = performance.now();
    try {
      const response = await fetch(`${this.base}/histograms`, { headers: headers(), cache: "no-store" });
      if (!response.ok) return;
      for (const h of (await response.json()).histograms) this.#show(h);
    } catch { /* the next look asks again */ }
  }

  #show(h) {
    const a = about[h.name], format = a.format || number;
    let part = this.parts.get(h.name);
    if (!part) {
      part = { list: element("ol", { class: "worst", "aria-label": `${a.title}: ${a.worst}` }), edges: [0, 1], said: "" };
      part.chart = new Chart({ title: a.title, zero: true, whole: true, bars: () => [part.edges[0], part.edges.at(-1)],
        says: () => part.said });
      part.chart.root.append(part.list);
      this.parts.set(h.name, part);
      this.root.append(part.chart.root);
    }
    part.edges = h.edges;
    part.said = h.devices ? `${number(h.devices)} devices, median ${format(h.median)}, 95 % up to ${format(h.p95)}` : "";
    const xs = h.counts.map((_, i) => (h.edges[i] + h.edges[i + 1]) / 2);
    part.chart.show([{ label: "devices", kind: "bars", color: a.color, xs, ys: h.counts }],
      { label: a.title.toLowerCase(), format, whole: a.whole }, []);
    this.#name(part.list, a.worst, h.worst.map(d => [d.id, format(d.value)]));
  }

  // name lists the devices that stand out. The focus stays on its device, or where that was.
  #name(list, worst, devices) {
    list.hidden = !devices.length;
    const all = () => [...list.querySelectorAll("button")];
    const before = all(), at = before.indexOf(document.activeElement), id = before[at]?.textContent;
    list.replaceChildren(element("li", { class: "muted", text: `${worst}:` }), ...devices.map(([id, value]) =>
      element("li", {}, element("button", { type: "button", text: id, onclick: () => this.open(id) }), ` ${value}`)));
    if (at < 0) return;
    const now = all();
    (now.find(b => b.textContent === id) || now[Math.min(at, now.length - 1)])?.focus({ preventScroll: true });
  }
}
