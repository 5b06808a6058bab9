#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::runtime {

class Object;
class VersionConverter;
class Kind;
using KindPtr = std::shared_ptr<const Kind>;

// The rules that an object's JSON obeys.
enum class Semantics : std::uint8_t {
  kGoType,          // A Go type: declaration order, zero values and nulls as in encoding/json.
  kCustomResource,  // A custom resource: sorted keys, pruned by the schema, zeros are values.
};

// A column of `kubectl get`.
struct PrinterColumn {
  std::string name;       // "Ready".
  std::string type;       // "string", "integer", "number", "boolean", "date".
  std::string json_path;  // ".status.ready".
  std::string format = "";
  std::string description = "";
  int priority = 0;  // > 0: only in the wide view.
};

// Declares that a field has another name in the hub version; no conversion function is needed. Both
// paths consist of member names, cross no list, and differ in the last name only. Both fields have
// the same type. The value is kept unchanged, so a round trip loses nothing.
struct RenameField {
  RenameField(std::string here, std::string hub) : here(std::move(here)), hub(std::move(hub)) {}

  std::string here;  // In the version that declares it: "spec.size".
  std::string hub;   // "spec.replicas".
};

// The fields that the scale subresource of a version shows, as JSON paths in the notation of a
// CustomResourceDefinition. Paths consist of member names only.
struct ScalePaths {
  std::string spec_replicas = ".spec.replicas";      // Must hold an integer.
  std::string status_replicas = ".status.replicas";  // Must hold an integer.
  // A selector in text form, or a meta/v1 LabelSelector; empty: the Scale has no selector.
  std::string label_selector = "";

  friend bool operator==(const ScalePaths&, const ScalePaths&) = default;
};

// One version of a kind.
struct KindVersion {
  std::string version;  // "v1alpha1".
  // The content's schema: a kStruct whose first field is metadata (ObjectMetaSchema()). It does not
  // declare kind and apiVersion.
  SchemaPtr schema;
  bool served = true;
  // Text sent as a Warning header with every response. Empty: no warning is sent.
  std::string deprecation_warning = "";
  // Sets defaults that the schema cannot express. Runs after the schema's default values. Null: the
  // schema's defaults are the only ones.
  //
  // This function and the two below run where content is read or written: on pool threads, where
  // they may block; also on event loops if registry::StoreOptions::functions_inline promises that
  // they do not block. Several threads may call them at the same time.
  std::function<void(Object&)> set_defaults = nullptr;
  // Rewrite the content from this version into the hub version and back. Null: the shapes are the
  // same, or this is the hub version. They must not change metadata. Only FunctionConverter()
  // (convert.h) calls them, on the threads and under the rules of blocking of set_defaults; they
  // are ignored if the kind has its own converter.
  std::function<Status(Object&)> to_hub = nullptr;
  std::function<Status(Object&)> from_hub = nullptr;
  // Fields that have another name in the hub version. Applied before to_hub and after from_hub.
  // They never block, so reads may stay on an event loop. Must be empty for the hub version and if
  // the kind has its own converter.
  std::vector<RenameField> conversions = {};
  std::vector<PrinterColumn> columns = {};
  // The subresources that server::InstallKinds serves in this version.
  //
  // True: only <plural>/<name>/status changes the status, and it changes nothing else. Absent:
  // Kind::New sets it to true if the schema has a field `status`.
  std::optional<bool> status_subresource = std::nullopt;
  // The fields of the scale subresource. Absent: there is no scale subresource.
  std::optional<ScalePaths> scale = std::nullopt;
};

// The options of Kind::New.
struct KindOptions {
  std::string group;           // "wardle.example.com"; empty: the legacy group.
  std::string kind;            // Required. "Flunder".
  std::string plural;          // Required. "flunders".
  std::string singular = "";   // Empty: `kind` in lower case.
  std::string list_kind = "";  // Empty: `kind` + "List".
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  bool namespaced = true;
  // kGoType treats a zero as a missing value, as Go's omitempty does: a PATCH of `replicas: 0` with
  // the default 1 is answered 200 with 1. Choose kCustomResource for a kind that imitates no Go
  // type: it keeps and checks the 0.
  Semantics semantics = Semantics::kGoType;
  // Required. The versions in priority order: clients prefer the first.
  std::vector<KindVersion> versions;
  // The version that strategies, validation and admission see, and through which the conversion
  // functions convert. Empty: the first of `versions`.
  std::string hub_version = "";
  // The version that is written to storage. Empty: the hub version.
  std::string storage_version = "";
  // Converts objects between versions. Null: FunctionConverter(), which calls the versions'
  // functions. If the converter may block, the kind's store serves reads and watches on the pool.
  std::shared_ptr<const VersionConverter> converter = nullptr;
  // Fields that field selectors may name besides metadata.name and metadata.namespace, as JSON
  // paths in the hub version: "spec.nodeName".
  std::vector<std::string> selectable_fields = {};
};

// A kind of object: its names, its versions and their converter. Immutable and shared.
class Kind {
 public:
  // Checks the options and makes the kind. kInvalid: Kubernetes would not accept a name, version or
  // schema, or a declared conversion names a field that a schema does not have. The message lists
  // all problems.
  static Result<KindPtr> New(KindOptions options);
  // Makes a kind without a schema, for content that is passed on unchanged.
  static KindPtr Untyped(const GroupVersionKind& gvk);

  const std::string& group() const { return options_.group; }
  const std::string& kind() const { return options_.kind; }
  // The kind of its lists: "FlunderList".
  const std::string& list_kind() const { return options_.list_kind; }
  const std::string& plural() const { return options_.plural; }
  const std::string& singular() const { return options_.singular; }
  const std::vector<std::string>& short_names() const { return options_.short_names; }
  const std::vector<std::string>& categories() const { return options_.categories; }
  bool namespaced() const { return options_.namespaced; }
  Semantics semantics() const { return options_.semantics; }
  const std::vector<KindVersion>& versions() const { return options_.versions; }
  const std::string& hub_version() const { return options_.hub_version; }
  const std::string& storage_version() const { return options_.storage_version; }
  const VersionConverter& converter() const { return *options_.converter; }
  const std::vector<std::string>& selectable_fields() const { return options_.selectable_fields; }

  GroupVersionKind gvk(std::string_view version) const {
    return {group(), std::string(version), kind()};
  }
  GroupResource group_resource() const { return {group(), plural()}; }
  GroupKind group_kind() const { return {group(), kind()}; }
  // Returns the version of that name. Null: the kind does not have it.
  const KindVersion* FindVersion(std::string_view version) const;
  // `{"kind":"Flunder","apiVersion":"wardle.example.com/v1alpha1",`: the text in front of a body.
  // For a structural kind it is `{`, since the body has kind and apiVersion sorted among its other
  // keys. Empty for an unknown version.
  std::string_view JsonPrefix(std::string_view version) const;

 private:
  explicit Kind(KindOptions options);
  KindOptions options_;
  std::vector<std::string> prefixes_;  // One per version.
};

// Checks the schema's constraints and required fields, and its types for a kCustomResource.
field::ErrorList ValidateSchema(const Object& object);

}  // namespace apiserver::inline v0::runtime
