#include "apiserver/storage/warm_up.h"

namespace apiserver::v0::storage {

std::string WarmUp::ToString() const {
  if (ready) return "ready";
  std::string text = "warming up " + prefix;
  if (total > 0) {
    text += ": " + std::to_string(loaded) + " of " + std::to_string(total) + " objects";
  }
  if (!failure.ok()) text += ": " + std::string(failure.message());
  return text;
}

}  // namespace apiserver::v0::storage
