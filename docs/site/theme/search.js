// Search of all pages. The words are a script of their own, loaded when somebody first asks.
"use strict";
(() => {
  const box = document.getElementById("search");
  const found = document.getElementById("found");
  const small = new Set(("a an and any are as at be by can do does for from has have how i if in " +
    "is it me my not of on or so than that the there to use was what when which why will with " +
    "you your").split(" "));
  let asked = false, index;
  box.hidden = false;

  // stem takes endings off, so that one form of a word finds the others.
  const stem = word => word.length < 5 ? word :
    word.replace(/(ations?|ings?|ers?|ed|es|s)$/, "").replace(/(.)\1$/, "$1").replace(/[ey]$/, "i");

  const term = word => {
    const low = word.toLowerCase();
    return small.has(low) ? null : stem(low);
  };

  const load = () => {
    if (asked) return;
    asked = true;
    for (const src of ["minisearch.js", "words.js"]) {
      const script = document.createElement("script");
      script.src = src;
      script.async = false; // in this order
      if (src === "words.js") script.onload = build;
      document.head.append(script);
    }
  };

  // build indexes the items [page, name, id, heading, words, terms].
  const build = () => {
    index = new MiniSearch({
      fields: ["terms", "heading", "name", "text"], processTerm: term,
      searchOptions: {
        boost: { terms: 6, heading: 4, name: 2 },
        prefix: t => t.length > 3, fuzzy: t => t.length > 4 ? 0.2 : false,
        weights: { fuzzy: 0.3, prefix: 0.5 },
      },
    });
    index.addAll(words.map((w, id) =>
      ({ id, terms: w[5], heading: w[3], name: w[1], text: w[4] })));
    show();
  };

  // find returns the items that have all words that are asked, or else those that have most.
  const find = asks => {
    const all = index.search(asks, { combineWith: "AND" });
    return (all.length > 0 ? all : index.search(asks)).slice(0, 12).map(hit => words[hit.id]);
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
    if (!index) return;
    const asks = box.value.toLowerCase().trim();
    found.replaceChildren();
    if (asks !== "") {
      const best = find(asks), first = asks.split(/\s+/).find(w => !small.has(w)) ?? asks;
      found.append(...best.map(item => line(item, first)));
      if (best.length === 0) {
        const li = document.createElement("li");
        li.textContent = "Nothing has these words.";
        found.append(li);
      }
    }
    found.hidden = asks === "";
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
