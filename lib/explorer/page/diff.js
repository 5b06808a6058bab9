// The difference between two texts, line by line.

import { el } from "./dom.js";

const CONTEXT_LINES = 3;
// More work than this is not worth a smaller difference: the middle counts as replaced.
const CELLS_MAX = 4_000_000;

// Returns [{sign: " " | "-" | "+", text}], with the longest common subsequence kept.
export function diffLines(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start &&
         a[a.length - 1 - end] === b[b.length - 1 - end]) {
    end++;
  }
  const kept = (text) => ({ sign: " ", text });
  return [
    ...a.slice(0, start).map(kept),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(kept),
  ];
}

function diffMiddle(a, b) {
  const lines = [];
  let i = 0;
  let j = 0;
  if (a.length * b.length <= CELLS_MAX) {
    const lengths = commonLengths(a, b);
    const width = b.length + 1;
    while (i < a.length && j < b.length) {
      if (a[i] === b[j]) {
        lines.push({ sign: " ", text: a[i++] });
        j++;
      } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
        lines.push({ sign: "-", text: a[i++] });
      } else {
        lines.push({ sign: "+", text: b[j++] });
      }
    }
  }
  while (i < a.length) lines.push({ sign: "-", text: a[i++] });
  while (j < b.length) lines.push({ sign: "+", text: b[j++] });
  return lines;
}

// The length of the longest common subsequence of a[i…] and b[j…], for all i and j.
function commonLengths(a, b) {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  return lengths;
}

// Shows a difference with a few lines around each change.
export function diffView(before, after) {
  const lines = diffLines(before, after);
  const near = new Set();
  lines.forEach((line, at) => {
    if (line.sign === " ") return;
    for (let i = at - CONTEXT_LINES; i <= at + CONTEXT_LINES; i++) near.add(i);
  });
  const view = el("pre", { class: "diff", tabindex: 0, "aria-label": "Changes" });
  if (!near.size) {
    view.append("No changes.");
    return view;
  }
  const classes = { "+": "added", "-": "removed", " ": "kept" };
  let skipped = false;
  lines.forEach((line, at) => {
    if (!near.has(at)) {
      skipped = true;
      return;
    }
    if (skipped) view.append(el("div", { class: "skipped" }, "⋯"));
    skipped = false;
    view.append(el("div", { class: classes[line.sign] }, `${line.sign} ${line.text}`));
  });
  return view;
}
