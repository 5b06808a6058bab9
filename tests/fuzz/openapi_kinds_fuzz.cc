#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apiserver/codec/openapi_kinds.h"
#include "apiserver/generator/typed_header.h"
#include "require.h"

// OpenAPI documents: what is read becomes structs, the same ones each time, or is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apiserver;  // NOLINT(google-build-using-namespace): a fuzz target.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  runtime::SchemaPool pool;
  const auto options = codec::KindOptionsFromOpenApi(text, {}, pool);
  if (!options.ok()) return 0;
  apiserver_fuzz::Require(codec::IsOpenApiDocument(text));
  std::vector<runtime::KindPtr> kinds;
  for (const runtime::KindOptions& each : *options) {
    auto kind = runtime::Kind::New(each);
    if (kind.ok()) kinds.push_back(*kind);
  }
  const generator::TypedHeaderOptions names{.name_space = "z", .share_definitions = true};
  const auto once = generator::TypedHeader(kinds, names);
  const auto again = generator::TypedHeader(kinds, names);
  apiserver_fuzz::Require(once.ok() == again.ok());
  if (once.ok()) apiserver_fuzz::Require(*once == *again);
  return 0;
}
