#include "apiserver/runtime/kind.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "apiserver/runtime/convert.h"
#include "runtime/name_rules.h"
#include "runtime/rename_fields.h"
#include "runtime/schema_check.h"

namespace apiserver::v0::runtime {

namespace {

// Independent of the process' locale, which std::tolower would follow.
std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Fills in the defaults that depend on other options.
void FillIn(KindOptions& options) {
  if (options.singular.empty()) options.singular = Lower(options.kind);
  if (options.list_kind.empty()) options.list_kind = options.kind + "List";
  if (options.converter == nullptr) options.converter = FunctionConverter();
  for (KindVersion& version : options.versions) {
    if (version.status_subresource || version.schema == nullptr) continue;
    version.status_subresource = version.schema->FindField("status") != nullptr;
  }
  if (options.versions.empty()) return;
  if (options.hub_version.empty()) options.hub_version = options.versions.front().version;
  if (options.storage_version.empty()) options.storage_version = options.hub_version;
}

// Collects all problems, so that the host sees at once what there is to correct.
class Problems {
 public:
  void Add(std::string problem) { found_.push_back(std::move(problem)); }
  void Require(bool holds, std::string problem) {
    if (!holds) Add(std::move(problem));
  }
  void RequireLabel(std::string_view what, std::string_view name) {
    Require(IsDns1035Label(name),
            std::string(what) + " " + field::Quote(name) + " is no RFC 1035 label");
  }
  std::vector<std::string>& found() { return found_; }

 private:
  std::vector<std::string> found_;
};

void CheckNames(const KindOptions& options, Problems& problems) {
  if (!options.group.empty()) {
    problems.Require(IsDns1123Subdomain(options.group),
                     "group " + field::Quote(options.group) + " is no RFC 1123 subdomain");
  }
  problems.RequireLabel("kind in lower case", Lower(options.kind));
  problems.RequireLabel("list kind in lower case", Lower(options.list_kind));
  problems.Require(options.list_kind != options.kind, "kind and list kind are the same");
  problems.RequireLabel("plural", options.plural);
  problems.RequireLabel("singular", options.singular);
  for (const std::string& name : options.short_names) problems.RequireLabel("short name", name);
  for (const std::string& name : options.categories) problems.RequireLabel("category", name);
  for (const std::string& path : options.selectable_fields) {
    problems.Require(!path.empty() && path.front() != '.' && path.back() != '.',
                     "selectable field " + field::Quote(path) + " is no path");
  }
}

void CheckRoot(const Schema& schema, const std::string& version, Problems& problems) {
  // A body of any shape is a kind that is passed on, such as an option or a review of a host.
  if (schema.type == SchemaType::kAny) return;
  const std::string where = version + ": ";
  if (schema.type != SchemaType::kStruct) {
    problems.Add(where + "the schema is no struct");
    return;
  }
  for (std::size_t i = 0; i < schema.fields().size(); ++i) {
    const std::string name(schema.fields()[i].name());
    problems.Require(name != "kind" && name != "apiVersion",
                     where + name + " belongs to the envelope, not to the schema");
    problems.Require(name != "metadata" || i == 0, where + "metadata must be the first field");
  }
}

void CheckVersions(const KindOptions& options, Problems& problems) {
  problems.Require(!options.versions.empty(), "no versions");
  std::set<std::string_view> seen;
  for (const KindVersion& version : options.versions) {
    problems.RequireLabel("version", version.version);
    problems.Require(seen.insert(version.version).second,
                     "version " + field::Quote(version.version) + " is there twice");
    problems.Require((version.to_hub == nullptr) == (version.from_hub == nullptr),
                     version.version + ": to_hub and from_hub belong together");
    const bool converts = version.to_hub != nullptr || !version.conversions.empty();
    problems.Require(version.version != options.hub_version || !converts,
                     version.version + ": the hub does not convert to itself");
    CheckSchema(version.schema, options.semantics, version.version, problems.found());
    if (version.schema != nullptr) CheckRoot(*version.schema, version.version, problems);
  }
  if (options.versions.empty()) return;
  problems.Require(seen.contains(options.hub_version),
                   "hub version " + field::Quote(options.hub_version) + " is no version");
  problems.Require(seen.contains(options.storage_version),
                   "storage version " + field::Quote(options.storage_version) + " is no version");
}

// Checks the fields that conversions name against the schemas. Runs after CheckVersions.
void CheckConversions(const KindOptions& options, Problems& problems) {
  const auto hub = std::find_if(
      options.versions.begin(), options.versions.end(),
      [&](const KindVersion& version) { return version.version == options.hub_version; });
  if (hub == options.versions.end() || hub->schema == nullptr) return;
  for (const KindVersion& version : options.versions) {
    if (version.conversions.empty() || version.schema == nullptr) continue;
    if (&version == &*hub) continue;
    problems.Require(options.converter == FunctionConverter(),
                     version.version + ": the kind's converter does without conversions");
    CheckRenames(version, *hub, problems.found());
  }
}

Status ToStatus(const KindOptions& options, const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  std::string message = "kind " + field::Quote(options.kind) + ": ";
  for (std::size_t i = 0; i < problems.size(); ++i) {
    message += (i == 0 ? "" : "; ") + problems[i];
  }
  return Status(Reason::kInvalid, std::move(message));
}

}  // namespace

Kind::Kind(KindOptions options) : options_(std::move(options)) {
  for (const KindVersion& version : options_.versions) {
    // Among sorted keys kind and apiVersion stand where they belong: in the body.
    if (options_.semantics == Semantics::kCustomResource) {
      prefixes_.emplace_back("{");
      continue;
    }
    prefixes_.push_back("{\"kind\":\"" + options_.kind + "\",\"apiVersion\":\"" +
                        gvk(version.version).group_version().ToString() + "\",");
  }
}

Result<KindPtr> Kind::New(KindOptions options) {
  FillIn(options);
  Problems problems;
  CheckNames(options, problems);
  CheckVersions(options, problems);
  CheckConversions(options, problems);
  Status status = ToStatus(options, problems.found());
  if (!status.ok()) return status;
  return KindPtr(new Kind(std::move(options)));
}

KindPtr Kind::Untyped(const GroupVersionKind& gvk) {
  KindOptions options;
  options.group = gvk.group;
  options.kind = gvk.kind;
  options.semantics = Semantics::kCustomResource;
  KindVersion version;
  version.version = gvk.version;
  version.schema = AnySchema();
  options.versions.push_back(std::move(version));
  FillIn(options);
  return KindPtr(new Kind(std::move(options)));
}

const KindVersion* Kind::FindVersion(std::string_view version) const {
  for (const KindVersion& candidate : options_.versions) {
    if (candidate.version == version) return &candidate;
  }
  return nullptr;
}

std::string_view Kind::JsonPrefix(std::string_view version) const {
  for (std::size_t i = 0; i < prefixes_.size(); ++i) {
    if (options_.versions[i].version == version) return prefixes_[i];
  }
  return "";
}

}  // namespace apiserver::v0::runtime
