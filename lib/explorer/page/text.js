// Texts for people: ages, counts, and the words of errors.

// Writes the time since `timestamp` as kubectl does: "45s", "5m30s", "3h", "12d".
export function age(timestamp, now = Date.now()) {
  const seconds = Math.max(0, Math.floor((now - Date.parse(timestamp)) / 1000));
  if (Number.isNaN(seconds)) return "<unknown>";
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return withRest(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? withRest(years, "y", days % 365, "d") : `${years}y`;
}

function withRest(count, unit, rest, unitOfRest) {
  return rest ? `${count}${unit}${rest}${unitOfRest}` : `${count}${unit}`;
}

export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

// Compares texts by their UTF-16 units, which is quicker than a locale's order, and numbers in
// front of them by value.
export function compareCells(a, b) {
  const left = typeof a === "number" ? a : Number.parseFloat(a);
  const right = typeof b === "number" ? b : Number.parseFloat(b);
  if (left !== right && !Number.isNaN(left) && !Number.isNaN(right)) return left - right;
  const x = String(a ?? "");
  const y = String(b ?? "");
  return x < y ? -1 : x > y ? 1 : 0;
}
