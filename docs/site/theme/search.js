// Search of all pages. The words are a script of their own, loaded when somebody first asks.
"use strict";
(() => {
  const box = document.getElementById("search");
  const found = document.getElementById("found");
  let asked = false;
  box.hidden = false;

  const load = () => {
    if (asked) return;
    asked = true;
    const script = document.createElement("script");
    script.src = "words.js";
    script.onload = show;
    document.head.append(script);
  };

  // score of an item [page, name, id, heading, words]: 0 unless it has all the words that are asked.
  const score = (item, asks) => {
    const name = item[1].toLowerCase(), head = item[3].toLowerCase(), text = item[4].toLowerCase();
    let sum = 0;
    for (const ask of asks) {
      const one = (head.includes(ask) ? 8 : 0) + (name.includes(ask) ? 4 : 0) +
        (text.includes(ask) ? 1 : 0);
      if (one === 0) return 0;
      sum += one;
    }
    return sum;
  };

  const line = (item, ask) => {
    const li = document.createElement("li"), a = document.createElement("a");
    a.href = item[0] + "#" + item[2];
    const head = document.createElement("b"), where = document.createElement("span");
    head.textContent = item[3];
    const at = Math.max(0, item[4].toLowerCase().indexOf(ask) - 40);
    where.textContent = item[1] + ": " + (at ? "… " : "") + item[4].slice(at, at + 110);
    a.append(head, where);
    li.append(a);
    return li;
  };

  const show = () => {
    if (typeof words === "undefined") return;
    const asks = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.replaceChildren();
    if (asks.length > 0) {
      const best = words.map(item => [score(item, asks), item]).filter(([s]) => s > 0)
        .sort(([a], [b]) => b - a).slice(0, 12);
      found.append(...best.map(([, item]) => line(item, asks[0])));
      if (best.length === 0) {
        const li = document.createElement("li");
        li.textContent = "Nothing has all of these words.";
        found.append(li);
      }
    }
    found.hidden = asks.length === 0;
  };

  box.addEventListener("focus", load);
  box.addEventListener("input", show);
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      found.hidden = true;
      box.blur();
    } else if (event.key === "/" && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Enter" && document.activeElement === box) {
      found.querySelector("a")?.click();
    }
  });
  document.addEventListener("click", event => {
    if (!event.target.closest(".search") || event.target.closest("#found a")) found.hidden = true;
  });
})();
