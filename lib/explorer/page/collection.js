// A collection as the server has it, in the form of a table: listed in pages, then followed by a
// watch.

import { ApiError, TABLE, jsonLines } from "./api.js";

const PAGE_ROWS = 500;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 30000;
// A watch that lived shorter than this counts as a failure, so that reconnecting slows down.
const WATCH_MS_MIN = 5000;
// Repeating these requests does not help.
const FINAL_CODES = new Set([400, 401, 403, 404, 405, 406]);

const GENERIC_COLUMNS = [
  { name: "Name", type: "string", priority: 0 }, { name: "Age", type: "date", priority: 0 },
];

export class Collection {
  // `onChange` is called whenever rows, columns or the state have changed. States: "loading",
  // "live", "listed" (there is no watch), "waiting" (to connect again), "refused".
  constructor(api, resource, { namespace, labels, onChange }) {
    this.api = api;
    this.resource = resource;
    this.path = resource.collection(namespace);
    this.labels = labels;
    this.onChange = onChange;
    this.columns = [];
    this.rows = new Map();  // By "NAMESPACE/NAME".
    this.state = "loading";
    this.error = null;
    this.version = "";
    this.stopped = new AbortController();
  }

  start() {
    this.run().catch((error) => {
      if (!this.stopped.signal.aborted) this.become("refused", error);
    });
    return this;
  }

  stop() {
    this.stopped.abort();
  }

  become(state, error = null) {
    this.state = state;
    this.error = error;
    if (!this.stopped.signal.aborted) this.onChange();
  }

  async run() {
    for (let failures = 0, expired = 0; !this.stopped.signal.aborted;) {
      try {
        await this.list();
        failures = 0;
        if (!this.resource.can("watch")) return this.become("listed");
        const began = performance.now();
        await this.follow();
        // A server that has forgotten the list at once may do so again.
        expired = performance.now() - began < WATCH_MS_MIN ? expired + 1 : 0;
        if (expired) await this.pause(expired - 1);
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        if (FINAL_CODES.has(error.code)) return this.become("refused", error);
        this.become("waiting", error);
        await this.pause(failures++, error.retryAfterSeconds);
      }
    }
  }

  query(more) {
    return this.labels ? { labelSelector: this.labels, ...more } : more;
  }

  // Reads all pages. The rows on show stay until the new ones are complete, unless there are none.
  async list() {
    const rows = this.rows.size ? new Map() : this.rows;
    let limit = PAGE_ROWS;
    for (let token = ""; ;) {
      const query = this.query(limit ? { limit } : {});
      if (token) query.continue = token;
      let page;
      try {
        page = await this.api.json(this.path,
          { accept: TABLE, query, signal: this.stopped.signal });
      } catch (error) {
        // The rest of a list whose revision is gone cannot be read: all of it is, at once.
        if (error.code !== 410 || !token) throw error;
        rows.clear();
        limit = 0;
        token = "";
        continue;
      }
      this.take(page, rows);
      this.version = page.metadata?.resourceVersion ?? "";
      token = page.metadata?.continue ?? "";
      if (rows === this.rows) this.become("loading");
      if (!token) break;
    }
    this.rows = rows;
  }

  // Watches until the server has forgotten where this collection stands.
  async follow() {
    for (let failures = 0, again = false; ; again = true) {
      const began = performance.now();
      try {
        if (again && (await this.beganAnew())) return;
        if (!(await this.watch())) return;
      } catch (error) {
        if (this.stopped.signal.aborted || error.code) {
          // The server has answered, but not with a watch: only a new list helps.
          if (error.code === 410) return;
          throw error;
        }
        this.become("waiting", new ApiError(0, "The connection is lost; the rows may be old."));
      }
      if (performance.now() - began > WATCH_MS_MIN) {
        failures = 0;
      } else {
        await this.pause(failures++);
      }
    }
  }

  // Whether the server stands before the revision that it has told us, as one that keeps its objects
  // in memory does after a restart: a watch from there would wait in silence.
  async beganAnew() {
    const page = await this.api.json(this.path,
      { accept: TABLE, query: this.query({ limit: 1 }), signal: this.stopped.signal });
    return Number(page.metadata?.resourceVersion) < Number(this.version);
  }

  // One watch request. Returns false if its history is gone, true when it has ended otherwise.
  async watch() {
    const response = await this.api.send(this.path, {
      accept: TABLE, signal: this.stopped.signal,
      query: this.query({ watch: 1, allowWatchBookmarks: true, resourceVersion: this.version }),
    });
    this.become("live");
    for await (const events of jsonLines(response)) {
      for (const event of events) {
        if (event.type === "ERROR") {
          if (event.object?.code === 410) return false;
          return true;
        }
        this.apply(event);
      }
      this.onChange();
    }
    return true;
  }

  apply({ type, object }) {
    if (type === "BOOKMARK") {
      this.version = versionOf(object) || this.version;
      return;
    }
    for (const row of this.take(object, type === "DELETED" ? null : this.rows)) {
      this.version = row.meta.resourceVersion ?? this.version;
      if (type === "DELETED") this.rows.delete(row.key);
      row.changedAt = performance.now();
    }
  }

  // Turns a Table, a list or an object into rows and puts them into `rows`, unless that is null.
  take(object, rows) {
    const taken = object.kind === "Table" ? this.rowsOfTable(object) : this.rowsOfObjects(object);
    if (rows) for (const row of taken) rows.set(row.key, row);
    return taken;
  }

  // Only the first Table of a watch has column definitions.
  rowsOfTable(table) {
    if (table.columnDefinitions?.length) this.columns = table.columnDefinitions;
    return (table.rows ?? []).map((row) => newRow(row.cells ?? [], row.object?.metadata ?? {}));
  }

  rowsOfObjects(object) {
    this.columns = GENERIC_COLUMNS;
    return (object.items ?? (object.metadata?.name ? [object] : [])).map((item) =>
      newRow([item.metadata.name, item.metadata.creationTimestamp], item.metadata));
  }

  // Waits before the next attempt, longer each time, until the network is back or time is over.
  pause(failures, seconds = 0) {
    const longest = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** failures);
    const time = Math.max(seconds * 1000, longest * (0.5 + Math.random() / 2));
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        removeEventListener("online", end);
        resolve();
      };
      const timer = setTimeout(end, time);
      addEventListener("online", end);
      this.stopped.signal.addEventListener("abort", end);
    });
  }
}

// Fields' owners are most of the metadata, and shown elsewhere.
function newRow(cells, { managedFields: _, ...meta }) {
  return { key: `${meta.namespace ?? ""}/${meta.name ?? cells[0]}`, cells, meta, changedAt: 0 };
}

function versionOf(object) {
  return object?.metadata?.resourceVersion || object?.rows?.[0]?.object?.metadata?.resourceVersion;
}
