#include "rest/validate_embedded.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "apiserver/meta/validation.h"
#include "apiserver/runtime/kind.h"
#include "runtime/custom_walk.h"
#include "runtime/normalize.h"
#include "runtime/plain_json.h"

namespace apiserver::v0::rest {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

// Requires a text that is not empty. False: it is not one.
bool CheckText(const Value& value, const Path& path, ErrorList& errors) {
  if (!value.is_string()) {
    errors.InvalidPrinted(path, runtime::PlainJson(value), "must be a string");
    return false;
  }
  if (value.size() > 0) return true;
  errors.Invalid(path, "", "must not be empty");
  return false;
}

void CheckApiVersion(const Value& value, const Path& path, ErrorList& errors) {
  if (!CheckText(value, path, errors)) return;
  const std::string_view text = value.AsString();
  if (std::count(text.begin(), text.end(), '/') < 2) return;
  errors.Invalid(path, text, "unexpected GroupVersion string: " + field::Shorten(text));
}

void CheckKind(const Value& value, const Path& path, ErrorList& errors) {
  if (!CheckText(value, path, errors)) return;
  std::string lower(value.AsString());
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string complaints;
  for (const std::string& complaint : meta::IsDNS1035Label(lower)) {
    complaints.append(complaints.empty() ? "" : ",").append(complaint);
  }
  if (complaints.empty()) return;
  errors.Invalid(path, value.AsString(),
                 "may have mixed case, but should otherwise match: " + complaints);
}

void CheckMetadata(const Value& value, const Path& path, ErrorList& errors) {
  runtime::Arena arena;
  Value metadata = value;
  const Status fits = runtime::NormalizeStruct(*runtime::ObjectMetaSchema(), "ObjectMeta", arena,
                                               metadata, std::numeric_limits<std::size_t>::max());
  if (!fits.ok()) {
    errors.InvalidPrinted(path, runtime::PlainJson(value), std::string(fits.message()));
    return;
  }
  // A template needs no name.
  if (metadata["name"].AsString().empty()) {
    metadata = runtime::With(metadata, "name", Value::String("fakename"), arena);
  }
  const bool namespaced = !metadata["namespace"].AsString().empty();
  errors.Append(
      meta::ValidateObjectMeta(metadata, namespaced, meta::ValidatePathSegmentName, path));
}

void CheckResource(const Value& resource, const Path& path, ErrorList& errors) {
  for (const std::string_view required : {"apiVersion", "kind"}) {
    if (resource.Find(required) == nullptr) errors.Required(path.Child(required));
  }
  for (const runtime::Member& member : resource.members()) {
    if (member.key == "apiVersion") CheckApiVersion(member.value, path.Child(member.key), errors);
    if (member.key == "kind") CheckKind(member.value, path.Child(member.key), errors);
    if (member.key == "metadata") CheckMetadata(member.value, path.Child(member.key), errors);
  }
}

// Adds an error if a resource does not fit the Go types.
void CheckFit(const Value& resource, const Path& path, ErrorList& errors) {
  for (const runtime::Member& member : resource.members()) {
    const Path at = path.Child(member.key);
    if ((member.key == "apiVersion" || member.key == "kind") && !member.value.is_string()) {
      return errors.InvalidPrinted(at, runtime::PlainJson(member.value), "must be a string");
    }
    if (member.key != "metadata") continue;
    runtime::Arena arena;
    Value metadata = member.value;
    const Status fits = runtime::NormalizeStruct(*runtime::ObjectMetaSchema(), "ObjectMeta", arena,
                                                 metadata, std::numeric_limits<std::size_t>::max());
    if (fits.ok()) continue;
    return errors.InvalidPrinted(at, runtime::PlainJson(member.value), std::string(fits.message()));
  }
}

Path Joined(const Path& outer, const Path& inner) {
  if (outer.text().empty() || inner.text().empty()) return inner.text().empty() ? outer : inner;
  const bool dotted = inner.text().front() != '[';
  return Path(std::string(outer.text()).append(dotted ? "." : "").append(inner.text()));
}

}  // namespace

ErrorList ValidateResources(const runtime::Schema& schema, const Value& value, bool resource,
                            const Path& path) {
  ErrorList misfit;
  ErrorList errors;
  runtime::CustomWalk walk;
  walk.Run(schema, value, [&](const runtime::Schema& at, const Value& each) {
    const bool is_one = at.embedded_resource || (resource && &each == &value);
    if (!misfit.empty() || errors.full()) return false;
    if (!is_one || !each.is_map()) return true;
    const Path place = Joined(path, walk.Path());
    CheckFit(each, place, misfit);
    if (misfit.empty()) CheckResource(each, place, errors);
    return true;
  });
  return misfit.empty() ? errors : misfit;
}

ErrorList ValidateEmbedded(const runtime::Object& object) {
  ErrorList errors;
  const runtime::KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr || version->schema == nullptr) return errors;
  const Value root = object.root();
  runtime::CustomWalk walk;
  walk.Run(*version->schema, root, [&](const runtime::Schema& schema, const Value& value) {
    if (errors.full()) return false;
    if (schema.embedded_resource && value.is_map() && &value != &root) {
      CheckResource(value, walk.Path(), errors);
    }
    return true;
  });
  return errors;
}

}  // namespace apiserver::v0::rest
