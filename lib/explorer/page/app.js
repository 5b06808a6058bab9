// The page: sign-in, the frame around everything, and what is shown where the address points to.

import { Api } from "./api.js";
import { Detail } from "./detail.js";
import { discover } from "./discovery.js";
import { button, el, fill, problem } from "./dom.js";
import { showHelp } from "./help.js";
import { Navigation } from "./navigation.js";
import {
  addressOf, getPlace, getTheme, getToken, setTheme, showTheme, takeTokenFromAddress,
} from "./session.js";
import { closeSignIn, signIn } from "./sign_in.js";
import { TableView } from "./table.js";
import { counted } from "./text.js";

const REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const THEMES = { "": ["◐", "as the system"], light: ["☀", "light"], dark: ["☾", "dark"] };

class App {
  constructor() {
    this.api = new Api(getToken, (error) =>
      signIn(() => this.start(), getToken() ? `The server refuses this token: ${error.message}`
        : "The server wants to know who you are."));
    this.place = getPlace();
    this.namespaces = new Set();
    this.build();
    addEventListener("hashchange", () => this.onAddress());
    addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("beforeunload", (event) => {
      if (this.detail?.editor?.changed) event.preventDefault();
    });
    this.start();
  }

  build() {
    this.names = el("datalist", { id: "namespaces" });
    this.namespace = el("input", {
      id: "namespace", list: "namespaces", placeholder: "All namespaces  n", autocomplete: "off",
      spellcheck: "false", "aria-label": "Namespace", type: "search",
      onfocus: () => this.fillNamespaces(),
      onchange: () => this.go({ namespace: this.namespace.value.trim(), object: "" }),
    });
    this.user = button("", () => signIn(() => this.start()), { id: "user", class: "quiet" });
    this.theme = button("", () => this.nextTheme(), { class: "quiet", id: "theme" });
    this.version = el("small", {});
    this.body = el("div", { class: "body" });
    document.body.append(
      el("header", { class: "top" },
        el("a", { href: "#", class: "brand" }, el("img", { src: "icon.svg", alt: "" }), "Explorer"),
        this.version, el("span", { class: "grow" }), this.namespace, this.names,
        this.user, this.theme,
        button("?", showHelp, { class: "quiet", "aria-label": "Keys" })),
      this.body);
    this.drawTheme();
  }

  // Asks the server what it serves and who is asking, and shows the place.
  async start() {
    this.leave();
    fill(this.body, el("p", { class: "empty" }, "Asking the server…"));
    this.showUser();
    try {
      this.discovery = await discover(this.api);
    } catch (error) {
      fill(this.body, el("main", {}, problem(error, button("Try again", () => this.start()),
        error.code === 401 || error.code === 403
          ? button("Sign in", () => signIn(() => this.start())) : null)));
      return;
    }
    this.navigation = new Navigation(this.discovery);
    this.showVersion();
    this.readNamespaces();
    this.show();
  }

  async showUser() {
    this.user.textContent = "…";
    try {
      const review = await this.api.json(REVIEW, {
        method: "POST", contentType: "application/json",
        body: '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
      });
      const { username = "", groups = [] } = review.status?.userInfo ?? {};
      this.user.textContent = username;
      this.user.title = `Groups: ${groups.join(", ") || "none"}\nClick to sign in as another user`;
    } catch (error) {
      this.user.textContent =
        error.code === 401 ? "Sign in" : getToken() ? "Signed in" : "Unknown user";
      this.user.title = error.message;
    }
  }

  async showVersion() {
    const version = await this.api.json("/version").catch(() => ({}));
    this.version.textContent = version.gitVersion ?? "";
  }

  // Namespaces come from the server, if it has them as objects, and from the objects seen.
  async readNamespaces() {
    const resource = this.discovery.preferred("", "namespaces");
    if (!resource?.can("list")) return;
    const list = await this.api.json(resource.collection(""), {
      accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
      query: { limit: 1000 },
    }).catch(() => ({}));
    for (const item of list.items ?? []) this.namespaces.add(item.metadata.name);
    this.fillNamespaces();
  }

  fillNamespaces() {
    fill(this.names, [...this.namespaces].sort().map((name) => el("option", { value: name })));
  }

  // Moves to another place, which the address names.
  go(changes) {
    const place = { ...this.place, ...changes };
    if (changes.resource && changes.resource !== this.place.resource) {
      place.labels = place.object = place.tab = "";
    }
    location.hash = addressOf(place);
  }

  onAddress() {
    if (takeTokenFromAddress()) {
      this.place = getPlace();
      closeSignIn();
      this.start();
      return;
    }
    if (this.detail && !this.detail.mayLeave()) {
      history.replaceState(null, "", addressOf(this.place));
      return;
    }
    const before = this.place;
    this.place = getPlace();
    if (this.discovery) this.show(before);
  }

  leave() {
    this.table?.stop();
    this.detail?.stop();
    this.table = this.detail = null;
  }

  // Shows the place, keeping the parts that are the same as before.
  show(before = {}) {
    const { place } = this;
    this.namespace.value = place.namespace;
    this.navigation.show(place);
    const resource = this.discovery.find(place.resource);
    const title = resource && (place.object.split("/")[1] || resource.plural);
    document.title = title ? `${title} · Explorer` : "Explorer";
    const same = this.table && ["resource", "namespace", "labels"]
      .every((part) => place[part] === before[part]);
    if (!same) {
      this.leave();
      fill(this.body, this.navigation.node);
      if (!resource) {
        this.body.append(this.overview());
        return;
      }
      this.table = new TableView(this.api, resource, place, {
        go: (changes) => this.go(changes), onCreate: () => this.create(),
        namespaces: this.namespaces,
      });
      this.table.onRows = () => this.tellDetail();
      this.body.append(this.table.node);
      this.table.focus();
    }
    this.table.show(place);
    this.showDetail(resource, same && place.object === before.object);
  }

  showDetail(resource, same) {
    const { place } = this;
    if (same && this.detail?.name) {
      this.detail.show(place.tab);
      return;
    }
    // What is being created has no place of its own.
    if (!place.object && this.detail && !this.detail.name) return;
    this.closeDetail();
    if (place.object) this.openDetail(resource, place.object);
  }

  openDetail(resource, key) {
    this.detail = new Detail(this.api, this.discovery, resource, {
      key, namespace: this.place.namespace || "default", tab: this.place.tab,
      go: (changes) => this.go(changes), close: () => this.close(),
    });
    this.body.append(this.detail.node);
    this.body.classList.add("with-detail");
  }

  closeDetail() {
    this.detail?.stop();
    this.detail?.node.remove();
    this.detail = null;
    this.body.classList.remove("with-detail");
  }

  // Leaves the panel; the focus goes back to the table.
  close() {
    if (!this.detail || !this.detail.mayLeave()) return;
    this.closeDetail();
    if (this.place.object) this.go({ object: "", tab: "" });
    this.table?.focus();
  }

  create() {
    if (this.detail && !this.detail.mayLeave()) return;
    this.closeDetail();
    this.openDetail(this.discovery.find(this.place.resource), "");
  }

  tellDetail() {
    if (!this.detail?.name) return;
    this.detail.onRow(this.table.row(this.place.object), this.table.collection.state === "live");
  }

  overview() {
    return el("main", { class: "overview" },
      el("h1", {}, "What this server serves"),
      el("div", { class: "cards" }, this.discovery.groups().map(([group, resources]) =>
        el("section", { class: "card" },
          el("h2", {}, group || "core"),
          el("small", {}, counted(resources.length, "resource")),
          el("ul", {}, resources.map((each) => el("li", {},
            el("a", { href: addressOf({ resource: each.id }) }, each.kind))))))));
  }

  nextTheme() {
    const themes = Object.keys(THEMES);
    setTheme(themes[(themes.indexOf(getTheme()) + 1) % themes.length]);
    this.drawTheme();
  }

  drawTheme() {
    const [sign, name] = THEMES[getTheme()] ?? THEMES[""];
    this.theme.textContent = sign;
    this.theme.title = `Theme: ${name}`;
    this.theme.setAttribute("aria-label", this.theme.title);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "Escape") {
      if (typing) {
        typing.blur();
        this.table?.focus();
      } else {
        this.close();
      }
      return;
    }
    if (typing) return;
    const focus = (id) => () => document.getElementById(id)?.focus();
    const action = {
      "/": focus("filter"), n: focus("namespace"), r: focus("resources"), "?": showHelp,
      e: () => this.detail?.startEdit(),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

takeTokenFromAddress();
showTheme();
new App();
