// The documentation of a kind's fields, from the server's OpenAPI v3 documents. A field's own
// fields are shown when it is opened, so that kinds which contain themselves do no harm.

import { el, problem } from "./dom.js";

const REFERENCE = "#/components/schemas/";

export async function explainView(api, resource) {
  let documents;
  try {
    const index = await api.json("/openapi/v3");
    const entry = index.paths?.[resource.root];
    if (!entry) throw new Error(`The server has no OpenAPI document for ${resource.apiVersion}.`);
    documents = await api.json(entry.serverRelativeURL);
  } catch (error) {
    return problem(error);
  }
  const schemas = documents.components?.schemas ?? {};
  const schema = Object.values(schemas).find((each) => isOf(each, resource));
  if (!schema) {
    return el("p", { class: "empty" }, `The document does not describe ${resource.kind}.`);
  }
  return el("div", { class: "explain" },
    el("p", { class: "description" }, schema.description ?? ""), fieldsOf(schema, schemas));
}

function isOf(schema, resource) {
  return (schema["x-kubernetes-group-version-kind"] ?? []).some((each) =>
    each.kind === resource.kind && each.group === resource.kindGroup &&
    each.version === resource.kindVersion);
}

// Follows references; a reference within allOf is how OpenAPI gives it a default or a description.
function resolve(schema, schemas) {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0].$ref : undefined);
  if (!reference) return schema;
  const target = schemas[reference.slice(REFERENCE.length)] ?? {};
  return { ...target, ...schema, $ref: undefined, allOf: undefined };
}

function fieldsOf(schema, schemas) {
  const required = new Set(schema.required ?? []);
  return el("div", { class: "fields" }, Object.entries(schema.properties ?? {})
    .map(([name, field]) => fieldView(name, resolve(field, schemas), required.has(name), schemas)));
}

// The schema whose fields are shown below a field: its own, those of a list's items or a map's
// values.
function innerOf(field, schemas) {
  if (field.items) return innerOf(resolve(field.items, schemas), schemas);
  if (field.additionalProperties?.type || field.additionalProperties?.$ref) {
    return innerOf(resolve(field.additionalProperties, schemas), schemas);
  }
  return field;
}

function typeOf(field, schemas) {
  if (field.items) return `[]${typeOf(resolve(field.items, schemas), schemas)}`;
  if (field["x-kubernetes-int-or-string"] || field.oneOf) return "integer or string";
  const values = field.additionalProperties;
  if (values && typeof values === "object") {
    return `map of ${typeOf(resolve(values, schemas), schemas)}`;
  }
  const type = field.type ?? (field.properties ? "object" : "any");
  return field.format ? `${type} (${field.format})` : type;
}

function fieldView(name, field, required, schemas) {
  const facts = [];
  if (required) facts.push(el("span", { class: "required" }, "required"));
  if (field.enum) facts.push(`one of ${field.enum.join(", ")}`);
  if (field.default !== undefined && !["", "{}", '""'].includes(JSON.stringify(field.default))) {
    facts.push(`default ${JSON.stringify(field.default)}`);
  }
  const title = [el("code", { class: "y-key" }, name), " ", el("span", { class: "type" },
    typeOf(field, schemas)), ...facts.flatMap((fact) => [" · ", fact])];
  const description = el("p", { class: "description" }, field.description ?? "");
  const inner = innerOf(field, schemas);
  if (!inner.properties) return el("div", { class: "field" }, el("div", {}, title), description);
  const details = el("details", {
    class: "field",
    ontoggle: () => {
      if (details.open && details.children.length < 3) details.append(fieldsOf(inner, schemas));
    },
  }, el("summary", {}, title), description);
  return details;
}
