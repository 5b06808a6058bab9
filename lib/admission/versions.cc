#include "admission/versions.h"

#include <utility>
#include <vector>

#include "apiserver/meta/errors.h"
#include "apiserver/runtime/convert.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

// Conversion is between versions of one kind only.
Status CheckKind(const runtime::Object& object, const runtime::GroupVersionKind& kind) {
  if (object.kind().group_kind() == runtime::GroupKind{kind.group, kind.kind}) return {};
  return meta::NewInternalError("unable to convert a " + object.kind().kind() + " to " +
                                kind.group_version().ToString() + " " + kind.kind);
}

// True if the object needs no conversion, so that readers need no copy of it.
bool ReadableAsIs(const runtime::Object* object, const runtime::GroupVersionKind& kind) {
  if (object == nullptr) return true;
  const runtime::Kind& own = object->kind();
  return object->version() == kind.version && own.kind() == kind.kind && own.group() == kind.group;
}

// Copies of a request's objects. Null: there is no such object.
struct Copies {
  std::unique_ptr<runtime::Object> object;
  std::unique_ptr<runtime::Object> old_object;
};

// Copies the objects and converts them in one call.
Result<Copies> Converted(const Context& ctx, const ReviewObjects& objects,
                         const runtime::GroupVersionKind& kind) {
  Copies copies;
  std::vector<runtime::Object*> converted;
  const auto copy = [&](const runtime::Object* object, std::unique_ptr<runtime::Object>& to) {
    if (object == nullptr) return Status();
    RETURN_IF_ERROR(CheckKind(*object, kind));
    to = object->Clone();
    converted.push_back(to.get());
    return Status();
  };
  RETURN_IF_ERROR(copy(objects.object, copies.object));
  RETURN_IF_ERROR(copy(objects.old_object, copies.old_object));
  const Status status = runtime::Convert(ctx, converted, kind.version);
  if (status.ok()) return copies;
  // On a loop nothing has failed: the step is repeated on a thread that may block.
  if (status.reason() == Reason::kWouldBlock) return status;
  return meta::NewInternalError(status.message());
}

}  // namespace

// Converts once for each kind and version, however many webhooks want it.
Result<ReviewObjects> ReadVersions::In(const Context& ctx, const runtime::GroupVersionKind& kind) {
  if (ReadableAsIs(attributes_.object, kind) && ReadableAsIs(attributes_.old_object, kind)) {
    return ReviewObjects{attributes_.object, attributes_.old_object};
  }
  const Key key(kind.group, kind.version, kind.kind);
  auto at = made_.find(key);
  if (at == made_.end()) {
    ASSIGN_OR_RETURN(Copies copies,
                     Converted(ctx, {attributes_.object, attributes_.old_object}, kind));
    at = made_.emplace(key, Objects{std::move(copies.object), std::move(copies.old_object)}).first;
  }
  return ReviewObjects{at->second.object.get(), at->second.old_object.get()};
}

// Write back first: the next webhook must see the changes in its own version as well.
Status WrittenVersion::TurnTo(const Context& ctx, const runtime::GroupVersionKind& kind) {
  if (kind_ == kind) return {};
  RETURN_IF_ERROR(WriteBack(ctx));
  ASSIGN_OR_RETURN(Copies copies,
                   Converted(ctx, {attributes_.object, attributes_.old_object}, kind));
  object_ = std::move(copies.object);
  old_object_ = std::move(copies.old_object);
  kind_ = kind;
  return {};
}

void WrittenVersion::Set(std::unique_ptr<runtime::Object> object) {
  object_ = std::move(object);
  dirty_ = true;
}

// Copies the changes into the request's object, in its own version. Does nothing if there are none.
Status WrittenVersion::WriteBack(const Context& ctx) {
  if (!std::exchange(dirty_, false)) return {};
  runtime::Object& target = *attributes_.editable;
  runtime::GroupVersionKind hub = kind_;
  hub.version = target.version();
  ASSIGN_OR_RETURN(const Copies copies, Converted(ctx, {object_.get(), nullptr}, hub));
  target.SetRoot(runtime::Copy(copies.object->root(), target.arena()));
  return {};
}

}  // namespace apiserver::v0::admission
