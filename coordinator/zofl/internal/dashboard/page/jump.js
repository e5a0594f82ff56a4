// The links to the sections, above the page: those that are there.
import { element } from "./format.js";

const sections = [["now", "Now"], ["runs", "Runs"], ["training", "Training"], ["metrics", "Metrics"],
  ["reported", "Reported"], ["rounds", "Rounds"], ["fleet-section", "Fleet"], ["events-section", "Events"],
  ["plan-section", "Plan"]];

// The links stay below the head of the page where that stays.
const head = document.querySelector(".top");
new ResizeObserver(() => {
  const height = getComputedStyle(head).position === "sticky" ? head.offsetHeight : 0;
  document.documentElement.style.setProperty("--head", `${height}px`);
}).observe(head);

// jump shows the links.
export function jump() {
  const nav = document.querySelector(".jump");
  const there = sections.filter(([id]) => document.getElementById(id)?.offsetParent);
  const key = there.map(([id]) => id).join();
  if (nav.dataset.key === key) return;
  nav.dataset.key = key;
  nav.replaceChildren(...there.map(([id, text]) => element("a", { href: `#${id}`, text })));
}
