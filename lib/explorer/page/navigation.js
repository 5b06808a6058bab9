// The list of resources, by group.

import { el, fill } from "./dom.js";
import { addressOf } from "./session.js";

export class Navigation {
  constructor(discovery) {
    this.discovery = discovery;
    this.place = {};
    this.search = el("input", {
      type: "search", id: "resources", placeholder: "Find a resource  r", autocomplete: "off",
      "aria-label": "Find a resource", oninput: () => this.draw(),
      onkeydown: (event) => this.onKey(event),
    });
    this.list = el("div", { class: "groups" });
    this.node = el("nav", { "aria-label": "Resources" }, this.search, this.list);
  }

  show(place) {
    this.place = place;
    this.draw();
  }

  draw() {
    const word = this.search.value.trim().toLowerCase();
    const current = this.discovery.find(this.place.resource);
    const parts = [];
    for (const [group, resources] of this.discovery.groups()) {
      const found = resources.filter((each) => matches(each, word));
      if (!found.length) continue;
      parts.push(el("section", {}, el("h2", {}, group || "core"),
        el("ul", {}, found.map((each) => el("li", {}, this.link(each, current))))));
    }
    for (const each of this.discovery.failed) {
      parts.push(el("p", { class: "failed" }, `${each} does not answer.`));
    }
    fill(this.list, parts.length ? parts : el("p", { class: "empty" }, "No such resource."));
  }

  link(resource, current) {
    const here = current?.group === resource.group && current?.plural === resource.plural;
    return el("a", {
      href: addressOf({ resource: resource.id, namespace: this.place.namespace }),
      "aria-current": here ? "page" : null, title: `${resource.plural} (${resource.apiVersion})`,
    }, resource.plural);
  }

  onKey(event) {
    const first = this.list.querySelector("a");
    if (event.key === "Enter" && first) {
      location.hash = first.getAttribute("href");
      this.search.value = "";
    } else if (event.key === "ArrowDown" && first) {
      event.preventDefault();
      first.focus();
    }
  }
}

function matches(resource, word) {
  return !word || [resource.plural, resource.kind, resource.group, ...resource.shortNames]
    .some((text) => text.toLowerCase().includes(word));
}
