// A table of any length: only the rows in sight have elements.

import { el, fill } from "./dom.js";

const ROW_PX = 30;
const SPARE_ROWS = 8;  // Above and below those in sight.
const FRESH_MS = 1500;  // How long a changed row is highlighted.
const SAMPLED_ROWS = 200;  // Looked at to find the widths of columns.
const CHARACTERS_MAX = 60;

export class Grid {
  // `onOpen(row)`: Enter or a click; `onSort(index)`: a click on a column's title.
  constructor({ label, onOpen, onSort }) {
    this.onOpen = onOpen;
    this.onSort = onSort;
    this.columns = [];  // {title, text(row), align, description}.
    this.rows = [];
    this.selected = "";  // The key of a row.
    this.open = "";
    this.sought = "";  // The key of a row to bring into sight as soon as there is one.
    this.sort = { column: -1, descending: false };
    this.nodes = [];
    this.head = el("div", { role: "row", class: "grid-head", "aria-rowindex": 1 });
    this.space = el("div", { class: "grid-space", role: "presentation" });
    this.scroller = el("div", {
      class: "grid", role: "grid", tabindex: 0, "aria-label": label, "aria-readonly": "true",
      onscroll: () => this.drawSoon(),
      onkeydown: (event) => this.onKey(event),
      onclick: (event) => this.onClick(event),
    }, el("div", { role: "rowgroup", class: "grid-top" }, this.head), this.space);
    this.observer = new ResizeObserver(() => this.drawSoon());
    this.observer.observe(this.scroller);
  }

  get node() {
    return this.scroller;
  }

  setColumns(columns, sort) {
    this.columns = columns;
    this.sort = sort;
    this.scroller.setAttribute("aria-colcount", String(columns.length));
    fill(this.head, columns.map((column, index) => el("div", {
      role: "columnheader", class: column.align === "right" ? "number" : "",
      title: column.description, "data-column": index,
      "aria-sort": index !== sort.column ? "none" : sort.descending ? "descending" : "ascending",
    }, el("span", {}, column.title))));
    for (const node of this.nodes) node.remove();
    this.nodes = [];
  }

  setRows(rows) {
    this.rows = rows;
    this.scroller.setAttribute("aria-rowcount", String(rows.length + 1));
    this.space.style.height = `${rows.length * ROW_PX}px`;
    this.setWidths();
    this.drawSoon();
  }

  // Widths in characters, from the longest texts of the first rows; what is left over is shared.
  setWidths() {
    const longest = this.columns.map((column) => column.title.length + 2);
    for (const row of this.rows.slice(0, SAMPLED_ROWS)) {
      this.columns.forEach((column, index) => {
        longest[index] = Math.max(longest[index], column.text(row).length);
      });
    }
    const counts = longest.map((count) => Math.min(CHARACTERS_MAX, count + 3));
    const template = counts.map((count) => `minmax(0, ${count}fr)`).join(" ");
    if (template === this.template) return;
    this.template = template;
    this.scroller.style.setProperty("--columns", template);
    const sum = counts.reduce((all, count) => all + count, 0);
    this.scroller.style.setProperty("--width", `${sum}ch`);
  }

  drawSoon() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    this.seek();
    const top = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
    const count = Math.ceil(this.scroller.clientHeight / ROW_PX) + 2 * SPARE_ROWS;
    const last = Math.min(this.rows.length, first + count);
    while (this.nodes.length < last - first) this.addNode();
    let fresh = false;
    this.nodes.forEach((node, at) => {
      const index = first + at;
      node.hidden = index >= last;
      if (!node.hidden) fresh = this.drawRow(node, index) || fresh;
    });
    const selected = this.rows.findIndex((row) => row.key === this.selected);
    if (selected >= first && selected < last) {
      this.scroller.setAttribute("aria-activedescendant", this.nodes[selected - first].id);
    } else {
      this.scroller.removeAttribute("aria-activedescendant");
    }
    if (fresh && !this.timer) {
      this.timer = setTimeout(() => {
        this.timer = 0;
        this.drawSoon();
      }, FRESH_MS);
    }
  }

  addNode() {
    const node = el("div", { role: "row", class: "grid-row", id: `row-${this.nodes.length}` },
      this.columns.map((column) =>
        el("div", { role: "gridcell", class: column.align === "right" ? "number" : "" })));
    this.nodes.push(node);
    this.space.append(node);
  }

  // Returns whether the row is highlighted, which must end some time.
  drawRow(node, index) {
    const row = this.rows[index];
    node.style.transform = `translateY(${index * ROW_PX}px)`;
    node.setAttribute("aria-rowindex", String(index + 2));
    node.setAttribute("aria-selected", String(row.key === this.selected));
    const fresh = row.changedAt > 0 && performance.now() - row.changedAt < FRESH_MS;
    node.classList.toggle("fresh", fresh);
    node.classList.toggle("open", row.key === this.open);
    node.dataset.index = index;
    this.columns.forEach((column, at) => {
      const text = column.text(row);
      const cell = node.children[at];
      if (cell.textContent !== text) {
        cell.textContent = text;
        cell.title = text;
      }
    });
    return fresh;
  }

  onClick(event) {
    const title = event.target.closest("[data-column]");
    if (title) return this.onSort(Number(title.dataset.column));
    const node = event.target.closest(".grid-row");
    if (node) this.choose(Number(node.dataset.index), /*open=*/true);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_PX) - 2);
    const at = this.rows.findIndex((row) => row.key === this.selected);
    const next = {
      ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page,
      PageUp: at - page, Home: 0, g: 0, End: this.rows.length - 1, G: this.rows.length - 1,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      this.choose(next, false);
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      this.onOpen(this.rows[at]);
    }
  }

  choose(index, open) {
    if (!this.rows.length) return;
    const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, index))];
    this.selected = row.key;
    this.scrollTo(this.rows.indexOf(row));
    this.drawSoon();
    if (open) this.onOpen(row);
  }

  seek() {
    if (!this.sought) return;
    const index = this.rows.findIndex((row) => row.key === this.sought);
    if (index < 0) return;
    this.sought = "";
    this.scrollTo(index);
  }

  scrollTo(index) {
    const top = index * ROW_PX;
    const room = this.scroller.clientHeight - this.head.offsetHeight;
    if (top < this.scroller.scrollTop) {
      this.scroller.scrollTop = top;
    } else if (top + ROW_PX > this.scroller.scrollTop + room) {
      this.scroller.scrollTop = top + ROW_PX - room;
    }
  }
}
