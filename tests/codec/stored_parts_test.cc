// Answers that share long parts of the stored bytes.
#include "codec/stored_parts.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <memory>
#include <random>
#include <string>

#include "apiserver/codec/codec.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Format;
using runtime::StructBuilder;

std::shared_ptr<const std::string> Shareable(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::string RandomText(std::mt19937& random, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + random() % 4);
  return text;
}

// Some parts of `stored` in any order, and text between them.
std::string Shuffled(const std::string& stored, std::mt19937& random) {
  std::string body;
  for (std::size_t parts = 1 + random() % 8; parts > 0; --parts) {
    body += RandomText(random, random() % 90);
    body += stored.substr(random() % stored.size(), random() % stored.size());
  }
  return body;
}

TEST_CASE("codec: a body is composed of stored parts whatever their order", "[codec]") {
  std::mt19937 random(7);
  int composed = 0;
  for (int i = 0; i < 2'000; ++i) {
    const auto stored = Shareable("{" + RandomText(random, 100 + random() % 4'000));
    runtime::EncodedBody body;
    body.text = Shuffled(*stored, random);
    body.metadata_end = static_cast<std::uint32_t>(body.text.size() / 2);
    const auto encoding = ComposedOfStored(stored, body);
    if (encoding == nullptr) continue;
    ++composed;
    REQUIRE(encoding->ToString() == body.text);
    REQUIRE(encoding->size() == body.text.size());
    REQUIRE(encoding->marks() == body);
    REQUIRE(encoding->own_bytes() <= body.text.size() / 2);
    const auto begin = static_cast<std::uint32_t>(random() % body.text.size());
    const auto size = static_cast<std::uint32_t>(random() % (body.text.size() - begin));
    std::string part;
    encoding->AppendTo(part, begin, begin + size);
    REQUIRE(part == body.text.substr(begin, size));
  }
  CHECK(composed > 1'000);
}

TEST_CASE("codec: a body that shares little with what is stored is kept by itself", "[codec]") {
  std::mt19937 random(7);
  const auto stored = Shareable("{" + RandomText(random, 5'000));
  const auto bodied = [](std::string text) {
    runtime::EncodedBody body;
    body.text = std::move(text);
    return body;
  };
  CHECK(ComposedOfStored(stored, bodied(RandomText(random, 5'000))) == nullptr);
  CHECK(ComposedOfStored(stored, bodied(stored->substr(0, 1'000))) == nullptr);
  CHECK(ComposedOfStored(stored, bodied(*stored)) != nullptr);
  CHECK(ComposedOfStored(nullptr, bodied(*stored)) == nullptr);
  CHECK(ComposedOfStored(Shareable("k8s" + *stored), bodied(*stored)) == nullptr);
  CHECK(ComposedOfStored(Shareable("{"), bodied(*stored)) == nullptr);
  // Text that repeats itself takes no more steps than other text.
  const std::string same(1 << 20, 'a');
  CHECK(ComposedOfStored(Shareable("{" + same), bodied(same))->own_bytes() < 1'000);
}

TEST_CASE("codec: an answer in another version shares the long parts of what is stored",
          "[codec]") {
  const auto version = [](std::string name) {
    return runtime::KindVersion{.version = name,
                                .schema = StructBuilder(name + ".Note")
                                              .Field("metadata", runtime::ObjectMetaSchema())
                                              .Field("text", runtime::StringSchema())
                                              .Build()};
  };
  runtime::KindOptions options;
  options.group = "example.com";
  options.kind = "Note";
  options.plural = "notes";
  options.versions = {version("v1"), version("v1beta1")};
  options.hub_version = "v1";
  options.storage_version = "v1beta1";
  const auto kind = runtime::Kind::New(std::move(options)).value();
  runtime::Object note(kind, "v1");
  note.Edit("metadata", "name") = "n";
  note.Edit("text") = std::string(5'000, 'x');
  const auto bytes = EncodeForStorage(Context::Background(), note)->bytes;
  const runtime::ObjectPtr stored = DecodeFromStorage(kind, bytes, 7).value();
  const auto answer = EncodingOf(Context::Background(), *stored, "v1", Format::kJson).value();
  CHECK(answer->ToString() == R"("metadata":{"name":"n","resourceVersion":"7"},"text":")" +
                                  std::string(5'000, 'x') + R"("})");
  CHECK(answer->own_bytes() < 500);
}

}  // namespace
}  // namespace apiserver::inline v0::codec
