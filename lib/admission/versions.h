#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "apiserver/admission/admission.h"

// A request's objects in the versions that webhooks and policies want:
// admission.VersionedAttributes.
namespace apiserver::inline v0::admission {

// The states of the object in the version that a webhook or policy wants. Null: there is none.
struct ReviewObjects {
  const runtime::Object* object = nullptr;
  const runtime::Object* old_object = nullptr;
};

// The versions for reading; each is made once.
class ReadVersions {
 public:
  explicit ReadVersions(const Attributes& attributes) : attributes_(attributes) {}
  // Returns the objects in `kind`, valid as long as this. kInternalError: they cannot be converted.
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

  // Converts the objects to `kind`, with all changes so far. kInternalError: that fails.
  Status TurnTo(const Context& ctx, const runtime::GroupVersionKind& kind);
  // Call it only after TurnTo().
  ReviewObjects objects() const { return {object_.get(), old_object_.get()}; }
  // Returns the new state with the changes so far. Null: there is none.
  const runtime::Object* current() const { return object_ ? object_.get() : attributes_.object; }
  // Replaces the object by one of the same kind and version.
  void Set(std::unique_ptr<runtime::Object> object);
  // Copies the changes to the request's own object.
  Status WriteBack(const Context& ctx);

 private:
  Attributes& attributes_;
  runtime::GroupVersionKind kind_;
  std::unique_ptr<runtime::Object> object_;
  std::unique_ptr<runtime::Object> old_object_;
  bool dirty_ = false;
};

}  // namespace apiserver::inline v0::admission
