// Numbers, times and elements, in words.

// number writes a number in about four digits.
export function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e7)) return x.toExponential(2).replace("e+", "e");
  if (Number.isInteger(x)) return x.toLocaleString("en-US");
  return x.toLocaleString("en-US", { maximumFractionDigits: a >= 100 ? 1 : a >= 1 ? 3 : 4 });
}

// tick returns what writes the numbers of an axis: with so many decimals that two steps differ.
export function tick(format) {
  if (format) return format;
  return (x, step) => {
    if (x === 0) return "0";
    if (step < 1e-5 && Math.abs(x) < 1 || Math.abs(x) >= 1e7) return number(x);
    const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
    return x.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  };
}

// bytes writes a number of bytes with its unit.
export function bytes(x) {
  if (x === null || x === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (x >= 1000 && i < units.length - 1) { x /= 1000; i++; }
  return `${x >= 100 || i === 0 ? Math.round(x) : x.toFixed(1)} ${units[i]}`;
}

// seconds writes a duration.
export function seconds(s) {
  if (s === null || s === undefined || !Number.isFinite(s)) return "–";
  if (s === 0) return "0 s";
  if (s < 1) return `${s < 0.1 ? number(Math.round(s * 10000) / 10) : Math.round(s * 1000)} ms`;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

// ago writes for how long something was silent, in its largest unit. Under 1.5 s it is now.
export function ago(s) {
  if (s < 1.5) return "now";
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (s >= size) return `${Math.floor(s / size)} ${unit} ago`;
  }
  return `${Math.floor(s)} s ago`;
}

// clock writes the time of day, in the reader's zone.
export function clock(time) {
  return new Date(time).toLocaleTimeString("en-GB");
}

// element makes an element. Text is never read as HTML.
export function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "text") e.textContent = value;
    else if (key === "class") e.className = value;
    else if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children);
  return e;
}

// put changes an element's text if it differs: a screen reader then reads only what is new.
export function put(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

// table makes a table with headers. Cells are texts or elements; numeric columns are named by index.
export function table(headers, rows, numeric = [], className = "") {
  const kind = i => numeric.includes(i) ? "number" : undefined;
  return element("table", { class: className },
    element("thead", {}, element("tr", {}, ...headers.map((text, i) =>
      element("th", { scope: "col", class: kind(i), text })))),
    element("tbody", {}, ...rows.map(row => element("tr", {}, ...row.map((cell, i) =>
      cell instanceof Node ? element("td", { class: kind(i) }, cell)
        : element("td", { class: kind(i), text: cell }))))));
}
