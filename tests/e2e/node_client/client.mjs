// The steps of ../client-steps.txt with @kubernetes/client-node.
//
// usage: KUBECONFIG=FILE NODE_MODULES=FOLDER node client.mjs [STEP...]
//
// Each step stands alone and checks what it received. Exits 1 and names each failed check.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const require = createRequire(join(process.env.NODE_MODULES ?? 'node_modules', 'any.js'));
const k8s = await import(pathToFileURL(require.resolve('@kubernetes/client-node')));

const GROUP = 'wardle.example.com';
const VERSION = 'v1beta1';
const API = `${GROUP}/${VERSION}`;
const PATH = `/apis/${API}/namespaces/default/flunders`;
// Nothing waits this long where the server is right.
const PATIENCE_MS = 20000;

const config = new k8s.KubeConfig();
config.loadFromDefault();
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const { JsonPatch, MergePatch, StrategicMergePatch, ServerSideApply } = k8s.PatchStrategy;

let checks = 0;
let failed = 0;

function check(condition, what, got = '') {
  checks += 1;
  if (condition) return;
  failed += 1;
  console.log(`FAILED: ${what}\n  got: ${typeof got === 'string' ? got : JSON.stringify(got)}`);
}

function equal(got, want, what) {
  check(isDeepStrictEqual(got, want), `${what}: ${JSON.stringify(want)}`, got);
}

// The call fails with a Status of `code` and `reason` whose message has `texts`; returns it.
async function refused(call, code, reason, ...texts) {
  let answer;
  try {
    answer = await call();
  } catch (error) {
    if (!(error instanceof k8s.ApiException)) throw error;
    const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
    equal([error.code, status.kind, status.code, status.reason], [code, 'Status', code, reason], 'a refusal');
    for (const text of texts) {
      check(status.message?.includes(text), `a refusal says ${text}`, status.message);
    }
    return status;
  }
  check(false, `refused with ${code} ${reason}`, answer);
  return {};
}

function flunder(name, labels = {}, reference = 'other') {
  return {
    apiVersion: API,
    kind: 'Flunder',
    metadata: { name, namespace: 'default', labels },
    spec: { flunderReference: reference, referenceType: 'Flunder' },
  };
}

// Both interfaces are used: this one sends and shows plain JSON.
const at = { group: GROUP, version: VERSION, namespace: 'default', plural: 'flunders' };
const create = (name, labels, reference) =>
  custom.createNamespacedCustomObject({ ...at, body: flunder(name, labels, reference) });
const read = (name) => custom.getNamespacedCustomObject({ ...at, name });
const list = (options) => custom.listNamespacedCustomObject({ ...at, ...options });
const remove = (name, body) => custom.deleteNamespacedCustomObject({ ...at, name, body });
const patch = (name, body, kind, options = {}) =>
  custom.patchNamespacedCustomObject({ ...at, name, body, ...options }, k8s.setHeaderOptions('Content-Type', kind));
// An apply goes through the other, which knows the kind from the object.
const apply = (object, manager, force) =>
  objects.patch({ apiVersion: API, kind: 'Flunder', ...object }, undefined, undefined, manager, force, ServerSideApply);
// The kind of the other group.
const FLEET_API = 'harbor.example.com/v1';
const atFleet = { group: 'harbor.example.com', version: 'v1', namespace: 'default', plural: 'fleets' };
const fleet = (name, spec) => ({ apiVersion: FLEET_API, kind: 'Fleet', metadata: { name }, spec });
const createFleet = (name, spec) => custom.createNamespacedCustomObject({ ...atFleet, body: fleet(name, spec) });
const patchFleet = (name, body, kind, options = {}) =>
  custom.patchNamespacedCustomObject({ ...atFleet, name, body, ...options }, k8s.setHeaderOptions('Content-Type', kind));
const names = (list) => list.map((one) => one.metadata.name);

function deadline(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out: ${what}`)), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// A watch's events, taken one by one.
class Events {
  static async open(options) {
    const events = new Events();
    const taken = (type, object) => events.push({ type, object });
    const done = (error) => events.push({ end: error ?? 'the watch ended' });
    events.request = await new k8s.Watch(config).watch(PATH, options, taken, done);
    return events;
  }

  constructor() {
    this.ready = [];
    this.waiting = [];
  }

  push(event) {
    const waiter = this.waiting.shift();
    if (waiter) waiter(event);
    else this.ready.push(event);
  }

  async next() {
    const event = this.ready.shift() ??
      (await deadline(new Promise((resolve) => this.waiting.push(resolve)), 'an event'));
    if (event.end) throw new Error(`instead of an event: ${event.end}`);
    return [event.type, event.object];
  }

  close() {
    this.request.abort();
  }
}

async function watching(options, use) {
  const events = await Events.open(options);
  try {
    await use(events);
  } finally {
    events.close();
  }
}

const steps = {
  async discovery() {
    const version = await config.makeApiClient(k8s.VersionApi).getCode();
    equal(version.major, '1', 'the version');
    const { groups } = await config.makeApiClient(k8s.ApisApi).getAPIVersions();
    const group = groups.find((one) => one.name === GROUP);
    equal(group?.versions.map((one) => one.version), ['v1beta1', 'v1alpha1'], 'the versions by priority');
    equal(group?.preferredVersion.groupVersion, API, 'the preferred version');
    const { resources } = await custom.getAPIResources({ group: GROUP, version: VERSION });
    const one = resources.find((each) => each.name === 'flunders');
    equal([one?.kind, one?.namespaced, one?.singularName], ['Flunder', true, 'flunder'], 'a resource');
    for (const verb of ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']) {
      check(one?.verbs.includes(verb), `flunders have the verb ${verb}`, one);
    }
  },

  async create() {
    const one = await create('create-1', { app: 'a' });
    equal([one.apiVersion, one.kind], [API, 'Flunder'], "a created object's type");
    for (const member of ['uid', 'resourceVersion', 'creationTimestamp']) {
      check(one.metadata[member], `metadata.${member} is set`, one.metadata);
    }
    equal(one.spec, { flunderReference: 'other', referenceType: 'Flunder' }, 'the spec');
    const status = await refused(() => create('create-1'), 409, 'AlreadyExists',
      'flunders.wardle.example.com "create-1" already exists');
    equal(status.details, { name: 'create-1', group: GROUP, kind: 'flunders' }, 'the details');
    const body = flunder();
    body.metadata = { generateName: 'create-gen-' };
    const made = await objects.create(body);
    check(made.metadata.name.startsWith('create-gen-'), 'a generated name', made.metadata);
    check(made.metadata.creationTimestamp instanceof Date, 'a time is read', made.metadata);
    const both = flunder('create-2');
    both.spec.fischerReference = 'b';
    const invalid = await refused(() => objects.create(both), 422, 'Invalid',
      'Flunder.wardle.example.com "create-2" is invalid: spec.fischerReference: Invalid value: "b"');
    equal(invalid.details?.causes?.[0]?.field, 'spec.fischerReference', 'a cause');
  },

  async get() {
    const created = await create('get-1', {}, 'target');
    equal(await read('get-1'), created, 'what was created is read');
    const seen = await objects.read({ apiVersion: API, kind: 'Flunder', metadata: { name: 'get-1', namespace: 'default' } });
    equal([seen.metadata.uid, seen.spec], [created.metadata.uid, created.spec], 'both interfaces read the same');
    const old = await custom.getNamespacedCustomObject({ ...at, version: 'v1alpha1', name: 'get-1' });
    equal(old.spec, { reference: 'target', referenceType: 'Flunder' }, 'the other version');
    await refused(() => read('get-none'), 404, 'NotFound', 'flunders.wardle.example.com "get-none" not found');
  },

  async list() {
    const created = [];
    for (let i = 0; i < 4; i += 1) created.push(await create(`list-${i}`, { set: 'list', even: String(i % 2 === 0) }));
    const listed = await list({ labelSelector: 'set=list' });
    equal([listed.apiVersion, listed.kind], [API, 'FlunderList'], "a list's type");
    check(BigInt(listed.metadata.resourceVersion) >= BigInt(created[3].metadata.resourceVersion),
      'a list is as new as what it holds', listed.metadata);
    equal(names(listed.items), ['list-0', 'list-1', 'list-2', 'list-3'], 'the items by name');
    equal(names((await list({ labelSelector: 'set=list,even in (true)' })).items), ['list-0', 'list-2'], 'a label selector');
    equal(names((await list({ fieldSelector: 'metadata.name=list-3' })).items), ['list-3'], 'a field selector');
    const everywhere = await objects.list(API, 'Flunder', undefined, undefined, undefined, undefined, undefined, 'set=list');
    equal(everywhere.items.length, 4, 'every namespace');
  },

  async 'list-pages'() {
    const pages = { ...at, namespace: 'pages' };
    const make = (name) => custom.createNamespacedCustomObject({ ...pages, body: { ...flunder(name), metadata: { name } } });
    for (let i = 0; i < 5; i += 1) await make(`page-${i}`);
    const seen = [];
    const rest = [];
    const revisions = new Set();
    let more;
    do {
      const page = await custom.listNamespacedCustomObject({ ...pages, limit: 2, _continue: more });
      seen.push(...names(page.items));
      rest.push(page.metadata.remainingItemCount);
      revisions.add(page.metadata.resourceVersion);
      if (seen.length === 2) {
        await make('page-0-late');
        await make('page-9-late');
      }
      more = page.metadata.continue;
    } while (more);
    equal(seen, ['page-0', 'page-1', 'page-2', 'page-3', 'page-4'], 'pages show one moment');
    equal(rest, [3, 1, undefined], 'what remains');
    equal(revisions.size, 1, 'resource versions over the pages');
  },

  async watch() {
    const { metadata } = await list({});
    let created;
    await watching({ resourceVersion: metadata.resourceVersion, labelSelector: 'set=watch' }, async (events) => {
      created = await create('watch-1', { set: 'watch' });
      equal(await events.next(), ['ADDED', created], 'the first event');
      await create('watch-other', { set: 'other' });
      const changed = await patch('watch-1', { spec: { flunderReference: 'new' } }, MergePatch);
      equal(await events.next(), ['MODIFIED', changed], 'the second event');
      await patch('watch-1', { metadata: { labels: { set: null } } }, MergePatch);
      const [type, gone] = await events.next();
      equal([type, gone.metadata.name], ['DELETED', 'watch-1'], 'it leaves the selector');
      const back = await patch('watch-1', { metadata: { labels: { set: 'watch' } } }, MergePatch);
      equal(await events.next(), ['ADDED', back], 'it comes back');
      await remove('watch-1');
      const [last, deleted] = await events.next();
      equal([last, deleted.spec], ['DELETED', back.spec], 'the last event');
    });
    const again = { resourceVersion: created.metadata.resourceVersion, fieldSelector: 'metadata.name=watch-1' };
    await watching(again, async (events) => {
      const types = [];
      while (types.length < 4) types.push((await events.next())[0]);
      equal(types, ['MODIFIED', 'MODIFIED', 'MODIFIED', 'DELETED'], 'a watch resumes');
    });
  },

  async 'watch-list'() {
    for (let i = 0; i < 3; i += 1) await create(`initial-${i}`, { set: 'initial' });
    const options = {
      sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true, labelSelector: 'set=initial',
    };
    await watching(options, async (events) => {
      const initial = [await events.next(), await events.next(), await events.next()];
      equal(initial.map(([type]) => type), ['ADDED', 'ADDED', 'ADDED'], 'initial events');
      equal(initial.map(([, one]) => one.metadata.name).sort(), ['initial-0', 'initial-1', 'initial-2'], 'what they show');
      const [type, mark] = await events.next();
      equal([type, mark.kind], ['BOOKMARK', 'Flunder'], 'the end of the initial events');
      equal(mark.metadata.annotations, { 'k8s.io/initial-events-end': 'true' }, 'its annotation');
      const late = await create('initial-late', { set: 'initial' });
      equal(await events.next(), ['ADDED', late], 'an event after it');
    });
  },

  async informer() {
    await create('informer-1', { set: 'informer' });
    const informer = k8s.makeInformer(config, PATH, () => list({ labelSelector: 'set=informer' }), 'set=informer');
    const seen = [];
    let end;
    const ended = new Promise((resolve) => { end = resolve; });
    for (const verb of ['add', 'update', 'delete']) {
      informer.on(verb, (one) => {
        seen.push(`${verb} ${one.metadata.name}`);
        if (one.metadata.name === 'informer-end') end();
      });
    }
    informer.on('error', (error) => seen.push(`error ${error}`));
    await informer.start();
    await create('informer-2', { set: 'informer' });
    await patch('informer-2', { spec: { flunderReference: 'changed' } }, MergePatch);
    await remove('informer-1');
    await create('informer-end', { set: 'informer' });
    await deadline(ended, 'the last change is seen');
    equal(seen, ['add informer-1', 'add informer-2', 'update informer-2', 'delete informer-1', 'add informer-end'], 'what it told');
    const listed = await list({ labelSelector: 'set=informer' });
    equal(names(informer.list('default')).sort(), names(listed.items), 'what it holds is what is listed');
    equal(informer.get('informer-2', 'default').spec.flunderReference, 'changed', 'a change is followed');
    await informer.stop();
  },

  async update() {
    const first = await create('update-1');
    const changed = { ...first, spec: { ...first.spec, flunderReference: 'changed' } };
    const put = (body, name = 'update-1') => custom.replaceNamespacedCustomObject({ ...at, name, body });
    const second = await put(changed);
    equal(second.spec.flunderReference, 'changed', 'an update');
    equal(second.metadata.uid, first.metadata.uid, 'an update keeps the uid');
    check(BigInt(second.metadata.resourceVersion) > BigInt(first.metadata.resourceVersion), 'an update has a new revision',
      second.metadata);
    // The object's time becomes a Date and a string again.
    const same = await objects.replace(await objects.read(structuredClone({ ...second })));
    equal(same.metadata.resourceVersion, second.metadata.resourceVersion, 'no change writes nothing');
    await refused(() => put(changed), 409, 'Conflict',
      'the object has been modified; please apply your changes to the latest version and try again');
    await refused(() => put({ ...second, metadata: { ...second.metadata, name: 'update-2' } }), 400, 'BadRequest',
      'the name of the object (update-2) does not match the name on the URL (update-1)');
  },

  async 'json-patch'() {
    await create('json-1');
    const operations = [
      { op: 'test', path: '/spec/flunderReference', value: 'other' },
      { op: 'replace', path: '/spec/flunderReference', value: 'json' },
      { op: 'add', path: '/metadata/annotations', value: { 'a/b': '1' } },
    ];
    // What the client sends of itself is a JSON patch.
    const one = await custom.patchNamespacedCustomObject({ ...at, name: 'json-1', body: operations });
    equal([one.spec.flunderReference, one.metadata.annotations], ['json', { 'a/b': '1' }], 'a JSON patch');
    await refused(() => patch('json-1', operations, JsonPatch), 422, 'Invalid',
      'the server rejected our request due to an error in our request');
    const bare = await patch('json-1', [{ op: 'remove', path: '/metadata/annotations/a~1b' }], JsonPatch);
    equal(bare.metadata.annotations, undefined, 'an annotation is removed');
    equal(await read('json-1'), bare, 'what was answered is stored');
  },

  async 'merge-patch'() {
    await create('merge-1', { a: '1', b: '2' });
    const body = { metadata: { labels: { a: null, c: '3' } }, spec: { flunderReference: 'merged' } };
    const one = await patch('merge-1', body, MergePatch);
    equal([one.metadata.labels, one.spec.flunderReference], [{ b: '2', c: '3' }, 'merged'], 'a merge patch');
    const same = flunder('merge-1', { b: '2' }, 'merged');
    const again = await objects.patch(same, undefined, undefined, undefined, undefined, MergePatch);
    equal(again.metadata.resourceVersion, one.metadata.resourceVersion, 'no change writes nothing');
    await refused(() => patch('merge-1', { metadata: { resourceVersion: '1' }, spec: { flunderReference: 'x' } }, MergePatch),
      409, 'Conflict');
    await refused(() => patch('merge-none', {}, MergePatch), 404, 'NotFound');
  },

  async 'strategic-patch'() {
    await createFleet('strategic-1', { cargo: [{ name: 'rum', tons: 3 }, { name: 'tea', tons: 1 }], flags: ['red'] });
    const change = async (spec) => (await patchFleet('strategic-1', { spec }, StrategicMergePatch)).spec;
    const tons = (spec) => spec.cargo.map((each) => `${each.name} ${each.tons}`).sort();
    let spec = await change({ cargo: [{ name: 'tea', tons: 5 }, { name: 'oil', tons: 9 }], flags: ['blue'] });
    equal(tons(spec), ['oil 9', 'rum 3', 'tea 5'], 'a list by its key');
    equal(spec.flags.sort(), ['blue', 'red'], 'a set');
    spec = await change({ cargo: [{ name: 'rum', $patch: 'delete' }], '$deleteFromPrimitiveList/flags': ['red'] });
    equal([tons(spec), spec.flags], [['oil 9', 'tea 5'], ['blue']], 'directives');
    const retain = { cargo: [{ $patch: 'replace' }, { name: 'hay' }], limits: { wind: '1500m' }, $retainKeys: ['cargo', 'limits'] };
    spec = await change(retain);
    equal([spec.cargo, spec.flags], [[{ name: 'hay' }], undefined], 'replace and retainKeys');
    await refused(() => change({ cargo: [{ tons: 1 }] }), 500, undefined, 'does not contain declared merge key: name');
  },

  async apply() {
    const send = (fieldManager, spec, force) =>
      patchFleet('apply-1', fleet('apply-1', spec), ServerSideApply, { fieldManager, force });
    const one = await send('alice', { replicas: 2, cargo: [{ name: 'rum', tons: 3 }] });
    check(one.metadata.uid, 'an apply creates', one);
    const [entry] = one.metadata.managedFields;
    equal([entry.manager, entry.operation, entry.apiVersion, entry.fieldsType], ['alice', 'Apply', FLEET_API, 'FieldsV1'],
      'who owns it');
    const rum = { '.': {}, 'f:name': {}, 'f:tons': {} };
    equal(entry.fieldsV1['f:spec'], { 'f:cargo': { 'k:{"name":"rum"}': rum }, 'f:replicas': {} }, 'what she owns');
    const again = await send('alice', { replicas: 2, cargo: [{ name: 'rum', tons: 3 }] });
    equal(again.metadata.resourceVersion, one.metadata.resourceVersion, 'the same again writes nothing');
    const both = await send('bob', { cargo: [{ name: 'tea', tons: 1 }] });
    equal(both.spec.cargo, [{ name: 'rum', tons: 3 }, { name: 'tea', tons: 1 }], 'two managers share a list');
    equal(both.metadata.managedFields.map((each) => each.manager), ['alice', 'bob'], 'its managers');
    const status = await refused(() => send('bob', { replicas: 5 }), 409, 'Conflict',
      'Apply failed with 1 conflict: conflict with "alice": .spec.replicas');
    const cause = { reason: 'FieldManagerConflict', message: 'conflict with "alice"', field: '.spec.replicas' };
    equal(status.details?.causes, [cause], 'its cause');
    const taken = await send('bob', { replicas: 5 }, true);
    equal([taken.spec.replicas, taken.spec.cargo], [5, [{ name: 'rum', tons: 3 }]], 'force takes it, and tea is given up');
    const left = await send('alice', {});
    equal([left.spec.replicas, left.spec.cargo], [5, undefined], 'what nobody applies is gone');
    await refused(() => send(undefined, {}), 422, 'Invalid', 'fieldManager: Required value: is required for apply patch');
    const made = await apply({ metadata: { name: 'apply-2' }, spec: { flunderReference: 'x', referenceType: 'Flunder' } }, 'alice');
    equal(made.metadata.managedFields[0].fieldsV1, { 'f:spec': { 'f:flunderReference': {}, 'f:referenceType': {} } },
      'a kind of the other group');
  },

  async 'dry-run'() {
    const make = (dryRun) => custom.createNamespacedCustomObject({ ...at, body: flunder('dry-1'), dryRun });
    await refused(() => make('some'), 422, 'Invalid', 'dryRun: Unsupported value');
    check((await make('All')).metadata.uid, 'a dry create answers as a create');
    await refused(() => read('dry-1'), 404, 'NotFound');
    const before = await create('dry-2');
    const changed = await patch('dry-2', { spec: { flunderReference: 'dry' } }, MergePatch, { dryRun: 'All' });
    equal(changed.spec.flunderReference, 'dry', 'a dry patch answers as a patch');
    await custom.deleteNamespacedCustomObject({ ...at, name: 'dry-2', dryRun: 'All' });
    equal(await read('dry-2'), before, 'nothing was written');
  },

  async 'field-validation'() {
    const body = flunder('strict-1');
    body.spec.typo = 1;
    const make = (fieldValidation) => custom.createNamespacedCustomObjectWithHttpInfo({ ...at, body, fieldValidation });
    await refused(() => make('Strict'), 400, 'BadRequest', 'strict decoding error: unknown field "spec.typo"');
    const warned = await make('Warn');
    equal([warned.httpStatusCode, 'typo' in warned.data.spec], [201, false], 'what is unknown is dropped');
    equal(warned.headers.warning, '299 - "unknown field \\"spec.typo\\""', 'the warning');
    body.metadata.name = 'strict-2';
    equal((await make('Ignore')).headers.warning, undefined, 'no warning if not asked for');
  },

  async status() {
    const made = { ...fleet('status-1', { replicas: 3 }), status: { replicas: 9 } };
    const one = await custom.createNamespacedCustomObject({ ...atFleet, body: made });
    equal([one.status, one.metadata.generation], [{}, 1], 'a status does not come with its object');
    const about = (object) => [object.status, object.spec.replicas, object.metadata.generation];
    const where = { ...atFleet, name: 'status-1' };
    const told = await custom.replaceNamespacedCustomObjectStatus(
      { ...where, body: { ...one, status: { replicas: 2 }, spec: { replicas: 7 } } });
    equal(about(told), [{ replicas: 2 }, 3, 1], 'it is changed alone');
    const wanted = await custom.replaceNamespacedCustomObject(
      { ...where, body: { ...told, status: { replicas: 9 }, spec: { replicas: 7 } } });
    equal(about(wanted), [{ replicas: 2 }, 7, 2], 'nor with an update');
    const condition = { type: 'Ready', status: 'True', reason: 'Afloat', message: '', lastTransitionTime: '2030-01-02T03:04:05Z' };
    const patched = await custom.patchNamespacedCustomObjectStatus(
      { ...where, body: { status: { conditions: [condition] } } }, k8s.setHeaderOptions('Content-Type', MergePatch));
    equal(patched.status.conditions, [{ ...condition }], 'a patch');
    equal(await custom.getNamespacedCustomObjectStatus(where), patched, 'what is read');
  },

  async scale() {
    await createFleet('scale-1', { replicas: 3, selector: { matchLabels: { a: 'b' } } });
    const where = { ...atFleet, name: 'scale-1' };
    const one = await custom.getNamespacedCustomObjectScale(where);
    equal([one.apiVersion, one.kind], ['autoscaling/v1', 'Scale'], "a scale's type");
    equal([one.spec, one.status], [{ replicas: 3 }, { replicas: 0, selector: 'a=b' }], 'what it says');
    const put = (replicas, scale) => custom.replaceNamespacedCustomObjectScale({ ...where, body: { ...scale, spec: { replicas } } });
    equal((await put(5, one)).spec, { replicas: 5 }, 'an update');
    await refused(() => put(6, one), 409, 'Conflict');
    const less = await custom.patchNamespacedCustomObjectScale(
      { ...where, body: { spec: { replicas: 1 } } }, k8s.setHeaderOptions('Content-Type', MergePatch));
    equal(less.spec, { replicas: 1 }, 'a patch');
    const stored = await custom.getNamespacedCustomObject(where);
    equal([stored.spec.replicas, stored.metadata.generation], [1, 3], 'the object itself');
    await refused(() => put(-1, less), 422, 'Invalid', 'spec.replicas: Invalid value: -1: must be greater than or equal to 0');
  },

  async 'access-review'() {
    const resourceAttributes = { verb: 'create', group: 'harbor.example.com', resource: 'fleets' };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
    const answer = await config.makeApiClient(k8s.AuthorizationV1Api).createSelfSubjectAccessReview({ body });
    equal([answer.status?.allowed, answer.spec.resourceAttributes.verb], [true, 'create'], 'everything is allowed');
  },

  async typed() {
    const core = config.makeApiClient(k8s.CoreV1Api);
    const namespace = 'default';
    const wanted = { metadata: { name: 'typed-1' }, data: { a: '1' }, binaryData: { b: 'AP8=' } };
    const made = await core.createNamespacedConfigMap({ namespace, body: wanted });
    equal([made.data, made.binaryData, made.metadata.creationTimestamp instanceof Date], [{ a: '1' }, { b: 'AP8=' }, true],
      'a generated class');
    const changed = await core.replaceNamespacedConfigMap({ namespace, name: 'typed-1', body: { ...made, data: { a: '2' } } });
    equal(changed.data, { a: '2' }, 'an update');
    equal(names((await core.listNamespacedConfigMap({ namespace })).items), ['typed-1'], 'a list');
    equal((await core.deleteNamespacedConfigMap({ namespace, name: 'typed-1' })).status, 'Success', 'a delete');
  },

  async delete() {
    const one = await create('delete-1');
    await refused(() => remove('delete-1', { preconditions: { uid: 'x' } }), 409, 'Conflict',
      'the UID in the precondition (x) does not match the UID in record');
    const gone = await remove('delete-1', { preconditions: { uid: one.metadata.uid } });
    equal([gone.kind, gone.status], ['Status', 'Success'], 'a delete');
    equal(gone.details, { name: 'delete-1', group: GROUP, kind: 'flunders', uid: one.metadata.uid }, 'its details');
    await refused(() => remove('delete-1'), 404, 'NotFound');
    const held = flunder('delete-2');
    held.metadata.finalizers = ['example.com/hold'];
    await objects.create(held);
    const kept = await remove('delete-2');
    equal(kept.kind, 'Flunder', 'a finalizer keeps the object');
    check(kept.metadata.deletionTimestamp, 'it is marked', kept.metadata);
    equal((await remove('delete-2')).metadata.resourceVersion, kept.metadata.resourceVersion, 'marked once');
    await patch('delete-2', { metadata: { finalizers: null } }, MergePatch);
    await refused(() => read('delete-2'), 404, 'NotFound');
    for (const [propagationPolicy, finalizer] of [['Foreground', 'foregroundDeletion'], ['Orphan', 'orphan']]) {
      await create('delete-3');
      await remove('delete-3', { propagationPolicy });
      equal((await read('delete-3')).metadata.finalizers, [finalizer], 'what the policy leaves to do');
      await patch('delete-3', [{ op: 'remove', path: '/metadata/finalizers/0' }], JsonPatch);
      await refused(() => read('delete-3'), 404, 'NotFound');
    }
  },

  async 'delete-collection'() {
    for (let i = 0; i < 3; i += 1) await create(`collection-${i}`, { set: 'collection' });
    await create('collection-kept', { set: 'kept' });
    const gone = await custom.deleteCollectionNamespacedCustomObject({ ...at, labelSelector: 'set=collection' });
    equal([gone.kind, names(gone.items)], ['FlunderList', ['collection-0', 'collection-1', 'collection-2']], 'what was deleted');
    const left = await list({ labelSelector: 'set in (collection,kept)' });
    equal(names(left.items), ['collection-kept'], 'what is left');
  },
};

const lacking = { protobuf: 'it speaks JSON only' };
const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(steps)) {
  if (lacking[name]) {
    console.log(`node ${name}: cannot, ${lacking[name]}`);
    continue;
  }
  const before = checks;
  try {
    await steps[name]();
  } catch (error) {
    check(false, `${name}: no exception`, error.stack);
  }
  console.log(`node ${name}: ${checks - before} checks`);
}
console.log(`node: ${checks} checks, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
