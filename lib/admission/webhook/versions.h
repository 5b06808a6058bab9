#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "admission/webhook/review.h"
#include "apiserver/admission/admission.h"

// A request's objects in the versions that webhooks want: admission.VersionedAttributes.
namespace apiserver::inline v0::admission {

// Versions that are only read; each is made once.
class ReadVersions {
 public:
  explicit ReadVersions(const Attributes& attributes) : attributes_(attributes) {}
  // kInternalError: the objects cannot be converted. Lives as long as this.
  Result<ReviewObjects> In(const Context& ctx, const runtime::GroupVersionKind& kind);

 private:
  struct Objects {
    std::unique_ptr<runtime::Object> object;
    std::unique_ptr<runtime::Object> old_object;
  };
  using Key = std::tuple<std::string, std::string, std::string>;

  const Attributes& attributes_;
  std::map<Key, Objects> made_;
};

// One version at a time, whose object webhooks change.
class WrittenVersion {
 public:
  explicit WrittenVersion(Attributes& attributes) : attributes_(attributes) {}

  // The objects in `kind`, with all changes so far. kInternalError: they cannot be converted.
  Status TurnTo(const Context& ctx, const runtime::GroupVersionKind& kind);
  // Only after TurnTo().
  ReviewObjects objects() const { return {object_.get(), old_object_.get()}; }
  // The new state as it is by now; null: there is none.
  const runtime::Object* current() const { return object_ ? object_.get() : attributes_.object; }
  // Replaces the object; same kind and version.
  void Set(std::unique_ptr<runtime::Object> object);
  // Puts the changes into the request's own object.
  Status WriteBack(const Context& ctx);

 private:
  Attributes& attributes_;
  runtime::GroupVersionKind kind_;
  std::unique_ptr<runtime::Object> object_;
  std::unique_ptr<runtime::Object> old_object_;
  bool dirty_ = false;
};

}  // namespace apiserver::inline v0::admission
