// The panel of one object: its YAML, the owners of its fields, its events, the documentation of its
// kind.

import { ask, button, el, fill, problem, tabList } from "./dom.js";
import { eventsResource, eventsView } from "./events.js";
import { explainView } from "./explain.js";
import { ownersView } from "./owners.js";
import { coloured, withoutManagedFields } from "./yaml.js";

const RELOAD_MS = 300;

export class Detail {
  // `close` leaves the panel, `go(changes)` moves to another place. `key`: "NAMESPACE/NAME"; empty:
  // an object is to be created, in `namespace`.
  constructor(api, discovery, resource, { key, namespace, tab, go, close }) {
    this.api = api;
    this.resource = resource;
    [this.namespace, this.name] = key ? splitKey(key) : [namespace, ""];
    this.events = eventsResource(discovery);
    this.tab = tab || "yaml";
    this.go = go;
    this.close = close;
    this.version = "";  // The resource version on show.
    this.editor = null;
    this.panel = el("div", { role: "tabpanel", id: "tab-panel", class: "panel", tabindex: 0 });
    this.actions = el("div", { class: "actions" });
    this.note = el("div", { "aria-live": "polite" });
    this.tabs = el("div");
    this.node = el("aside", { class: "detail", "aria-label": this.name || `New ${resource.kind}` },
      el("header", {},
        el("div", { class: "title" },
          el("small", {}, resource.kind, this.namespace ? ` in ${this.namespace}` : ""),
          el("h2", {}, this.name || `New ${resource.kind}`)),
        this.actions),
      this.note, this.tabs, this.panel);
    if (key) {
      this.load();
    } else {
      this.edit(templateOf(resource, namespace));
    }
  }

  get path() {
    return this.resource.item(this.namespace, this.name);
  }

  show(tab) {
    if (this.editor || !this.name) return;
    this.tab = tab || "yaml";
    this.load();
  }

  focus() {
    if (this.editor) {
      this.editor.focus();
    } else {
      this.panel.focus();
    }
  }

  // Tells whether changes would be lost, and asks for a confirmation then.
  mayLeave() {
    return !this.editor?.changed || confirm("Discard the changes in the editor?");
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // Called when the table has changed. `row`: the object's; undefined: it is not in the table.
  onRow(row, live) {
    if (!this.name || (!row && !live)) return;
    const version = row?.meta.resourceVersion;
    if (version === this.version || version === this.announced) return;
    this.announced = version;
    if (!row) {
      fill(this.note, el("p", { class: "notice" }, "This object is gone, or no longer matches."));
    } else if (this.editor) {
      fill(this.note, el("p", { class: "notice" }, "The object has changed on the server. ",
        button("Load it, and lose my changes", () => this.load())));
    } else if (this.version && this.tab !== "explain") {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(), RELOAD_MS);
    }
  }

  // Shows the chosen tab anew. What comes after another tab was chosen is dropped.
  async load() {
    this.editor = null;
    const tab = this.tab;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    fill(this.note);
    this.showTabs();
    this.showActions();
    let content;
    try {
      content = await this.contentOf(tab);
    } catch (error) {
      content = problem(error);
    }
    if (turn !== this.turn || this.stopped) return;
    const { scrollTop } = this.panel;
    fill(this.panel, content);
    this.panel.scrollTop = scrollTop;
  }

  showTabs() {
    const tabs = [{ id: "yaml", title: "YAML" }, { id: "owners", title: "Ownership" }];
    if (this.events) tabs.push({ id: "events", title: "Events" });
    tabs.push({ id: "explain", title: "Explain" });
    const had = this.tabs.contains(document.activeElement);
    fill(this.tabs, tabList(tabs, this.tab, (tab) => this.go({ tab })));
    this.panel.setAttribute("aria-labelledby", `tab-${this.tab}`);
    if (had) this.tabs.querySelector("[aria-selected=true]").focus();
  }

  showActions() {
    const can = (verb) => this.resource.can(verb);
    fill(this.actions,
      can("update") ? button("Edit", () => this.startEdit(), { id: "edit" }) : null,
      can("delete") ? button("Delete", () => this.askDelete()) : null,
      button("✕", this.close, { "aria-label": "Close", class: "quiet" }));
  }

  async contentOf(tab) {
    if (tab === "explain") return explainView(this.api, this.resource);
    if (tab === "yaml") return this.yamlView();
    const object = await this.api.json(this.path);
    this.version = object.metadata.resourceVersion;
    return tab === "owners" ? ownersView(object) : eventsView(this.api, this.events, object);
  }

  async read() {
    const { text } = await this.api.yaml(this.path);
    this.version = /^ {2}resourceVersion: "?([^"\n]+)/m.exec(text)?.[1] ?? "";
    return withoutManagedFields(text);
  }

  async yamlView() {
    const text = await this.read();
    return el("div", { class: "yaml" },
      button("Copy", (event) => {
        navigator.clipboard?.writeText(text);
        event.target.textContent = "Copied";
      }, { class: "copy" }),
      el("pre", { "aria-label": "YAML" }, el("code", {}, coloured(text))));
  }

  async startEdit() {
    if (this.editor || !this.name || !this.resource.can("update")) return;
    try {
      await this.edit(await this.read());
    } catch (error) {
      fill(this.note, problem(error));
    }
  }

  // Loads the editor, which nobody needs who only looks.
  async edit(text) {
    const { Editor } = await import("./editor.js");
    if (this.stopped) return;
    this.turn = (this.turn ?? 0) + 1;
    fill(this.note);
    fill(this.tabs);
    fill(this.actions);
    this.editor = new Editor({
      text,
      before: this.name ? text : "",
      check: (changed) => this.check(changed),
      save: (changed) => this.save(changed),
      onCancel: () => this.cancel(),
    });
    fill(this.panel, this.editor.node);
    this.editor.focus();
  }

  // The request that sends the text as a new object, or as the new state of this one.
  writing(text, query) {
    const create = !this.name;
    return [create ? this.resource.collection(this.namespace) : this.path, {
      method: create ? "POST" : "PUT", contentType: "application/yaml", body: text,
      query: { fieldManager: "explorer", fieldValidation: "Strict", ...query },
    }];
  }

  // Returns what a save would store, with the server's warnings.
  async check(text) {
    const request = this.writing(text, { dryRun: "All" });
    const { text: result, warnings } = await this.api.yaml(...request);
    return { text: withoutManagedFields(result), warnings };
  }

  async save(text) {
    const saved = await this.api.json(...this.writing(text, {}));
    this.editor = null;
    if (this.name) {
      await this.load();
      this.focus();
    } else {
      this.go({ object: `${saved.metadata.namespace ?? ""}/${saved.metadata.name}`, tab: "" });
    }
  }

  cancel() {
    if (!this.mayLeave()) return;
    this.editor = null;
    if (this.name) {
      this.load().then(() => this.focus());
    } else {
      this.close();
    }
  }

  askDelete() {
    const what = `${this.resource.kind} ${this.namespace ? `${this.namespace}/` : ""}${this.name}`;
    ask(`Delete ${what}?`, "Delete", async () => {
      try {
        await this.api.send(this.path, {
          method: "DELETE", contentType: "application/json",
          body: JSON.stringify({ propagationPolicy: "Background" }),
        });
        this.close();
      } catch (error) {
        fill(this.note, problem(error));
      }
    });
  }
}

// A name may not contain a slash, and neither may a namespace, but the names of some kinds have
// colons and the like.
function splitKey(key) {
  const slash = key.indexOf("/");
  return [key.slice(0, slash), key.slice(slash + 1)];
}

function templateOf(resource, namespace) {
  const place = resource.namespaced ? `  namespace: ${namespace || "default"}\n` : "";
  const kind = `apiVersion: ${resource.apiVersion}\nkind: ${resource.kind}\n`;
  return `${kind}metadata:\n  name: ""\n${place}`;
}
