#include "storage/etcd/page_size.h"

#include <algorithm>

namespace apiserver::v0::storage::etcd {

void PageSize::Took(std::size_t keys, std::size_t bytes, std::size_t left) {
  const std::size_t of_one = std::max<std::size_t>(bytes / std::max<std::size_t>(keys, 1), 1);
  keys_ = std::clamp<std::size_t>(limits_.bytes / of_one, 1, std::max(left / 2, limits_.last));
}

bool PageSize::TooLong() {
  if (keys_ == 1) return false;
  keys_ = std::max<std::size_t>(keys_ / 8, 1);
  return true;
}

}  // namespace apiserver::v0::storage::etcd
