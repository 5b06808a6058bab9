#include <string>

#include "apiserver/runtime/schema.h"
#include "openapi/definitions.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::BooleanSchema;
using runtime::IntegerSchema;
using runtime::ListOf;
using runtime::SchemaPtr;
using runtime::StringSchema;
using runtime::StructBuilder;

std::string Meta(std::string_view name) {
  return "io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(name);
}

StructBuilder::Options Described(std::string description, bool required = false) {
  return {.description = std::move(description), .required = required};
}

SchemaPtr StatusSchema() {
  const SchemaPtr cause =
      StructBuilder(Meta("StatusCause"), "One of the reasons why an object was refused.")
          .Field("field", StringSchema(), Described("The field that is wrong, as a path."))
          .Field("message", StringSchema(), Described("What is wrong, for people."))
          .Field("reason", StringSchema(), Described("What is wrong, for programs."))
          .Build();
  const SchemaPtr details =
      StructBuilder(Meta("StatusDetails"), "What a Status is about.")
          .Field("name", StringSchema(), Described("The name of the resource."))
          .Field("group", StringSchema(), Described("The group of the resource."))
          .Field("kind", StringSchema(), Described("The kind of the resource."))
          .Field("uid", StringSchema(), Described("The UID of the object."))
          .Field("causes", ListOf(cause), Described("Each reason by itself."))
          .Field("retryAfterSeconds", IntegerSchema(32),
                 Described("How long to wait before another try."))
          .Build();
  return StructBuilder(Meta("Status"), "The answer to a request that returns no object.")
      .Field("metadata", runtime::ListMetaSchema(), Described("What every list has."))
      .Field("status", StringSchema(), Described("\"Success\" or \"Failure\"."))
      .Field("message", StringSchema(), Described("What happened, for people."))
      .Field("reason", StringSchema(), Described("What happened, for programs."))
      .Field("details", details, Described("What it is about."))
      .Field("code", IntegerSchema(32), Described("The HTTP status code."))
      .Build();
}

SchemaPtr DeleteOptionsSchema() {
  const SchemaPtr preconditions =
      StructBuilder(Meta("Preconditions"), "What must be true of an object to be changed.")
          .Field("uid", StringSchema(), Described("Its UID."))
          .Field("resourceVersion", StringSchema(), Described("Its resourceVersion."))
          .Build();
  return StructBuilder(Meta("DeleteOptions"), "How an object is to be deleted.")
      .Field("gracePeriodSeconds", IntegerSchema(64),
             Described("How long the object may take to end; zero: at once."))
      .Field("preconditions", preconditions, Described("The deletion fails unless they hold."))
      .Field("orphanDependents", BooleanSchema(), Described("Deprecated: use propagationPolicy."))
      .Field("propagationPolicy", StringSchema(),
             Described("What becomes of dependents: Orphan, Background or Foreground."))
      .Field("dryRun", ListOf(StringSchema()),
             Described("\"All\": the request is processed, but nothing is stored."))
      .Build();
}

SchemaPtr WatchEventSchema(const SchemaPtr& raw_extension) {
  return StructBuilder(Meta("WatchEvent"), "One event of a watch.")
      .Field("type", StringSchema(),
             Described("ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.", true))
      .Field("object", raw_extension,
             Described("The object after the change, or before its deletion; a Status for ERROR.",
                       true))
      .Build();
}

SchemaPtr VersionSchema() {
  StructBuilder builder("io.k8s.apimachinery.pkg.version.Info", "What a server is built from.");
  for (const char* field : {"major", "minor"}) {
    builder.Field(field, StringSchema(), {.required = true});
  }
  // These came with compatibility versions (KEP-4330) and are optional.
  for (const char* field :
       {"emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"}) {
    builder.Field(field, StringSchema());
  }
  for (const char* field : {"gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion",
                            "compiler", "platform"}) {
    builder.Field(field, StringSchema(), {.required = true});
  }
  return builder.Build();
}

SchemaPtr ServerAddressesSchema() {
  return ListOf(StructBuilder(Meta("ServerAddressByClientCIDR"),
                              "Where the clients of a network reach a server.")
                    .Field("clientCIDR", StringSchema(), Described("The network.", true))
                    .Field("serverAddress", StringSchema(), Described("The address.", true))
                    .Build());
}

SchemaPtr APIVersionsSchema() {
  return StructBuilder(Meta("APIVersions"), "The versions of the legacy group.")
      .Field("versions", ListOf(StringSchema()), Described("Their names.", true))
      .Field("serverAddressByClientCIDRs", ServerAddressesSchema(),
             Described("Where to reach the server.", true))
      .Build();
}

SchemaPtr APIGroupSchema() {
  const SchemaPtr version =
      StructBuilder(Meta("GroupVersionForDiscovery"), "A version of a group.")
          .Field("groupVersion", StringSchema(), Described("\"group/version\".", true))
          .Field("version", StringSchema(), Described("\"version\".", true))
          .Build();
  return StructBuilder(Meta("APIGroup"), "A group and its versions.")
      .Field("name", StringSchema(), Described("The name of the group.", true))
      .Field("versions", ListOf(version), Described("The versions that are served.", true))
      .Field("preferredVersion", version, Described("The version to use if all are known."))
      .Field("serverAddressByClientCIDRs", ServerAddressesSchema(),
             Described("Where to reach the server."))
      .Build();
}

SchemaPtr APIResourceListSchema() {
  const SchemaPtr resource =
      StructBuilder(Meta("APIResource"), "A resource, and what can be done with it.")
          .Field("name", StringSchema(), Described("The plural name.", true))
          .Field("singularName", StringSchema(), Described("The singular name.", true))
          .Field("namespaced", BooleanSchema(), Described("Whether it is in namespaces.", true))
          .Field("group", StringSchema(), Described("The group of its kind; empty: the list's."))
          .Field("version", StringSchema(),
                 Described("The version of its kind; empty: the list's."))
          .Field("kind", StringSchema(), Described("Its kind.", true))
          .Field("verbs", ListOf(StringSchema()), Described("The verbs it has.", true))
          .Field("shortNames", ListOf(StringSchema()), Described("Short names for it."))
          .Field("categories", ListOf(StringSchema()), Described("Names of groups of resources."))
          .Field("storageVersionHash", StringSchema(),
                 Described("A hash of the version it is stored in."))
          .Build();
  return StructBuilder(Meta("APIResourceList"), "The resources of a group's version.")
      .Field("groupVersion", StringSchema(), Described("\"group/version\".", true))
      .Field("resources", ListOf(resource),
             Described("Names and what can be done with them.", true))
      .Build();
}

SchemaPtr APIGroupListSchema() {
  return StructBuilder(Meta("APIGroupList"), "The groups that a server serves.")
      .Field("groups", ListOf(APIGroupSchema()), Described("Each of them.", true))
      .Build();
}

}  // namespace

void AddMetaDefinitions(const std::vector<runtime::GroupVersion>& group_versions,
                        const std::set<std::string>& wanted, Definitions& definitions) {
  // A document has only the definitions that its routes refer to.
  const auto add = [&](const SchemaPtr& schema,
                       const std::vector<runtime::GroupVersionKind>& gvks) {
    if (wanted.contains(std::string(schema->name()))) definitions.AddSchema(*schema, gvks);
  };
  // As metav1.AddToGroupVersion, which registers such kinds in every group version.
  const auto every_group = [&group_versions](std::string_view kind) {
    std::vector<runtime::GroupVersionKind> gvks{{"", "v1", std::string(kind)}};
    for (const runtime::GroupVersion& gv : group_versions) {
      if (!gv.group.empty()) gvks.push_back({gv.group, gv.version, std::string(kind)});
    }
    return gvks;
  };
  add(runtime::ObjectMetaSchema(), {});
  add(runtime::ListMetaSchema(), {});
  add(StatusSchema(), {{"", "v1", "Status"}});
  add(DeleteOptionsSchema(), every_group("DeleteOptions"));
  add(VersionSchema(), {});
  add(APIVersionsSchema(), {{"", "v1", "APIVersions"}});
  add(APIGroupListSchema(), {{"", "v1", "APIGroupList"}});
  add(APIGroupSchema(), {{"", "v1", "APIGroup"}});
  add(APIResourceListSchema(), {{"", "v1", "APIResourceList"}});
  if (wanted.contains(Meta("WatchEvent"))) {
    const SchemaPtr raw_extension = StructBuilder("io.k8s.apimachinery.pkg.runtime.RawExtension",
                                                  "An object of any kind, as it is.")
                                        .Build();
    add(WatchEventSchema(raw_extension), every_group("WatchEvent"));
  }
  if (wanted.contains(Meta("Patch"))) {
    const Tree& tree = definitions.tree();
    runtime::MapBuilder patch(tree.arena());
    patch.Add("description", runtime::Value::String("A patch in the form its content type names."));
    patch.Add("type", runtime::Value::String("object"));
    definitions.AddPlain(Meta("Patch"), patch.Build());
  }
}

}  // namespace apiserver::v0::openapi
