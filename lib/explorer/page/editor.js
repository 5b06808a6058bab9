// The editor of one object's YAML: a text area with line numbers and indentation. The server checks
// the text by a dry run, and shows what a save would change, before it can be saved.

import { button, el, fill, problem } from "./dom.js";
import { diffView } from "./diff.js";
import { lineOf } from "./yaml.js";

const INDENT = "  ";

export class Editor {
  // `before`: the object as it is, empty if it is to be created. `check(text)` returns {text,
  // warnings}, the result of a dry run; `save(text)` stores it. Both throw an ApiError if the
  // server refuses.
  constructor({ text, before, check, save, onCancel }) {
    Object.assign(this, { original: text, before, check, save });
    this.checked = null;  // The text that the server has found right.
    this.area = el("textarea", {
      "aria-label": "YAML", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
      wrap: "off", "aria-describedby": "editor-hint",
      oninput: () => this.onInput(), onscroll: () => this.scrollNumbers(),
      onkeydown: (event) => this.onKey(event),
    });
    this.area.value = text;
    this.numbers = el("div", { class: "numbers", "aria-hidden": "true" });
    this.result = el("div", { class: "result", "aria-live": "polite" });
    this.checkButton = button("Check", () => this.runCheck(), { id: "check" });
    this.saveButton = button("Save", () => this.runSave(), { id: "save", class: "primary" });
    this.node = el("div", { class: "editor" },
      el("div", { class: "lines" }, this.numbers, this.area),
      el("div", { class: "actions" },
        el("small", { id: "editor-hint" },
          "Ctrl+S checks, then saves; Esc, then Tab, leaves the text"),
        el("span", { class: "grow" }), button("Cancel", onCancel, { id: "cancel" }),
        this.checkButton, this.saveButton),
      this.result);
    this.marks = new Map();  // Line: message.
    this.onInput();
  }

  get changed() {
    return this.area.value !== this.original;
  }

  focus() {
    this.area.focus();
    this.area.setSelectionRange(0, 0);
  }

  onInput() {
    this.marks.clear();
    this.checked = null;
    this.saveButton.disabled = true;
    this.drawNumbers();
  }

  drawNumbers() {
    const count = this.area.value.split("\n").length;
    if (this.numbers.childElementCount !== count || this.marked || this.marks.size) {
      fill(this.numbers, Array.from({ length: count }, (_, line) => el("div", {
        class: this.marks.has(line) ? "wrong" : null, title: this.marks.get(line),
      }, String(line + 1))));
    }
    this.marked = this.marks.size > 0;
    this.scrollNumbers();
  }

  scrollNumbers() {
    this.numbers.scrollTop = this.area.scrollTop;
  }

  onKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      if (this.checked === this.area.value) {
        this.runSave();
      } else {
        this.runCheck();
      }
    } else if (event.key === "Tab") {
      event.preventDefault();
      this.indent(event.shiftKey);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.breakLine();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      this.checkButton.focus();
    }
  }

  // Replaces the selection in a way that the browser can undo.
  insert(text) {
    if (!document.execCommand("insertText", false, text)) {
      this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
      this.onInput();
    }
  }

  // A new line is indented as the one before, and deeper behind a key without a value.
  breakLine() {
    const { value, selectionStart } = this.area;
    const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
    const [indent] = /^ *(- )?/.exec(line);
    const deeper = /:\s*$/.test(line) ? INDENT : "";
    this.insert(`\n${indent.replace("-", " ")}${deeper}`);
  }

  // Moves the selected lines, or inserts an indentation where the cursor is.
  indent(back) {
    const { area } = this;
    if (!back && area.selectionStart === area.selectionEnd) return this.insert(INDENT);
    const from = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const next = area.value.indexOf("\n", area.selectionEnd);
    const to = next < 0 ? area.value.length : next;
    const lines = area.value.slice(from, to).split("\n")
      .map((line) => (back ? line.replace(/^ {1,2}/, "") : line && INDENT + line)).join("\n");
    area.setSelectionRange(from, to);
    this.insert(lines);
    area.setSelectionRange(from, from + lines.length);
  }

  async runCheck() {
    const text = this.area.value;
    await this.run(async () => {
      const { text: result, warnings } = await this.check(text);
      this.checked = text;
      this.saveButton.disabled = text !== this.area.value;
      fill(this.result, this.warningsOf(warnings),
        el("h3", {}, "What a save will change"), diffView(this.before, result));
      this.saveButton.focus();
    });
  }

  async runSave() {
    await this.run(() => this.save(this.area.value));
  }

  async run(request) {
    this.checkButton.disabled = true;
    this.saveButton.disabled = true;
    try {
      await request();
    } catch (error) {
      this.showError(error);
    }
    this.checkButton.disabled = false;
  }

  warningsOf(warnings) {
    if (!warnings.length) return null;
    return el("ul", { class: "notice" },
      warnings.map((each) => el("li", {}, `Warning: ${each}`)));
  }

  // Marks the lines that the error names, and shows the first.
  showError(error) {
    this.marks = linesOf(error, this.area.value);
    this.drawNumbers();
    const jumps = [...this.marks].map(([line, message]) => el("li", {},
      button(`Line ${line + 1}`, () => this.jump(line), { class: "link" }), ` ${message}`));
    fill(this.result, problem(error, jumps.length ? el("ul", { class: "jumps" }, jumps) : null));
    const first = Math.min(...this.marks.keys());
    if (Number.isFinite(first)) this.jump(first);
  }

  jump(line) {
    const lines = this.area.value.split("\n");
    const start = lines.slice(0, line).join("\n").length + (line > 0 ? 1 : 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[line] ?? "").length);
    this.area.scrollTop = Math.max(0, (line - 3) * (this.area.scrollHeight / lines.length));
  }
}

// Returns the messages of an error by line: of the fields that a Status names, of unknown fields,
// and of YAML that cannot be read.
function linesOf(error, text) {
  const marks = new Map();
  const mark = (line, message) => {
    if (line >= 0 && !marks.has(line)) marks.set(line, message);
  };
  for (const cause of error.status?.details?.causes ?? []) {
    if (cause.field) mark(lineOf(text, cause.field), cause.message ?? error.message);
  }
  for (const [, what, field] of error.message.matchAll(/(unknown|duplicate) field "([^"]+)"/g)) {
    mark(lineOf(text, field), `${what} field`);
  }
  for (const [, line] of error.message.matchAll(/\bline (\d+)/g)) {
    mark(Number(line) - 1, error.message);
  }
  return marks;
}
