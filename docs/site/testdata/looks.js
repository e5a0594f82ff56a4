(() => {
  const faults = new Set();
  const page = document.documentElement;
  if (page.scrollWidth > window.innerWidth) {
    const wide = [...document.querySelectorAll("body *")].filter(e =>
      e.getBoundingClientRect().right > window.innerWidth + 1 &&
      !e.closest("pre, .wide, [hidden], .skip"));
    faults.add(`${page.scrollWidth} pixels wide: ` +
      wide.slice(0, 3).map(e => e.outerHTML.slice(0, 80)).join(" "));
  }
  const channels = color => (color.match(/[\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const part = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  let texts = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.checkVisibility({ opacityProperty: true })) continue;
    texts++;
    const [a, b] = [luminance(channels(getComputedStyle(e).color)), luminance(behind(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) {
      faults.add(`contrast ${contrast.toFixed(1)} of <${e.tagName} class="${e.className}"> ` +
        walk.currentNode.data.slice(0, 30));
    }
  }
  if (texts < 12) faults.add(`${texts} texts: is the page there?`);
  return [...faults].slice(0, 5).join("; ");
})()
