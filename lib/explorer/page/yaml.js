// What this page knows of YAML, which the server reads and writes: colours, the lines of
// managedFields, and on which line a field is. Made for the block style that servers write.

import { el } from "./dom.js";

const COLOURED_LINES_MAX = 5000;

// Leaves out metadata.managedFields, which is long and shown elsewhere.
export function withoutManagedFields(text) {
  const kept = [];
  let inside = false;
  for (const line of text.split("\n")) {
    if (inside && /^( {2}- | {3,}|\s*$)/.test(line)) continue;
    inside = /^ {2}managedFields:/.test(line);
    if (!inside) kept.push(line);
  }
  return kept.join("\n");
}

// Returns the lines as elements with colours, or as one text if there are very many.
export function coloured(text) {
  const lines = text.split("\n");
  if (lines.length > COLOURED_LINES_MAX) return [text];
  return lines.flatMap((line) => [...colouredLine(line), "\n"]);
}

function colouredLine(line) {
  const [, indent, key, value] = /^([\s-]*)((?:"[^"]*"|[^\s#"'][^:#]*?):(?=\s|$))?(.*)$/.exec(line);
  return [
    indent,
    key ? el("span", { class: "y-key" }, key) : null,
    value ? el("span", { class: classOf(value.trim()) }, value) : null,
  ].filter((part) => part);
}

function classOf(value) {
  if (value.startsWith("#")) return "y-comment";
  if (/^(true|false|null|~|-?\d+(\.\d+)?)$/.test(value)) return "y-literal";
  return "y-string";
}

// Splits a path of an error, "spec.ports[0].name" or "metadata.labels[a/b]", into its steps.
export function stepsOf(path) {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map((match) => match[1] ?? match[2]);
}

// Returns the line, counted from zero, of the deepest part of `path` that the text has; -1: it has
// none.
export function lineOf(text, path) {
  const lines = text.split("\n");
  let line = -1;
  let from = 0;
  let indent = -1;
  for (const step of stepsOf(path)) {
    const found = /^\d+$/.test(step) && findItem(lines, from, indent, Number(step)) ||
      findKey(lines, from, indent, step);
    if (!found) break;
    line = found.line;
    from = found.line + (found.inline ? 0 : 1);
    indent = found.indent;
  }
  return line;
}

function indentOf(line) {
  return /^ */.exec(line)[0].length;
}

// The key of a mapping whose own key is indented by `indent`. Items of a list count as deeper.
function findKey(lines, from, indent, key) {
  let level = -1;
  for (let at = from; at < lines.length; at++) {
    const bare = lines[at].replace(/^( *)- /, "$1  ");
    if (!bare.trim() || bare.trim().startsWith("#")) continue;
    const own = indentOf(bare);
    if (own <= indent && at !== from) return null;
    if (level < 0) level = own;
    if (own !== level) continue;
    const name = bare.trim();
    if ([`${key}:`, `"${key}":`, `'${key}':`].some((start) => name.startsWith(start))) {
      return { line: at, indent: own };
    }
  }
  return null;
}

// The item of a list, which may be indented as much as the key before it.
function findItem(lines, from, indent, index) {
  let level = -1;
  let count = -1;
  for (let at = from; at < lines.length; at++) {
    if (!lines[at].trim()) continue;
    const own = indentOf(lines[at]);
    const item = lines[at].trim().startsWith("-");
    if (own < indent || (own === indent && !item)) return null;
    if (level < 0) level = own;
    if (own === level && item && ++count === index) {
      return { line: at, indent: own, inline: true };
    }
  }
  return null;
}
