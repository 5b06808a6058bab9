#include <catch2/catch.hpp>
#include <random>

#include "apiserver/codec/yaml.h"
#include "codec/text.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;
using testing::Json;

// Values of every shape from a seed, so that a failure can be repeated.
class Generator {
 public:
  Generator(unsigned seed, Arena& arena) : random_(seed), arena_(arena) {}

  Value Make(int depth) {
    const int kind = Roll(depth > 0 ? 8 : 6);
    if (kind == 0) return Value();
    if (kind == 1) return Value::Bool(Roll(2) == 0);
    if (kind == 2) return Value::Int(static_cast<std::int64_t>(random_() >> Roll(64)));
    if (kind == 3) return Value::Double((Roll(2'000'000) + 0.5) / (1 << Roll(20)));
    if (kind < 6) return Value::String(Text());
    if (kind == 6) {
      runtime::ListBuilder list(arena_);
      for (int i = Roll(5); i > 0; --i) list.Add(Make(depth - 1));
      return list.Build();
    }
    runtime::MapBuilder map(arena_);
    for (int i = Roll(20); i > 0; --i) {
      map.Add(arena_.Copy(std::to_string(i) + std::string(Text())), Make(depth - 1));
    }
    return map.Build();
  }

 private:
  int Roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
  std::string_view Text() {
    constexpr std::string_view kPieces[] = {"a",  "Z9",  " ", "\n",   "\"",           "\\", "<",
                                            "é",  "日",  "😀", "\x01", "\xE2\x80\xA8", ":",  "#",
                                            "- ", "yes", "1", "~",    "\t",           "{",  "'"};
    std::string text;
    for (int i = Roll(6); i > 0; --i) text += kPieces[Roll(std::size(kPieces))];
    return arena_.Copy(text);
  }

  std::mt19937_64 random_;
  Arena& arena_;
};

TEST_CASE("codec: what is written as JSON reads back the same", "[codec]") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Arena arena;
    const Value value = Generator(seed, arena).Make(5);
    const std::string json = Json(value);
    INFO("seed " << seed << ": " << json);
    const Result<Value> again = ParseJson(json, arena);
    REQUIRE(again.ok());
    CHECK(*again == value);
    std::string pretty;
    AppendPrettyJson(value, pretty);
    CHECK(*ParseJson(pretty, arena) == value);
  }
}

TEST_CASE("codec: what is written as YAML reads back the same", "[codec]") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Arena arena;
    const Value value = Generator(seed, arena).Make(4);
    std::string yaml;
    AppendYaml(value, yaml);
    INFO("seed " << seed << ": " << yaml);
    const Result<Value> again = ParseYaml(yaml, arena);
    REQUIRE(again.ok());
    CHECK(*again == value);
  }
}

TEST_CASE("codec: JSON with a byte changed is refused or read, never more", "[codec]") {
  const std::string text = R"({"a":[1,2.5e3,"x\né",{"b":null}],"c":{"d":true,"e":"\ud83d\ude00"}})";
  std::mt19937_64 random(42);
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = text;
    broken[random() % broken.size()] = static_cast<char>(random());
    Arena arena;
    const Result<Value> value = ParseJson(broken, arena);
    if (!value.ok()) {
      CHECK_FALSE(value.status().message().empty());
    } else {
      // A double that is whole reads back as an integer; its text is the same.
      const std::string once = Json(*value);
      CHECK(Json(*ParseJson(once, arena)) == once);
    }
  }
}

}  // namespace
}  // namespace apiserver::inline v0::codec
