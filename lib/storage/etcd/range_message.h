#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/storage/kv/engine.h"

// The bytes of a wire::RangeResponse, read key by key: the message itself would copy each of them
// once more.
namespace apiserver::inline v0::storage::etcd {

struct RangeOutline {
  kv::Revision revision = 0;
  bool more = false;
  std::size_t count = 0;  // All keys of the range, also those that the page has not.
  std::size_t keys = 0;
  std::string first_key;
  std::string last_key;
};

// Reads all but the key-values, of which only the first and the last are looked at. nullopt: it is
// no such message.
std::optional<RangeOutline> OutlineOf(std::string_view message);

// Reads all of it. Without `with_values` the values are null. nullopt: it is no such message.
std::optional<kv::RangeResponse> ReadRange(std::string_view message, bool with_values);

}  // namespace apiserver::inline v0::storage::etcd
