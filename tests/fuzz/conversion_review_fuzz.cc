#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiextensions/convert/review.h"
#include "apiserver/codec/json.h"
#include "client/webhook_answer.h"
#include "require.h"

// The answer of a conversion webhook: whatever it is, it is an error with words that have an end,
// or content of the same object in the version that was wanted.
namespace {

namespace conversion_fuzz {

using apiserver_fuzz::Require;
namespace extensions = apiserver::apiextensions;
using apiserver::runtime::Value;

constexpr std::string_view kOriginal =
    R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","namespace":"n",)"
    R"("uid":"1","generation":3,"labels":{"a":"b"},"finalizers":["x"]},"spec":{"a":1}})";
constexpr std::size_t kTextMax = std::size_t{96} << 10;

void CheckContent(const Value& content) {
  Require(content.is_map());
  Require(content.Find("kind") == nullptr && content.Find("apiVersion") == nullptr);
  const Value metadata = content["metadata"];
  Require(metadata["name"].AsString() == "a" && metadata["namespace"].AsString() == "n");
  Require(metadata["uid"].AsString() == "1" && metadata["generation"].AsInt() == 3);
  Require(metadata["finalizers"].size() == 1);
  for (const std::string_view field : {"labels", "annotations"}) {
    for (const auto& member : metadata[field].members()) Require(member.value.is_string());
  }
  std::string json;
  apiserver::codec::AppendJson(content, json);
  Require(!json.empty());
}

void CheckAnswer(const Value& answer, const Value& original, const std::string& version) {
  const auto converted = extensions::ConvertedObjectsOf({.uid = "123", .version = version}, answer);
  if (!converted.ok()) {
    Require(!converted.status().message().empty());
    return Require(converted.status().message().size() < kTextMax);
  }
  const extensions::ConversionBatch batch{.from = {"example.com", "v1", "Foo"},
                                          .to = {"example.com", "v2"},
                                          .count = converted->size()};
  for (std::size_t i = 0; i < converted->size(); ++i) {
    apiserver::runtime::Arena arena;
    const auto content = extensions::AcceptConverted(batch, i, original, (*converted)[i], arena);
    if (content.ok()) {
      CheckContent(*content);
    } else {
      Require(!content.status().message().empty());
      Require(content.status().message().size() < kTextMax);
    }
  }
}

}  // namespace conversion_fuzz

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  apiserver::runtime::Arena arena;
  const auto original = apiserver::codec::ParseJson(conversion_fuzz::kOriginal, arena);
  const auto answer = apiserver::client::DecodeWebhookAnswer(body, arena);
  if (!answer.ok()) {
    apiserver_fuzz::Require(!answer.status().ok());
    return 0;
  }
  for (const char* version : {"v1", "v1beta1"}) {
    conversion_fuzz::CheckAnswer(*answer, *original, version);
  }
  return 0;
}
