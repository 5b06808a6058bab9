#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/codec/cbor.h"
#include "require.h"

// CBOR: what parses is written in a form that parses, and is written the same again.
namespace {

namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  runtime::Arena arena;
  const auto value = codec::ParseCbor(bytes, arena);
  if (!value.ok()) {
    Require(value.status().reason() == apiserver::Reason::kBadRequest);
    Require(!value.status().message().empty());
    return 0;
  }
  // Sixteen bytes for the smallest item, thirty-two and a key for the smallest member.
  Require(arena.bytes_reserved() <= 64 * size + (64 << 10));
  std::string again;
  codec::AppendCbor(*value, again);
  const auto parsed = codec::ParseCbor(again, arena);
  Require(parsed.ok());
  std::string settled;
  codec::AppendCbor(*parsed, settled);
  Require(again == settled);
  return 0;
}
