// Documents of OpenAPI v2 of two extension servers, separated by a NUL, merged and in the form of
// v3.
#include "apiserver/openapi/foreign.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/convert.h"
#include "apiserver/openapi/spec.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apiserver;  // NOLINT: a fuzz target.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\0');
  std::vector<openapi::ForeignV2Ptr> foreign;
  for (const std::string_view json :
       {text.substr(0, end), end == std::string_view::npos ? "" : text.substr(end + 1)}) {
    if (auto read = openapi::ReadForeignV2(json, {"a.com", "v1"}); read.ok()) {
      foreign.push_back(*std::move(read));
    }
    if (const auto v3 = openapi::ConvertV2ToV3(json, {"a.com", "v1"}); v3.ok()) {
      runtime::Arena arena;
      apiserver_fuzz::Require(codec::ParseJson(v3->json, arena).ok());
    }
  }
  auto base = std::make_shared<openapi::V2Base>(openapi::BuildV2Base({}));
  const auto merged = std::make_shared<const std::vector<openapi::FragmentPtr>>(
      openapi::MergeForeignV2(openapi::NamesIn(*base), foreign));
  std::string json;
  for (openapi::V2Writer writer(base, merged, /*protobuf=*/false); writer.Append(json);) {
  }
  runtime::Arena arena;
  apiserver_fuzz::Require(codec::ParseJson(json, arena).ok());
  std::string protobuf;
  for (openapi::V2Writer writer(base, merged, /*protobuf=*/true); writer.Append(protobuf);) {
  }
  return 0;
}
