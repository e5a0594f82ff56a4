// The device runs in a worker: the page stays quick while it computes, and a browser slows down
// the timers of pages that nobody sees, but not those of workers.
"use strict";
importScripts("wasm_exec.js");
const go = new Go();
WebAssembly.instantiateStreaming(fetch("device.wasm"), go.importObject)
  .then((made) => go.run(made.instance))
  .then(() => { throw new Error("the device has ended"); })
  .catch((error) => postMessage(JSON.stringify({ kind: "failed", error: String(error) })));
