// Field ownership: which field was last set by which manager, from metadata.managedFields.

import { el } from "./dom.js";
import { age } from "./text.js";

const COLOURS = 6;

export function ownersView(object) {
  const entries = object.metadata?.managedFields ?? [];
  if (!entries.length) {
    return el("p", { class: "empty" }, "The server has recorded no owners of fields.");
  }
  const fields = new Map();  // Path: indexes of entries.
  entries.forEach((entry, index) => {
    for (const path of pathsOf(entry.fieldsV1 ?? {})) {
      if (!fields.has(path)) fields.set(path, []);
      fields.get(path).push(index);
    }
  });
  const paths = [...fields.keys()].sort();
  return el("div", { class: "owners" },
    el("table", {}, head("Manager", "Operation", "Version", "Part", "When"),
      el("tbody", {}, entries.map((entry, index) => el("tr", {},
        el("td", {}, chip(entry, index)), el("td", {}, entry.operation ?? ""),
        el("td", {}, entry.apiVersion ?? ""), el("td", {}, entry.subresource ?? ""),
        el("td", { title: entry.time }, entry.time ? `${age(entry.time)} ago` : ""))))),
    el("table", {}, head("Field", "Managers"),
      el("tbody", {}, paths.map((path) => el("tr", {},
        el("td", {}, el("code", {}, path)),
        el("td", {}, fields.get(path).map((index) => chip(entries[index], index))))))));
}

function head(...titles) {
  return el("thead", {}, el("tr", {}, titles.map((title) => el("th", { scope: "col" }, title))));
}

function chip(entry, index) {
  return el("span", { class: `chip chip-${index % COLOURS}` }, entry.manager || "(unnamed)");
}

// Returns the paths of the leaves of a set of fields: f:spec {f:ports {k:{"name":"a"} {f:port}}}
// is spec.ports[name=a].port. An item that is owned itself is a leaf, too (".").
export function pathsOf(fields, prefix = "") {
  const paths = [];
  for (const [key, inner] of Object.entries(fields)) {
    const path = key === "." ? prefix : prefix + stepOf(key, prefix === "");
    if (Object.keys(inner).length) {
      paths.push(...pathsOf(inner, path));
    } else {
      paths.push(path);
    }
  }
  return paths;
}

function stepOf(key, first) {
  const text = key.slice(2);
  if (key.startsWith("f:")) {
    if (!/^[\w$-]+$/.test(text)) return `[${text}]`;
    return first ? text : `.${text}`;
  }
  if (key.startsWith("k:")) {
    const keys = Object.entries(JSON.parse(text)).map(([name, value]) => `${name}=${value}`);
    return `[${keys.join(",")}]`;
  }
  if (key.startsWith("v:")) return `[=${text}]`;
  return `[${text}]`;
}
