// The messages of an etcd, read whole and in pieces: both must say the same. The same bytes as a
// status: it has one code.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "storage/etcd/grpc_wire.h"

namespace {

using namespace apiserver::storage::etcd;  // NOLINT: a fuzz target.

constexpr std::size_t kLongest = 1000;

// Returns all messages, or up to the error.
std::string Said(std::string_view bytes, std::size_t piece) {
  MessageReader reader(kLongest);
  std::string said;
  while (!bytes.empty()) {
    std::string_view next = bytes.substr(0, piece);
    bytes.remove_prefix(next.size());
    while (!next.empty()) {
      const std::size_t before = next.size();
      const auto message = reader.Next(next);
      if (!message.ok()) return said + "!" + std::string(message.status().message());
      if (next.size() == before) std::abort();
      if (!*message) continue;
      if ((*message)->size() > kLongest) std::abort();
      said += FrameOf(**message);
    }
  }
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = Said(bytes, std::max<std::size_t>(bytes.size(), 1));
  if (Said(bytes, 1 + data[0] % 16) != whole) std::abort();
  const RpcOutcome outcome = OutcomeOf(
      {{"grpc-status", std::string(bytes.substr(0, 2))}, {"grpc-message", std::string(bytes)}});
  if (outcome.message.size() > std::max<std::size_t>(bytes.size(), 32)) std::abort();
  return 0;
}
