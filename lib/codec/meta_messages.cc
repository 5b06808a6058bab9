#include <map>
#include <memory>
#include <utility>

#include "codec/protobuf_message.h"

namespace apiserver::v0::codec {
namespace {

using runtime::BooleanSchema;
using runtime::IntegerSchema;
using runtime::ListOf;
using runtime::SchemaPtr;
using runtime::StringSchema;
using runtime::StructBuilder;

constexpr auto kPointer = runtime::Field::Presence::kPointer;
constexpr std::string_view kPackage = "io.k8s.apimachinery.pkg.apis.meta.v1.";

// Fields are in JSON's order; their numbers are those of meta/v1/generated.proto.
StructBuilder Message(std::string_view name) {
  return StructBuilder(std::string(kPackage) + std::string(name));
}

SchemaPtr StatusDetailsSchema() {
  const SchemaPtr text = StringSchema();
  const SchemaPtr cause = Message("StatusCause")
                              .Field("reason", text, {.proto_number = 1})
                              .Field("message", text, {.proto_number = 2})
                              .Field("field", text, {.proto_number = 3})
                              .Build();
  return Message("StatusDetails")
      .Field("name", text, {.proto_number = 1})
      .Field("group", text, {.proto_number = 2})
      .Field("kind", text, {.proto_number = 3})
      .Field("uid", text, {.proto_number = 6})
      .Field("causes", ListOf(cause), {.proto_number = 4})
      .Field("retryAfterSeconds", IntegerSchema(32), {.proto_number = 5})
      .Build();
}

SchemaPtr StatusSchema() {
  const SchemaPtr text = StringSchema();
  return Message("Status")
      .Field("metadata", runtime::ListMetaSchema(), {.proto_number = 1})
      .Field("status", text, {.proto_number = 2})
      .Field("message", text, {.proto_number = 3})
      .Field("reason", text, {.proto_number = 4})
      .Field("details", StatusDetailsSchema(), {.presence = kPointer, .proto_number = 5})
      .Field("code", IntegerSchema(32), {.proto_number = 6})
      .Build();
}

SchemaPtr DeleteOptionsSchema() {
  const SchemaPtr text = StringSchema();
  const SchemaPtr preconditions =
      Message("Preconditions")
          .Field("uid", text, {.presence = kPointer, .proto_number = 1})
          .Field("resourceVersion", text, {.presence = kPointer, .proto_number = 2})
          .Build();
  return Message("DeleteOptions")
      .Field("gracePeriodSeconds", IntegerSchema(64), {.presence = kPointer, .proto_number = 1})
      .Field("preconditions", preconditions, {.presence = kPointer, .proto_number = 2})
      .Field("orphanDependents", BooleanSchema(), {.presence = kPointer, .proto_number = 3})
      .Field("propagationPolicy", text, {.presence = kPointer, .proto_number = 4})
      .Field("dryRun", ListOf(text), {.proto_number = 5})
      .Field("ignoreStoreReadErrorWithClusterBreakingPotential", BooleanSchema(),
             {.presence = kPointer, .proto_number = 6})
      .Build();
}

// The missing number 6 was includeUninitialized, as was 2 in CreateOptions.
SchemaPtr ListOptionsSchema() {
  const SchemaPtr text = StringSchema();
  return Message("ListOptions")
      .Field("labelSelector", text, {.proto_number = 1})
      .Field("fieldSelector", text, {.proto_number = 2})
      .Field("watch", BooleanSchema(), {.proto_number = 3})
      .Field("allowWatchBookmarks", BooleanSchema(), {.proto_number = 9})
      .Field("resourceVersion", text, {.proto_number = 4})
      .Field("resourceVersionMatch", text, {.proto_number = 10})
      .Field("timeoutSeconds", IntegerSchema(64), {.presence = kPointer, .proto_number = 5})
      .Field("limit", IntegerSchema(64), {.proto_number = 7})
      .Field("continue", text, {.proto_number = 8})
      .Field("sendInitialEvents", BooleanSchema(), {.presence = kPointer, .proto_number = 11})
      .Build();
}

SchemaPtr GetOptionsSchema() {
  return Message("GetOptions")
      .Field("resourceVersion", StringSchema(), {.proto_number = 1})
      .Build();
}

SchemaPtr CreateOptionsSchema() {
  const SchemaPtr text = StringSchema();
  return Message("CreateOptions")
      .Field("dryRun", ListOf(text), {.proto_number = 1})
      .Field("fieldManager", text, {.proto_number = 3})
      .Field("fieldValidation", text, {.proto_number = 4})
      .Build();
}

SchemaPtr UpdateOptionsSchema() {
  const SchemaPtr text = StringSchema();
  return Message("UpdateOptions")
      .Field("dryRun", ListOf(text), {.proto_number = 1})
      .Field("fieldManager", text, {.proto_number = 2})
      .Field("fieldValidation", text, {.proto_number = 3})
      .Build();
}

SchemaPtr PatchOptionsSchema() {
  const SchemaPtr text = StringSchema();
  return Message("PatchOptions")
      .Field("dryRun", ListOf(text), {.proto_number = 1})
      .Field("force", BooleanSchema(), {.presence = kPointer, .proto_number = 2})
      .Field("fieldManager", text, {.proto_number = 3})
      .Field("fieldValidation", text, {.proto_number = 4})
      .Build();
}

SchemaPtr ServerAddressesSchema() {
  const SchemaPtr text = StringSchema();
  return ListOf(Message("ServerAddressByClientCIDR")
                    .Field("clientCIDR", text, {.proto_number = 1})
                    .Field("serverAddress", text, {.proto_number = 2})
                    .Build());
}

SchemaPtr APIVersionsSchema() {
  return Message("APIVersions")
      .Field("versions", ListOf(StringSchema()), {.proto_number = 1})
      .Field("serverAddressByClientCIDRs", ServerAddressesSchema(), {.proto_number = 2})
      .Build();
}

SchemaPtr APIGroupSchema() {
  const SchemaPtr text = StringSchema();
  const SchemaPtr version = Message("GroupVersionForDiscovery")
                                .Field("groupVersion", text, {.proto_number = 1})
                                .Field("version", text, {.proto_number = 2})
                                .Build();
  return Message("APIGroup")
      .Field("name", text, {.proto_number = 1})
      .Field("versions", ListOf(version), {.proto_number = 2})
      .Field("preferredVersion", version, {.proto_number = 3})
      .Field("serverAddressByClientCIDRs", ServerAddressesSchema(), {.proto_number = 4})
      .Build();
}

SchemaPtr APIGroupListSchema() {
  return Message("APIGroupList")
      .Field("groups", ListOf(APIGroupSchema()), {.proto_number = 1})
      .Build();
}

SchemaPtr APIResourceListSchema() {
  const SchemaPtr text = StringSchema();
  // A message of its own, so that an absent list and an empty one differ.
  runtime::SchemaParts verbs(*ListOf(text));
  verbs.proto_message = true;
  const SchemaPtr resource = Message("APIResource")
                                 .Field("name", text, {.proto_number = 1})
                                 .Field("namespaced", BooleanSchema(), {.proto_number = 2})
                                 .Field("kind", text, {.proto_number = 3})
                                 .Field("verbs", MakeSchema(verbs), {.proto_number = 4})
                                 .Field("shortNames", ListOf(text), {.proto_number = 5})
                                 .Field("singularName", text, {.proto_number = 6})
                                 .Field("categories", ListOf(text), {.proto_number = 7})
                                 .Field("group", text, {.proto_number = 8})
                                 .Field("version", text, {.proto_number = 9})
                                 .Field("storageVersionHash", text, {.proto_number = 10})
                                 .Build();
  return Message("APIResourceList")
      .Field("groupVersion", text, {.proto_number = 1})
      .Field("resources", ListOf(resource), {.proto_number = 2})
      .Build();
}

// Go's WatchEvent has no omitempty: both fields are always there.
SchemaPtr WatchEventSchema() {
  return Message("WatchEvent")
      .Field("type", StringSchema(), {.omit = runtime::Field::Omit::kNever, .proto_number = 1})
      .Field("object", runtime::RawExtensionSchema(),
             {.omit = runtime::Field::Omit::kNever, .proto_number = 2})
      .Build();
}

}  // namespace

SchemaPtr MetaMessageSchema(std::string_view kind) {
  static const std::map<std::string_view, SchemaPtr> schemas = {
      {"Status", StatusSchema()},
      {"WatchEvent", WatchEventSchema()},
      {"DeleteOptions", DeleteOptionsSchema()},
      {"ListOptions", ListOptionsSchema()},
      {"GetOptions", GetOptionsSchema()},
      {"CreateOptions", CreateOptionsSchema()},
      {"UpdateOptions", UpdateOptionsSchema()},
      {"PatchOptions", PatchOptionsSchema()},
      {"APIVersions", APIVersionsSchema()},
      {"APIGroupList", APIGroupListSchema()},
      {"APIGroup", APIGroupSchema()},
      {"APIResourceList", APIResourceListSchema()},
  };
  const auto found = schemas.find(kind);
  return found == schemas.end() ? nullptr : found->second;
}

}  // namespace apiserver::v0::codec
