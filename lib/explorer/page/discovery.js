// The resources that the server serves, from its aggregated discovery documents.

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

// One resource in one version.
class Resource {
  constructor(group, version, entry) {
    this.group = group;
    this.version = version;
    this.plural = entry.resource;
    this.kind = entry.responseKind?.kind ?? entry.resource;
    this.kindGroup = entry.responseKind?.group || group;
    this.kindVersion = entry.responseKind?.version || version;
    this.namespaced = entry.scope === "Namespaced";
    this.verbs = new Set(entry.verbs ?? []);
    this.shortNames = entry.shortNames ?? [];
    this.versions = [version];
  }

  get id() {
    return `${this.group}/${this.version}/${this.plural}`;
  }
  get apiVersion() {
    return this.group ? `${this.group}/${this.version}` : this.version;
  }
  // The path of its group version below the root: "apis/example.com/v1".
  get root() {
    return this.group ? `apis/${this.group}/${this.version}` : `api/${this.version}`;
  }
  can(verb) {
    return this.verbs.has(verb);
  }
  // The path of the collection; an empty namespace means all.
  collection(namespace) {
    const inside = this.namespaced && namespace;
    const place = inside ? `/namespaces/${encodeURIComponent(namespace)}` : "";
    return `/${this.root}${place}/${this.plural}`;
  }
  item(namespace, name) {
    return `${this.collection(namespace)}/${encodeURIComponent(name)}`;
  }
}

export class Discovery {
  // `resources`: of all versions, in the server's order. `failed`: group versions that an
  // aggregator could not ask.
  constructor(resources, failed) {
    this.resources = resources;
    this.failed = failed;
  }

  find(id) {
    return this.resources.find((resource) => resource.id === id);
  }
  // The resource in the version that the server prefers.
  preferred(group, plural) {
    return this.resources.find((each) => each.group === group && each.plural === plural);
  }
  // The resources that can be listed, each in its preferred version, by group; the core group is
  // first.
  groups() {
    const groups = new Map();
    const seen = new Set();
    for (const resource of this.resources) {
      const key = `${resource.group}/${resource.plural}`;
      if (!resource.can("list") || seen.has(key)) continue;
      seen.add(key);
      if (!groups.has(resource.group)) groups.set(resource.group, []);
      groups.get(resource.group).push(resource);
    }
    return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

// Reads both documents; a server without the core group has no /api.
export async function discover(api) {
  const read = (path) => api.json(path, { accept: AGGREGATED });
  const [named, core] = await Promise.all([
    read("/apis"),
    read("/api").catch((error) => {
      if (error.code === 404 || error.code === 403) return { items: [] };
      throw error;
    }),
  ]);
  const resources = [];
  const failed = [];
  for (const group of [...(core.items ?? []), ...(named.items ?? [])]) {
    const name = group.metadata?.name ?? "";
    for (const version of group.versions ?? []) {
      if (version.freshness === "Stale") failed.push(`${name}/${version.version}`);
      for (const entry of version.resources ?? []) {
        resources.push(new Resource(name, version.version, entry));
      }
    }
  }
  noteVersions(resources);
  return new Discovery(resources, failed);
}

function noteVersions(resources) {
  const versions = new Map();
  for (const resource of resources) {
    const key = `${resource.group}/${resource.plural}`;
    if (!versions.has(key)) versions.set(key, []);
    versions.get(key).push(resource.version);
    resource.versions = versions.get(key);
  }
}
