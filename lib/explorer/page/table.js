// The middle of the page: one resource, live, with its filters.

import { Collection } from "./collection.js";
import { button, el, fill, problem } from "./dom.js";
import { Grid } from "./grid.js";
import { age, compareCells, counted } from "./text.js";

const REDRAW_MS = 100;
const AGES_MS = 10000;

const STATES = {
  loading: "loading", live: "live", listed: "not live: this resource cannot be watched",
  waiting: "connection lost, trying again", refused: "refused",
};

export class TableView {
  // `place`: see session.js. `go(changes)` moves to another place; `onCreate` asks for the editor.
  constructor(api, resource, place, { go, onCreate, namespaces }) {
    this.api = api;
    this.resource = resource;
    this.place = place;
    this.go = go;
    this.text = "";
    this.sort = { column: -1, descending: false };
    this.wide = false;
    this.namespaces = namespaces;
    this.grid = new Grid({
      label: resource.plural,
      onOpen: (row) => go({ object: row.key, tab: place.tab }),
      onSort: (column) => this.sortBy(column),
    });
    this.build(onCreate);
    this.follow();
    this.ages = setInterval(() => this.grid.drawSoon(), AGES_MS);
  }

  build(onCreate) {
    const { resource, place, go } = this;
    this.filter = el("input", {
      type: "search", id: "filter", placeholder: "Filter rows  /", "aria-label": "Filter rows",
      autocomplete: "off", oninput: () => this.filterBy(this.filter.value),
      onkeydown: (event) => this.onFilterKey(event),
    });
    const labels = el("input", {
      type: "search", id: "labels", placeholder: "Labels: app=web,tier!=db", value: place.labels,
      "aria-label": "Label selector", autocomplete: "off", spellcheck: "false",
      onchange: () => go({ labels: labels.value.trim(), object: "" }),
    });
    const version = resource.versions.length < 2 ? el("code", {}, resource.version) : el("select", {
      "aria-label": "Version",
      onchange: () => go({ resource: `${resource.group}/${version.value}/${resource.plural}` }),
    }, resource.versions.map((each) =>
      el("option", { value: each, selected: each === resource.version }, each)));
    this.wider = button("More columns", () => this.toggleWide(), { "aria-pressed": "false" });
    this.status = el("span", { class: "state", role: "status" });
    this.trouble = el("div");
    this.node = el("main", { class: "table-view" },
      el("div", { class: "toolbar" },
        el("h1", {}, resource.kind), el("code", { title: resource.group }, resource.group), version,
        this.status, el("span", { class: "grow" }),
        resource.can("create") ? button("New", onCreate, { class: "primary" }) : null),
      el("div", { class: "toolbar" },
        this.filter, labels, el("span", { class: "grow" }), this.wider),
      this.trouble, this.grid.node);
  }

  follow() {
    this.collection?.stop();
    this.collection = new Collection(this.api, this.resource, {
      namespace: this.place.namespace, labels: this.place.labels, onChange: () => this.redrawSoon(),
    }).start();
    this.columns = null;
    this.redrawSoon();
  }

  stop() {
    this.collection.stop();
    clearInterval(this.ages);
    clearTimeout(this.timer);
    this.grid.observer.disconnect();
  }

  focus() {
    this.grid.node.focus();
  }

  // The row's present state. Undefined: it is not in the table.
  row(key) {
    return this.collection.rows.get(key);
  }

  show(place) {
    this.place = place;
    this.grid.open = place.object;
    if (place.object) this.grid.selected = this.grid.sought = place.object;
    this.grid.drawSoon();
  }

  redrawSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.redraw();
    }, REDRAW_MS);
  }

  redraw() {
    const { collection } = this;
    if (collection.columns !== this.columns) {
      this.columns = collection.columns;
      this.setColumns();
    }
    for (const row of collection.rows.values()) {
      if (row.meta.namespace) this.namespaces.add(row.meta.namespace);
    }
    const rows = this.visibleRows();
    this.grid.setRows(rows);
    const total = collection.rows.size;
    const count = rows.length === total ? counted(total, "object")
      : `${rows.length.toLocaleString("en")} of ${counted(total, "object")}`;
    this.status.className = `state ${collection.state}`;
    this.status.textContent = `${count} · ${STATES[collection.state]}`;
    fill(this.trouble, this.troubleOf(collection, rows));
    this.onRows?.();
  }

  troubleOf(collection, rows) {
    if (collection.error) {
      const again = collection.state === "refused"
        ? button("Try again", () => this.follow()) : null;
      return problem(collection.error, again);
    }
    if (rows.length || collection.state === "loading") return null;
    const hidden = collection.rows.size > 0;
    return el("p", { class: "empty" }, hidden ? "No row matches the filter."
      : `No ${this.resource.plural} here${this.place.labels ? " with these labels" : ""}.`);
  }

  setColumns() {
    const all = this.columns;
    this.wider.hidden = !all.some((column) => column.priority > 0);
    const shown = all.map((column, index) => ({ column, index }))
      .filter(({ column }) => this.wide || !column.priority)
      .map(({ column, index }) => newColumn(column, index));
    if (this.resource.namespaced && !this.place.namespace) {
      const text = (row) => row.meta.namespace ?? "";
      shown.unshift({ title: "Namespace", text, value: text, description: "" });
    }
    this.shown = shown;
    this.grid.setColumns(shown, this.sort);
  }

  visibleRows() {
    const words = this.text.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = this.shown ?? [];
    const matches = (row) => {
      const text = texts.map((column) => column.text(row)).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const rows = [...this.collection.rows.values()].filter((row) => !words.length || matches(row));
    const column = texts[this.sort.column];
    const sign = this.sort.descending ? -1 : 1;
    return rows.sort((a, b) =>
      (column ? sign * compareCells(column.value(a), column.value(b)) : 0) ||
      (a.key < b.key ? -1 : 1));
  }

  sortBy(column) {
    const same = this.sort.column === column;
    this.sort = same && this.sort.descending ? { column: -1, descending: false }
      : { column, descending: same };
    this.setColumns();
    this.redraw();
  }

  toggleWide() {
    this.wide = !this.wide;
    this.wider.setAttribute("aria-pressed", String(this.wide));
    this.sort = { column: -1, descending: false };
    this.setColumns();
    this.redraw();
  }

  filterBy(text) {
    this.text = text;
    this.redraw();
  }

  onFilterKey(event) {
    if (event.key === "Escape" && this.filter.value) {
      event.stopPropagation();
      this.filter.value = "";
      this.filterBy("");
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.focus();
      if (!this.row(this.grid.selected)) this.grid.choose(0, false);
    }
  }
}

// The server writes an age once; here it goes on.
function newColumn(column, index) {
  const isAge = column.name === "Age";
  const value = (row) => (isAge && row.meta.creationTimestamp
    ? -Date.parse(row.meta.creationTimestamp) : row.cells[index]);
  const text = (row) => {
    if (isAge && row.meta.creationTimestamp) return age(row.meta.creationTimestamp);
    const cell = row.cells[index];
    return cell === null || cell === undefined ? ""
      : typeof cell === "object" ? JSON.stringify(cell) : String(cell);
  };
  const isNumber = column.type === "integer" || column.type === "number";
  return {
    title: column.name, text, value, align: isNumber ? "right" : "left",
    description: column.description ?? "",
  };
}
