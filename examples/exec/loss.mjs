// A loss in Node for `zofl exec -- node loss.mjs`: a bowl around 0, 1, 2, ...
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

let dim, path;
for await (const line of createInterface({ input: process.stdin })) {
  const args = Object.fromEntries(line.split(" ").map((w) => w.split("=")));
  if (line.startsWith("hello")) console.log("hello 1 dim=0 points=20");
  else if (line.startsWith("map")) {
    dim = Number(args.dim);
    path = line.split("path=")[1];
    console.log("ok");
  } else if (line.startsWith("loss")) {
    const file = readFileSync(path);
    const losses = Array.from({ length: args.points }, (_, p) => {
      const x = new Float32Array(file.buffer, file.byteOffset + 4 * dim * p, dim);
      return x.reduce((sum, v, i) => sum + (v - i) ** 2, 0);
    });
    console.log("loss", ...losses);
  } else console.log("error unknown request");
}
