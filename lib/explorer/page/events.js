// The events about one object.

import { el, problem } from "./dom.js";
import { age } from "./text.js";

// Returns the resource that holds events. Undefined: the server has none.
export function eventsResource(discovery) {
  return discovery.resources.find((each) => each.plural === "events" && each.can("list") &&
    (each.group === "" || each.group === "events.k8s.io"));
}

export async function eventsView(api, resource, object) {
  const subject = resource.group === "" ? "involvedObject" : "regarding";
  const namespace = object.metadata.namespace || "default";
  let list;
  try {
    list = await api.json(resource.collection(namespace), {
      query: { fieldSelector: `${subject}.uid=${object.metadata.uid}`, limit: 500 },
    });
  } catch (error) {
    return problem(error);
  }
  const events = (list.items ?? []).map(factsOf)
    .sort((a, b) => Date.parse(b.last) - Date.parse(a.last));
  if (!events.length) return el("p", { class: "empty" }, "No events about this object.");
  return el("table", { class: "events" },
    el("thead", {}, el("tr", {}, ["Last", "Times", "Type", "Reason", "From", "Message"]
      .map((title) => el("th", { scope: "col" }, title)))),
    el("tbody", {}, events.map(rowOf)));
}

function rowOf(event) {
  return el("tr", { class: event.type === "Warning" ? "warned" : "" },
    el("td", { title: event.last }, age(event.last)),
    el("td", { class: "number" }, String(event.count)),
    [event.type, event.reason, event.source, event.message].map((text) => el("td", {}, text)));
}

// The same facts have other names in v1 and in events.k8s.io/v1.
function factsOf(event) {
  return {
    last: event.series?.lastObservedTime ?? event.lastTimestamp ?? event.deprecatedLastTimestamp ??
      event.eventTime ?? event.metadata.creationTimestamp,
    count: event.series?.count ?? event.count ?? event.deprecatedCount ?? 1,
    type: event.type ?? "",
    reason: event.reason ?? "",
    source: event.reportingComponent || event.reportingController || event.source?.component ||
      event.deprecatedSource?.component || "",
    message: event.message ?? event.note ?? "",
  };
}
