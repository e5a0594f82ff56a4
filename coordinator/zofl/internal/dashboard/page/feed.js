// The feed of a run: server-sent events, read with fetch, because EventSource cannot send the
// token. After a break the page says which event it had last, and gets what it missed, or all anew.
import { headers } from "./token.js";

const shortestWait = 250, longestWait = 5000; // ms between attempts
export const denied = "needs the token";
const silence = 30000; // ms; the server says something every 10 s

// follow reads a feed until stop is called. on.event(name, data) gets each event, on.link(kind, text)
// how the connection is, on.denied() that the token is missing or wrong.
export function follow(url, on) {
  let last = "", wait = shortestWait, stopped = false, abort = null, wake = null;
  const read = async () => {
    abort = new AbortController();
    let heard = setTimeout(() => abort.abort(), silence);
    const response = await fetch(url, {
      headers: headers(last ? { "Last-Event-ID": last } : {}),
      signal: abort.signal, cache: "no-store",
    });
    if (response.status === 401) {
      clearTimeout(heard);
      on.denied();
      throw new Error(denied);
    }
    if (!response.ok) {
      clearTimeout(heard);
      throw new Error(String(response.status));
    }
    on.link("good", "live");
    wait = shortestWait;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(heard);
        heard = setTimeout(() => abort.abort(), silence);
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) take(part);
      }
    } finally {
      clearTimeout(heard);
    }
  };
  const take = part => {
    let name = "", data = "", id = null;
    for (const line of part.split("\n")) {
      if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("data: ")) data += line.slice(6);
      else if (line.startsWith("id: ")) id = line.slice(4);
    }
    if (name) on.event(name, JSON.parse(data));
    if (id !== null) last = id;
  };
  (async () => {
    while (!stopped) {
      let text = "reconnecting";
      try {
        await read();
      } catch (error) { // the next attempt says whether it passes
        if (error.message === denied) text = denied;
      }
      if (stopped) return;
      on.link("bad", text);
      await new Promise(done => { wake = done; setTimeout(done, wait); });
      wait = Math.min(2 * wait, longestWait);
    }
  })();
  return {
    stop() { stopped = true; abort?.abort(); },
    // again reconnects at once, as after a new token.
    again() { wait = shortestWait; abort?.abort(); wake?.(); },
  };
}
