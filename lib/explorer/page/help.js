// The list of keys.

import { button, el } from "./dom.js";

const KEYS = [
  ["/", "filter the rows"], ["j k, ↓ ↑", "move in the table"],
  ["g G, Home End", "first, last row"], ["Enter", "open the object"],
  ["Esc", "close, or leave a field"], ["e", "edit the open object"],
  ["r", "choose a resource"], ["n", "choose a namespace"], ["?", "this list"],
  ["Ctrl+S", "check, then save, in the editor"],
];

export function showHelp() {
  const dialog = el("dialog", { "aria-label": "Keys", onclose: () => dialog.remove() },
    el("h2", {}, "Keys"),
    el("dl", {}, KEYS.flatMap(([key, what]) =>
      [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("div", { class: "actions" }, button("Close", () => dialog.close(), { class: "primary" })));
  document.body.append(dialog);
  dialog.showModal();
}
