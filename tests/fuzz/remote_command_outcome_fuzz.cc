// The outcome of a command, as a kubelet tells it: whatever it says, a client is told a Status.
#include "proxy/remote_command_outcome.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apiserver/codec/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apiserver;  // NOLINT: a fuzz target.
  const auto outcome =
      proxy::OutcomeOf(std::string_view(reinterpret_cast<const char*>(data), size));
  runtime::Arena arena;
  const auto status = codec::ParseJson(outcome.json, arena);
  if (!status.ok()) std::abort();
  const std::string_view word = (*status)["status"].AsString();
  if (word != "Success" && word != "Failure") std::abort();
  if (outcome.code != 200 && outcome.code != 500) std::abort();
  return 0;
}
