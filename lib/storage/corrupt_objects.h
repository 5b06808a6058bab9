#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"

// The errors for stored values that cannot be made into objects.
namespace apiserver::inline v0::storage {

// The reason a value cannot be used: it does not decrypt, or the decrypted bytes are no object of
// the kind. kInternalError; updates and watches return it.
Status NewNotTransformable(const Status& why);
Status NewNotDecodable(std::int64_t revision, const Status& why);

// The value at `key` cannot be used: a StorageError around one of the above.
Status NewCorruptObject(std::string_view key, const Status& why);

// Returns the error that ends a watch when an event's object cannot be used.
Status NewCorruptEvent(const Status& why, bool deleted);

// Collects the corrupt objects of one list. The list goes on behind each of them, so that all are
// reported at once.
class CorruptObjects {
 public:
  // The largest number of objects in one report; the list stops there.
  static constexpr std::size_t kMax = 100;

  // Adds one. False: that was the last one there is room for.
  bool Add(std::string_view key, const Status& why);
  // Returns OK if there was none, else kStorageReadError with a cause for each.
  Status Outcome(const runtime::GroupResource& resource) const;

 private:
  std::vector<StatusCause> causes_;
};

}  // namespace apiserver::inline v0::storage
