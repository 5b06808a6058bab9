// Builds elements without markup: text from the server stays text and never becomes an element.

// Makes an element. A property whose name begins with "on" is a listener, any other an attribute,
// left out if it is null, undefined or false. Children are nodes or texts; null is skipped.
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// Gives a node new children in place of the present ones.
export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null));
  return node;
}

export function button(text, onclick, properties = {}) {
  return el("button", { type: "button", onclick, ...properties }, text);
}

// A box that says what went wrong, with the details of a Status.
export function problem(error, ...more) {
  const causes = error.status?.details?.causes ?? [];
  return el("div", { class: "problem", role: "alert" },
    el("strong", {}, error.title ?? "Error"),
    el("p", {}, error.message),
    causes.length > 1
      ? el("ul", {}, causes.map((cause) => el("li", {}, `${cause.field ?? ""}: ${cause.message}`)))
      : null,
    ...more);
}

// A row of tabs and the panel of the chosen one. `tabs`: {id, title}. Arrow keys move between tabs.
export function tabList(tabs, chosen, onchoose) {
  const list = el("div", { role: "tablist", class: "tabs" });
  for (const tab of tabs) {
    const selected = tab.id === chosen;
    list.append(el("button", {
      type: "button", role: "tab", id: `tab-${tab.id}`, "aria-selected": String(selected),
      "aria-controls": "tab-panel", tabindex: selected ? 0 : -1, onclick: () => onchoose(tab.id),
    }, tab.title));
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === chosen);
    onchoose(tabs[(at + step + tabs.length) % tabs.length].id);
  });
  return list;
}

// Asks a question and calls `onYes` if the answer is the button with the text `verb`.
export function ask(question, verb, onYes) {
  const dialog = el("dialog", { "aria-label": question, onclose: () => dialog.remove() },
    el("p", {}, question),
    el("div", { class: "actions" },
      button("Cancel", () => dialog.close()),
      button(verb, () => {
        dialog.close();
        onYes();
      }, { class: "danger" })));
  document.body.append(dialog);
  dialog.showModal();
}
