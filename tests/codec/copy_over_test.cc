// Copies of values that borrow their strings from the text that was written of them.
#include "codec/copy_over.h"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include "codec/text.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;
using testing::Json;

std::string RandomString(std::mt19937& random) {
  static const std::vector<std::string> kParts = {"a",  "b", "\"",       "\\", "\\n",
                                                  "\n", "<", "\xC3\xA9", ":",  ","};
  std::string text;
  for (std::size_t size = random() % 6; size > 0; --size) text += kParts[random() % kParts.size()];
  return text;
}

Value RandomValue(std::mt19937& random, Arena& arena, int depth) {
  switch (random() % (depth > 0 ? 6 : 4)) {
    case 0:
      return Value::Int(7);
    case 1:
      return Value();
    case 2:
    case 3:
      return Value::String(arena.Copy(RandomString(random)));
    case 4: {
      runtime::ListBuilder list(arena);
      for (std::size_t size = random() % 5; size > 0; --size) {
        list.Add(RandomValue(random, arena, depth - 1));
      }
      return list.Build();
    }
    default: {
      runtime::MapBuilder map(arena);
      for (std::size_t size = random() % 5; size > 0; --size) {
        map.Add(arena.Copy(std::to_string(size) + RandomString(random)),
                RandomValue(random, arena, depth - 1));
      }
      return map.Build();
    }
  }
}

TEST_CASE("codec: a copy over any text equals its original and outlives it", "[codec]") {
  std::mt19937 random(11);
  for (int i = 0; i < 3'000; ++i) {
    Arena arena;
    std::string text;
    std::string wanted;
    Value copy;
    {
      Arena original;
      const Value value = RandomValue(random, original, 4);
      wanted = Json(value);
      text = wanted;
      // A text of something else, or a part of it.
      if (i % 3 == 1) text = Json(RandomValue(random, original, 4));
      if (i % 3 == 2)
        text = text.substr(random() % (text.size() + 1), random() % (text.size() + 1));
      copy = CopyOver(text, value, arena);
    }
    REQUIRE(Json(copy) == wanted);
  }
}

TEST_CASE("codec: a copy over its own text copies no string of it", "[codec]") {
  Arena original;
  runtime::MapBuilder map(original);
  const std::string word(1'000, 'x');
  for (int i = 0; i < 40; ++i) map.Add(original.Copy(std::to_string(i)), Value::String(word));
  map.Add("e", Value::String("\"escaped\""));
  map.Add("f", Value::String(word));
  const Value value = map.Build();
  // As objects are stored, with members that the value has not.
  const std::string text = R"({"kind":"K","apiVersion":"v1",)" + Json(value).substr(1);
  Arena arena;
  const Value copy = CopyOver(text, value, arena);
  CHECK(copy == value);
  CHECK(arena.bytes_reserved() < 5 * word.size());
  const std::string_view last = copy["f"].AsString();
  CHECK(last.data() >= text.data());
  CHECK(last.data() + last.size() <= text.data() + text.size());
}

}  // namespace
}  // namespace apiserver::inline v0::codec
