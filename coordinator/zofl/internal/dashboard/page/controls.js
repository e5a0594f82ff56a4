// Commands to the run. Each needs the token; the server takes it like a command of `zofl`.
import { element, put } from "./format.js";
import { facts } from "./fleet.js";
import { hasToken, headers, keepToken } from "./token.js";

const id = name => document.getElementById(name);

export class Controls {
  // link reconnects the feed after a new token.
  constructor(base, store, link) {
    this.base = base;
    this.store = store;
    this.link = link;
    this.away = false; // the coordinator does not answer
    id("pause").addEventListener("click", () => this.pause());
    id("resume").addEventListener("click", () => this.#do("resume", {}).catch(say));
    id("stop").addEventListener("click", () => this.stop());
    id("rollback").addEventListener("click", () => this.rollback());
    id("change").addEventListener("click", () => this.change());
    id("token").addEventListener("click", () => this.token());
    id("ask-cancel").addEventListener("click", () => id("ask").close("cancel"));
  }

  // show enables what makes sense now.
  show() {
    const state = this.store.status?.state;
    const over = !state || state === "ended" || state === "deposed" || this.away;
    id("pause").hidden = state === "paused";
    id("resume").hidden = state !== "paused";
    for (const name of ["pause", "resume", "stop", "rollback", "change"]) id(name).disabled = over;
  }

  // do sends a command. The error has the server's words.
  async #do(verb, body) {
    if (!hasToken()) await this.token("Commands need the token.");
    if (!hasToken()) throw new Error("Commands need the token.");
    const response = await fetch(`${this.base}/${verb}`, {
      method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body),
    });
    const answer = await response.json().catch(() => ({ error: response.statusText }));
    if (response.status === 401) {
      keepToken("");
      throw new Error(answer.error);
    }
    if (!response.ok) throw new Error(answer.error);
    const done = answer.pending ? "accepted; it waits for the open round, or for the log" : "done";
    say(`${verb}: ${done}${answer.warning ? `. ${answer.warning}` : ""}`);
    return answer;
  }

  pause() {
    const reason = element("input", { type: "text", id: "pause-reason", maxlength: "200" });
    return ask({
      title: "Pause the run", action: "Pause",
      text: "No more rounds open until the run is resumed. What the open round has is kept.",
      fields: [element("label", { for: "pause-reason", text: "Why, for the people who own the devices" }), reason],
      run: () => this.#do("pause", { reason: reason.value }),
    });
  }

  stop() {
    const reason = element("input", { type: "text", id: "stop-reason", maxlength: "200" });
    return ask({
      title: "End the run for good", action: "End the run", danger: true,
      text: "The last record is written. It can be neither rolled back nor resumed.",
      fields: [element("label", { for: "stop-reason", text: "Why" }), reason],
      run: () => this.#do("stop", { reason: reason.value }),
    });
  }

  rollback() {
    const last = this.store.status?.n || 1;
    const to = element("input", { type: "number", id: "rollback-to", min: "1", max: String(last), required: true });
    return ask({
      title: "Roll back", action: "Roll back", danger: true,
      text: "Every replica returns to the state after a record, with the plan as it was then. Nothing is erased.",
      fields: [element("label", { for: "rollback-to", text: `Record, from 1 to ${last}` }), to],
      run: () => this.#do("rollback", { to: Number(to.value) }),
    });
  }

  change() {
    const fields = (this.store.plan?.fields || []).filter(f => f.changeable);
    const choice = element("select", { id: "change-field" },
      ...fields.map(f => element("option", { value: f.name, text: f.name })));
    const box = element("div");
    const hint = element("p", { class: "hint" });
    let value = null;
    const chosen = () => {
      const f = fields.find(f => f.name === choice.value);
      value = f.choices?.length
        ? element("select", { id: "change-value" }, ...f.choices.map(c =>
          element("option", { value: c, text: c, selected: c === f.value })))
        : element("input", { type: "text", id: "change-value", value: f.value, required: true, spellcheck: "false" });
      box.replaceChildren(value);
      put(hint, f.range ? `${f.doc}: ${f.range}` : f.doc);
    };
    choice.addEventListener("change", chosen);
    choice.value = fields.some(f => f.name === "step") ? "step" : choice.value;
    chosen();
    return ask({
      title: "Change the plan", action: "Change",
      text: "The new value holds for every replica from the next record on.",
      fields: [element("label", { for: "change-field", text: "Field" }), choice,
        element("label", { for: "change-value", text: "New value" }), box, hint],
      run: () => this.#do("change", { fields: [`${choice.value}=${value.value}`] }),
    });
  }

  device(d) {
    const dialog = id("device"), retire = id("device-retire");
    put(id("device-title"), d.id);
    id("device-facts").replaceChildren(...facts(d).flatMap(([title, text]) =>
      [element("dt", { text: title }), element("dd", { text })]));
    retire.disabled = d.state === "retired";
    retire.onclick = () => { dialog.close(); this.retire(d); };
    dialog.showModal();
  }

  retire(d) {
    return ask({
      title: `Retire ${d.id}`, action: "Retire", danger: true,
      text: "No round waits for it again, and it may not join again. Revoke its credentials, too.",
      fields: [],
      run: () => this.#do("retire", { id: d.id }),
    });
  }

  token(why = "") {
    const input = element("input", { type: "password", id: "token-text", autocomplete: "off", required: true });
    return ask({
      title: "Token", action: "Use it",
      text: `${why} It is in the file that zofl named in its log when it began. This tab keeps it until it is closed.`.trim(),
      fields: [element("label", { for: "token-text", text: "Token" }), input],
      run: async () => {
        keepToken(input.value);
        const response = await fetch("api/token", { headers: headers(), cache: "no-store" });
        if (!response.ok) {
          keepToken("");
          throw new Error((await response.json()).error);
        }
        say("The token is right.");
        this.link();
      },
    });
  }
}

let sentence = 0;

// say tells something in the live region.
export function say(what) {
  const text = what instanceof Error ? what.message : what;
  const region = id("said");
  put(region, "");
  clearTimeout(sentence);
  sentence = setTimeout(() => put(region, text), 30);
  if (what instanceof Error) {
    ask({ title: "That did not work", action: "Close", text, fields: [], run: async () => {} });
  }
}

// ask opens the dialog. It resolves when the dialog is closed, whatever the answer.
function ask({ title, text, action, danger, fields, run }) {
  const dialog = id("ask"), form = id("ask-form"), button = id("ask-do");
  if (dialog.open) dialog.close("cancel");
  put(id("ask-title"), title);
  put(id("ask-text"), text);
  put(id("ask-error"), "");
  put(button, action);
  button.className = danger ? "primary danger" : "primary";
  button.disabled = false;
  id("ask-fields").replaceChildren(...fields);
  dialog.returnValue = "";
  return new Promise(resolve => {
    form.onsubmit = async e => {
      e.preventDefault();
      button.disabled = true;
      put(id("ask-error"), "");
      try {
        await run();
        if (dialog.open) dialog.close("done");
      } catch (error) {
        put(id("ask-error"), error.message);
        button.disabled = false;
      }
    };
    dialog.onclose = () => resolve(dialog.returnValue);
    dialog.showModal();
    (fields.find(f => f.matches?.("input, select")) || button).focus();
  });
}
