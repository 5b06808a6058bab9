#include "storage/corrupt_objects.h"

#include <string>
#include <utility>

#include "apiserver/meta/errors.h"

namespace apiserver::v0::storage {
namespace {

constexpr std::string_view kTooMany = "too many errors, the list is truncated";

Status NewUnusable(std::string text, std::int64_t revision, const Status& why) {
  text.append(" revision=").append(std::to_string(revision)).append(": ").append(why.message());
  return Status(Reason::kInternalError, std::move(text));
}

}  // namespace

Status NewNotTransformable(const Status& why) {
  return NewUnusable("data from the storage is not transformable", 0, why);
}

Status NewNotDecodable(std::int64_t revision, const Status& why) {
  return NewUnusable("object not decodable", revision, why);
}

Status NewCorruptObject(std::string_view key, const Status& why) {
  std::string text = "StorageError: corrupt object, Code: 7, Key: ";
  text.append(key).append(", ResourceVersion: 0, AdditionalErrorMsg: ").append(why.message());
  return Status(Reason::kInternalError, std::move(text));
}

Status NewCorruptEvent(const Status& why, bool deleted) {
  if (!deleted) return meta::NewInternalError(why.message());
  return Status(Reason::kStorageReadError,
                "saw a DELETED event, but object data is corrupt - " + std::string(why.message()));
}

bool CorruptObjects::Add(std::string_view key, const Status& why) {
  const Status error = NewCorruptObject(key, why);
  causes_.push_back({"UnexpectedServerResponse", std::string(error.message()), std::string(key)});
  return causes_.size() < kMax;
}

Status CorruptObjects::Outcome(const runtime::GroupResource& resource) const {
  if (causes_.empty()) return {};
  std::string message = "failed to read one or more " + resource.ToString();
  message.append(" from the storage: ").append(causes_.front().message);
  if (causes_.size() > 1) {
    message.append(" (and ").append(std::to_string(causes_.size() - 1)).append(" more)");
  }
  StatusDetails details;
  details.group = resource.group;
  details.kind = resource.resource;
  details.name = "list";
  details.causes = causes_;
  if (causes_.size() >= kMax) details.causes.push_back({"TooMany", std::string(kTooMany), ""});
  return Status(Reason::kStorageReadError, std::move(message)).WithDetails(std::move(details));
}

}  // namespace apiserver::v0::storage
