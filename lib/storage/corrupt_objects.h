#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"

// What is said of stored values that cannot be made into objects.
namespace apiserver::inline v0::storage {

// Why a value cannot be used: it does not decrypt, or what it decrypts to is no object of the kind.
// kInternalError; what updates and watches say.
Status NewNotTransformable(const Status& why);
Status NewNotDecodable(std::int64_t revision, const Status& why);

// The value at `key` cannot be used: a StorageError around one of the above.
Status NewCorruptObject(std::string_view key, const Status& why);

// What a watch ends with when an event's object cannot be used.
Status NewCorruptEvent(const Status& why, bool deleted);

// What one list comes across. It goes on behind a corrupt object, so that all are told of at once.
class CorruptObjects {
 public:
  static constexpr std::size_t kMax = 100;

  // False: that was the last one there is room for.
  bool Add(std::string_view key, const Status& why);
  // OK if there was none, else kStorageReadError with a cause for each.
  Status Outcome(const runtime::GroupResource& resource) const;

 private:
  std::vector<StatusCause> causes_;
};

}  // namespace apiserver::inline v0::storage
