#include <cstddef>
#include <cstdint>
#include <string_view>

#include "require.h"
#include "storage/etcd/range_message.h"

// A page of etcd's keys: a message that is read has the outline that is read of it alone, and
// takes no more bytes than it came in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using apiserver_fuzz::Require;
  namespace etcd = apiserver::storage::etcd;
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const auto outline = etcd::OutlineOf(message);
  const auto range = etcd::ReadRange(message, true);
  const auto keys = etcd::ReadRange(message, false);
  Require(range.has_value() == keys.has_value());
  if (!range) return 0;
  Require(outline.has_value());
  Require(outline->keys == range->kvs.size() && keys->kvs.size() == range->kvs.size());
  Require(outline->more == range->more && outline->count == range->count);
  Require(outline->revision == range->revision);
  Require(outline->last_key == (range->kvs.empty() ? "" : range->kvs.back().key));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < range->kvs.size(); ++i) {
    Require(keys->kvs[i].key == range->kvs[i].key && keys->kvs[i].value == nullptr);
    bytes += range->kvs[i].key.size() + range->kvs[i].value->size();
  }
  Require(bytes <= size);
  return 0;
}
