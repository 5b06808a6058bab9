#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/groups/core_options.h"
#include "apiserver/http/message.h"
#include "require.h"

// A raw query becomes the options of each kind. Values that are taken are within the ranges of
// their fields, and logs' options that are valid have no contradictions.
namespace {

using namespace apiserver;  // NOLINT: tests only.
using apiserver_fuzz::Require;

void CheckLog(const runtime::Object& options) {
  if (!groups::core::ValidatePodLogOptions(options).empty()) return;
  Require(options["tailLines"].AsInt(0) >= 0);
  Require(options["limitBytes"].AsInt(1) >= 1);
  Require(options["sinceSeconds"].AsInt(1) >= 1);
  Require(options["stream"].is_null());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kinds = groups::core::OptionKinds().value();
  const auto query = http::Query::Parse({reinterpret_cast<const char*>(data), size});
  for (const runtime::KindPtr& kind : kinds) {
    const auto options = groups::core::OptionsFromQuery(kind, query.all());
    if (!options.ok()) {
      Require(options.status().reason() == Reason::kBadRequest);
      continue;
    }
    Require((**options)["command"].size() <= query.all().size());
    for (const runtime::Value port : (**options)["ports"].items()) {
      Require(port.AsInt(-1) >= 0 && port.AsInt() <= 65535);
    }
    if (kind->kind() == "PodLogOptions") CheckLog(**options);
  }
  return 0;
}
