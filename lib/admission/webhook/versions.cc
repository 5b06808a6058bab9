#include "admission/webhook/versions.h"

#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

// Null stays null.
Result<std::unique_ptr<runtime::Object>> Converted(const runtime::Object* object,
                                                   const runtime::GroupVersionKind& kind) {
  if (object == nullptr) return std::unique_ptr<runtime::Object>();
  if (object->kind().group_kind() != runtime::GroupKind{kind.group, kind.kind}) {
    return meta::NewInternalError("unable to convert a " + object->kind().kind() + " to " +
                                  kind.group_version().ToString() + " " + kind.kind);
  }
  std::unique_ptr<runtime::Object> copy = object->Clone();
  if (const Status converted = runtime::ConvertTo(*copy, kind.version); !converted.ok()) {
    return meta::NewInternalError(converted.message());
  }
  return copy;
}

}  // namespace

Result<ReviewObjects> ReadVersions::In(const runtime::GroupVersionKind& kind) {
  const Key key(kind.group, kind.version, kind.kind);
  auto at = made_.find(key);
  if (at == made_.end()) {
    ASSIGN_OR_RETURN(auto object, Converted(attributes_.object, kind));
    ASSIGN_OR_RETURN(auto old_object, Converted(attributes_.old_object, kind));
    at = made_.emplace(key, Objects{std::move(object), std::move(old_object)}).first;
  }
  return ReviewObjects{at->second.object.get(), at->second.old_object.get()};
}

Status WrittenVersion::TurnTo(const runtime::GroupVersionKind& kind) {
  if (kind_ == kind) return {};
  RETURN_IF_ERROR(WriteBack());
  ASSIGN_OR_RETURN(object_, Converted(attributes_.object, kind));
  ASSIGN_OR_RETURN(old_object_, Converted(attributes_.old_object, kind));
  kind_ = kind;
  return {};
}

void WrittenVersion::Set(std::unique_ptr<runtime::Object> object) {
  object_ = std::move(object);
  dirty_ = true;
}

Status WrittenVersion::WriteBack() {
  if (!std::exchange(dirty_, false)) return {};
  runtime::Object& target = *attributes_.editable;
  runtime::GroupVersionKind hub = kind_;
  hub.version = target.version();
  ASSIGN_OR_RETURN(const auto converted, Converted(object_.get(), hub));
  target.SetRoot(runtime::Copy(converted->root(), target.arena()));
  return {};
}

}  // namespace apiserver::v0::admission
