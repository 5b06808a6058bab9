#include "apiserver/storage/kv/engine.h"

namespace apiserver::v0::storage::kv {

// Follows clientv3.GetPrefixRangeEnd: the last byte is counted up, after those of 0xff are cut off.
// Nothing left means that there is no end, which etcd writes as one zero byte.
std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return std::string(1, '\0');
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace apiserver::v0::storage::kv
