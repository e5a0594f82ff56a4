// A chart as a file: its numbers as CSV, its picture as PNG. The page makes both; no server does.

// save hands a file to the browser.
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replaceAll(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000); // the download has begun by then
}

// picture draws a chart's canvas below its title and its legend, on the page's ground.
export function picture(canvas, { title, says, keys, ground, text, muted, name }) {
  const scale = devicePixelRatio, head = Math.round(64 * scale), pad = Math.round(14 * scale);
  const out = document.createElement("canvas");
  out.width = canvas.width + 2 * pad;
  out.height = canvas.height + head + pad;
  const ctx = out.getContext("2d");
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, out.width, out.height);
  const write = (what, x, y, color, font) => {
    ctx.fillStyle = color;
    ctx.font = font.replace(/[\d.]+px/, size => `${parseFloat(size) * scale}px`);
    ctx.fillText(what, x, y);
    return ctx.measureText(what).width;
  };
  const end = pad + write(title, pad, 22 * scale, text, "600 14px system-ui, sans-serif");
  write(says, end + 12 * scale, 22 * scale, muted, "12px system-ui, sans-serif");
  let x = pad;
  for (const k of keys) {
    ctx.fillStyle = k.color;
    ctx.fillRect(x, 42 * scale, 14 * scale, 4 * scale);
    x += 20 * scale;
    x += write(k.label, x, 48 * scale, text, "12px system-ui, sans-serif") + 16 * scale;
  }
  ctx.drawImage(canvas, pad, head);
  out.toBlob(blob => save(blob, name), "image/png");
}
