#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/codec/yaml.h"
#include "require.h"

// YAML: what parses prints as YAML that parses to the same JSON.
namespace {

namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)codec::SplitYamlDocuments(text);
  runtime::Arena arena;
  std::vector<std::string> duplicates;
  const auto value = codec::ParseYaml(text, arena, &duplicates);
  if (!value.ok()) {
    Require(value.status().reason() == apiserver::Reason::kBadRequest);
    Require(!value.status().message().empty());
    return 0;
  }
  // Aliases repeat what they name: what is printed may be much longer than what was read.
  std::string json;
  codec::AppendJson(*value, json);
  Require(codec::ParseJson(json, arena).ok());
  std::string yaml;
  codec::AppendYaml(*value, yaml);
  return 0;
}
