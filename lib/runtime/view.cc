#include "apiserver/runtime/view.h"

#include <stdexcept>

#include "apiserver/runtime/schema_path.h"

namespace apiserver::v0::runtime {
namespace {

const Schema* RootOf(const Object& object) {
  const KindVersion* const version = object.kind().FindVersion(object.version());
  return version != nullptr ? version->schema.get() : nullptr;
}

// Throws the error of a step to `path`, if it has one.
const Schema* Must(const Result<const Schema*>& step, const Object& object,
                   const std::string& path) {
  if (step.ok()) return *step;
  const GroupVersionKind gvk = object.gvk();
  throw std::logic_error("reading " + gvk.kind + " " + gvk.group_version().ToString() + ": " +
                         path + ": " + std::string(step.status().message()));
}

}  // namespace

SchemaPlace::SchemaPlace(const Object& object) : schema_(RootOf(object)), object_(&object) {}

SchemaPlace SchemaPlace::Member(std::string_view name) const {
  std::string path = path_.empty() ? std::string(name) : path_ + "." + std::string(name);
  const Schema* below = nullptr;
  if (schema_ != nullptr) below = Must(MemberSchema(*schema_, name), *object_, path);
  return {below, object_, std::move(path)};
}

SchemaPlace SchemaPlace::Item() const {
  std::string path = path_ + "[]";
  const Schema* below = nullptr;
  if (schema_ != nullptr) below = Must(ItemSchema(*schema_), *object_, path);
  return {below, object_, std::move(path)};
}

}  // namespace apiserver::v0::runtime
