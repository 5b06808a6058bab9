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

// Whose rules an object's JSON obeys.
enum class Semantics : std::uint8_t {
  kGoType,  // A Go type: declaration order, zero values and nulls as encoding/json has them.
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

// A conversion that is declared instead of written: a field that has another name in the hub. Both
// are paths of member names, without lists on the way, and differ in the last name alone; both
// fields have one type. A value is kept as it is, so a round trip loses nothing.
struct RenameField {
  RenameField(std::string here, std::string hub) : here(std::move(here)), hub(std::move(hub)) {}

  std::string here;  // In the version that declares it: "spec.size".
  std::string hub;   // "spec.replicas".
};

// Where a version keeps what its scale subresource shows: paths as a CustomResourceDefinition
// writes them, of member names only.
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
  // A kStruct whose first field is metadata (ObjectMetaSchema()); without kind and apiVersion.
  SchemaPtr schema;
  bool served = true;
  // Sent as a Warning on every call; empty: none.
  std::string deprecation_warning = "";
  // The functions run where content is read or written: on the pool, where they may wait; also on
  // loops if registry::StoreOptions::functions_inline says that they do not. Any thread, several at
  // a time.
  //
  // Fills what markers cannot express. Runs after the schema's default values.
  std::function<void(Object&)> set_defaults = nullptr;
  // Rewrite the content from this version into the hub's and back; null on the hub itself and
  // where the shapes are the same. They keep metadata as it is. Called by FunctionConverter()
  // (convert.h) only: a converter of the kind's own does without them.
  std::function<Status(Object&)> to_hub = nullptr;
  std::function<Status(Object&)> from_hub = nullptr;
  // Fields that the hub calls otherwise. Applied before to_hub, and after from_hub; as they are
  // data, they never keep reads off a loop. Empty on the hub, and if the kind has a converter.
  std::vector<RenameField> conversions = {};
  std::vector<PrinterColumn> columns = {};
  // The subresources that server::InstallKinds serves in this version.
  //
  // True: the status can only be changed through <plural>/<name>/status, which changes nothing
  // else. Absent: true if the schema has a field `status`. Kind::New sets it.
  std::optional<bool> status_subresource = std::nullopt;
  // Absent: no scale subresource.
  std::optional<ScalePaths> scale = std::nullopt;
};

// What a kind is made of; see Kind::New.
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
  // the default 1 is answered 200 with 1. A kind that imitates no Go type is better
  // kCustomResource, where the 0 is kept and checked.
  Semantics semantics = Semantics::kGoType;
  // Required. In priority order: the first is what clients prefer.
  std::vector<KindVersion> versions;
  // The version strategies, validation and admission see, and through which functions convert;
  // empty: the first.
  std::string hub_version = "";
  // The version written to storage; empty: the hub.
  std::string storage_version = "";
  // How versions turn into each other; null: FunctionConverter(), by the versions' functions. A
  // converter that may wait makes the kind's store serve reads and watches on the pool.
  std::shared_ptr<const VersionConverter> converter = nullptr;
  // Fields beside metadata.name and metadata.namespace that field selectors may name, as JSON paths
  // in the hub: "spec.nodeName".
  std::vector<std::string> selectable_fields = {};
};

// A kind of object: its names, versions and how they turn into each other. Immutable, shared.
class Kind {
 public:
  // kInvalid: a name, version or schema that Kubernetes would not accept, or a declared conversion
  // of a field that a schema does not have; the message lists all.
  static Result<KindPtr> New(KindOptions options);
  // A kind without schema, for content that is passed on as it is.
  static KindPtr Untyped(const GroupVersionKind& gvk);

  const std::string& group() const { return options_.group; }
  const std::string& kind() const { return options_.kind; }
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
  // Null when there is none.
  const KindVersion* FindVersion(std::string_view version) const;
  // `{"kind":"Flunder","apiVersion":"wardle.example.com/v1alpha1",`: what stands before a body. Of
  // a structural kind `{`: its body carries kind and apiVersion, sorted among the other keys.
  // Empty for an unknown version.
  std::string_view JsonPrefix(std::string_view version) const;

 private:
  explicit Kind(KindOptions options);
  KindOptions options_;
  std::vector<std::string> prefixes_;  // One per version.
};

// Constraints and types of the schema (kCustomResource), and `required`.
field::ErrorList ValidateSchema(const Object& object);

}  // namespace apiserver::inline v0::runtime
