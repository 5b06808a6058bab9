// The dialog that asks for a token.

import { button, el } from "./dom.js";
import { getToken, setToken } from "./session.js";

let open = null;

export function closeSignIn() {
  open?.remove();
  open = null;
}

// Asks for a token and calls `onToken` when one is given. `reason`: why it is asked for, if the
// server has refused something. One dialog at a time.
export function signIn(onToken, reason = "") {
  if (open) return;
  const token = el("input", {
    type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true,
    "aria-label": "Bearer token",
  });
  const form = el("form", {
    onsubmit: (event) => {
      event.preventDefault();
      setToken(token.value.trim());
      closeSignIn();
      onToken();
    },
  },
  el("h2", {}, "Sign in"),
  reason ? el("p", { class: "notice", role: "alert" }, reason) : null,
  el("p", {}, "Paste a bearer token, for example the one in your kubeconfig. This tab keeps it ",
    "until it is closed. If your browser has a client certificate for this server, no token is ",
    "needed."),
  el("label", {}, "Token", token),
  el("div", { class: "actions" },
    getToken() ? button("Sign out", () => {
      setToken("");
      closeSignIn();
      onToken();
    }) : null,
    button("Cancel", closeSignIn),
    el("button", { type: "submit", class: "primary" }, "Sign in")));
  open = el("dialog", { "aria-label": "Sign in", onclose: closeSignIn }, form);
  document.body.append(open);
  open.showModal();
  token.focus();
}
