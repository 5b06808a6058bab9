#include <algorithm>

#include "apiserver/runtime/schema.h"
#include "runtime/normalize.h"

namespace apiserver::v0::runtime {

namespace {

constexpr auto kNever = Field::Omit::kNever;
constexpr auto kWhenZero = Field::Omit::kWhenZero;
constexpr auto kPointer = Field::Presence::kPointer;

std::string MetaName(std::string_view type) {
  return "io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(type);
}

// Makes a list that strategic merge patches merge, by `key` if there is one.
SchemaPtr Merged(const SchemaPtr& list, std::string key = "") {
  SchemaParts schema(*list);
  schema.patch_strategy = "merge";
  schema.patch_merge_key = std::move(key);
  return MakeSchema(schema);
}

// Kept as raw text: only server-side apply looks into it.
SchemaPtr FieldsV1Schema() {
  SchemaParts schema;
  schema.type = SchemaType::kRaw;
  schema.name = MetaName("FieldsV1");
  schema.description =
      "A set of fields as a trie: \"f:<name>\" is a field, \"k:{...}\" the list "
      "item with these keys, \"v:<value>\" a set's item, \"i:<n>\" an index.";
  return MakeSchema(schema);
}

// The numbers of the fields below are those of meta/v1's generated.proto in k8s.io/apimachinery.
SchemaPtr OwnerReferenceSchema() {
  const SchemaPtr text = StringSchema();
  const SchemaPtr flag = BooleanSchema();
  SchemaParts schema(
      *StructBuilder(MetaName("OwnerReference"),
                     "Names the object that owns this one, in the same namespace or without one.")
           .Field("apiVersion", text,
                  {.description = "API version of the owner.",
                   .required = true,
                   .omit = kNever,
                   .proto_number = 5})
           .Field("kind", text,
                  {.description = "Kind of the owner.",
                   .required = true,
                   .omit = kNever,
                   .proto_number = 1})
           .Field("name", text,
                  {.description = "Name of the owner.",
                   .required = true,
                   .omit = kNever,
                   .proto_number = 3})
           .Field("uid", text,
                  {.description = "UID of the owner.",
                   .required = true,
                   .omit = kNever,
                   .proto_number = 4})
           .Field("controller", flag,
                  {.description = "Whether the owner is the managing controller.",
                   .presence = kPointer,
                   .proto_number = 6})
           .Field("blockOwnerDeletion", flag,
                  {.description = "Whether a foreground deletion of the owner waits for this "
                                  "reference to go.",
                   .presence = kPointer,
                   .proto_number = 7})
           .Build());
  // "+structType=atomic" in Go: an owner reference is replaced as a whole.
  schema.atomic = true;
  return MakeSchema(schema);
}

SchemaPtr ManagedFieldsEntrySchema() {
  const SchemaPtr text = StringSchema();
  return StructBuilder(MetaName("ManagedFieldsEntry"), "The fields that one workflow manages.")
      .Field("manager", text, {.description = "The workflow's name.", .proto_number = 1})
      .Field("operation", text, {.description = "'Apply' or 'Update'.", .proto_number = 2})
      .Field("apiVersion", text,
             {.description = "The version of this resource in which the fields are named.",
              .proto_number = 3})
      .Field("time", TimeSchema(),
             {.description = "When the workflow last changed its fields.",
              .presence = kPointer,
              .proto_number = 4})
      .Field("fieldsType", text, {.description = "Always \"FieldsV1\".", .proto_number = 6})
      .Field("fieldsV1", FieldsV1Schema(),
             {.description = "The fields.", .presence = kPointer, .proto_number = 7})
      .Field("subresource", text,
             {.description = "The subresource through which they were written; empty: none.",
              .proto_number = 8})
      .Build();
}

void AddIdentity(StructBuilder& meta) {
  const SchemaPtr text = StringSchema();
  meta.Field("name", text,
             {.description = "Unique within a namespace. Cannot be updated.", .proto_number = 1})
      .Field("generateName", text,
             {.description = "A prefix; the server makes a unique name of it when `name` is empty.",
              .proto_number = 2})
      .Field("namespace", text,
             {.description = "The space within which the name is unique. Cannot be updated.",
              .proto_number = 3})
      .Field("selfLink", text,
             {.description = "Deprecated: no longer filled in by the system.", .proto_number = 4})
      .Field("uid", text,
             {.description = "Unique in time and space. Filled in by the system; read-only.",
              .proto_number = 5})
      .Field("resourceVersion", text,
             {.description = "Opaque version of this object, for change detection and optimistic "
                             "concurrency. Filled in by the system; read-only.",
              .proto_number = 6})
      .Field("generation", IntegerSchema(64),
             {.description = "Counts the changes of the desired state. Filled in by the system; "
                             "read-only.",
              .proto_number = 7});
}

void AddLifetime(StructBuilder& meta) {
  meta.Field("creationTimestamp", TimeSchema(),
             {.description = "When the server created the object, in UTC. Filled in by the "
                             "system; read-only.",
              .omit = kWhenZero,
              .proto_number = 8})
      .Field("deletionTimestamp", TimeSchema(),
             {.description = "When the object will be gone: deletion has been asked for and waits "
                             "for finalizers or a grace period. Read-only.",
              .presence = kPointer,
              .proto_number = 9})
      .Field("deletionGracePeriodSeconds", IntegerSchema(64),
             {.description = "How long the object may take to end; only while it is being deleted. "
                             "Read-only.",
              .presence = kPointer,
              .proto_number = 10});
}

SchemaPtr BuildObjectMeta() {
  const SchemaPtr text = StringSchema();
  StructBuilder meta(MetaName("ObjectMeta"), "What every persisted object has.");
  AddIdentity(meta);
  AddLifetime(meta);
  meta.Field("labels", MapOf(text),
             {.description = "Keys and values by which objects are selected.", .proto_number = 11})
      .Field("annotations", MapOf(text),
             {.description = "Keys and values of tools; not selectable.", .proto_number = 12})
      .Field("ownerReferences", Merged(ListMapOf(OwnerReferenceSchema(), {"uid"}), "uid"),
             {.description = "Objects this one depends on; when all are gone it is collected.",
              .proto_number = 13})
      .Field("finalizers", Merged(SetOf(text)),
             {.description = "Must be empty before the object is removed; each entry names who "
                             "will take it out.",
              .proto_number = 14})
      // 15 and 16 were clusterName and initializers, which Kubernetes has removed.
      .Field("managedFields", ListOf(ManagedFieldsEntrySchema()),
             {.description = "Which workflow manages which fields, for server-side apply.",
              .proto_number = 17});
  return meta.Build();
}

SchemaPtr WithSortedFields(const SchemaPtr& schema) {
  SchemaParts parts(*schema);
  std::sort(parts.fields.begin(), parts.fields.end(),
            [](const FieldParts& a, const FieldParts& b) { return a.name < b.name; });
  return MakeSchema(parts);
}

// Metadata has structs in two of its lists, and none deeper.
SchemaPtr BuildSortedObjectMeta() {
  SchemaParts meta(*ObjectMetaSchema());
  for (FieldParts& field : meta.fields) {
    if (field.schema->type != SchemaType::kList) continue;
    if (field.schema->items()->type != SchemaType::kStruct) continue;
    SchemaParts list(*field.schema);
    list.items = WithSortedFields(list.items);
    field.schema = MakeSchema(list);
  }
  return WithSortedFields(MakeSchema(meta));
}

SchemaPtr BuildListMeta() {
  const SchemaPtr text = StringSchema();
  const SchemaPtr shard =
      StructBuilder(MetaName("ShardInfo"), "The shard selector that made this list.")
          .Field("selector", text,
                 {.description = "The selector of the request.",
                  .required = true,
                  .omit = kNever,
                  .proto_number = 1})
          .Build();
  return StructBuilder(MetaName("ListMeta"), "What every list has.")
      .Field("selfLink", text,
             {.description = "Deprecated: no longer filled in by the system.", .proto_number = 1})
      .Field("resourceVersion", text,
             {.description = "Opaque version of the list, to start a watch from. Read-only.",
              .proto_number = 2})
      .Field("continue", text,
             {.description = "Opaque token for the next page; empty: there is none.",
              .proto_number = 3})
      .Field("remainingItemCount", IntegerSchema(64),
             {.description = "An estimate of how many items follow this page; absent when unknown.",
              .presence = kPointer,
              .proto_number = 4})
      .Field("shardInfo", shard,
             {.description = "Set when the list is a shard of the collection.",
              .presence = kPointer,
              .proto_number = 5})
      .Build();
}

}  // namespace

SchemaPtr ObjectMetaSchema() {
  static const SchemaPtr schema = BuildObjectMeta();
  return schema;
}

const SchemaPtr& SortedObjectMeta() {
  static const SchemaPtr schema = BuildSortedObjectMeta();
  return schema;
}

SchemaPtr ListMetaSchema() {
  static const SchemaPtr schema = BuildListMeta();
  return schema;
}

}  // namespace apiserver::v0::runtime
