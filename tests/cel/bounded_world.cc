#include "cel/bounded_world.h"

#include <algorithm>
#include <array>

#include "apiserver/codec/json.h"

namespace cel_test {
namespace {

constexpr std::size_t kPropertiesMax = 6;
constexpr std::size_t kItemsMax = 6;
constexpr std::size_t kLengthMax = 30;
constexpr int kNesting = 2;

// A schema, data that fits it, and the shape by which the generator uses it. An object has none,
// but terms for its properties, which begin with a dot.
struct Part {
  std::string schema;
  std::string data;
  std::string shape = {};
  std::vector<Term> below = {};
};

std::string Quoted(std::string_view text) {
  std::string quoted;
  apiserver::codec::AppendJsonString(text, quoted);
  return quoted;
}

// A schema of a type with a bound: {"type":"array","maxItems":3,…}.
std::string Bounded(const std::string& type, const std::string& bound, std::size_t most,
                    const std::string& more = "") {
  return R"({"type":")" + type + R"(",")" + bound + "\":" + std::to_string(most) + more + "}";
}

class Maker {
 public:
  explicit Maker(Random& random) : random_(random) {}

  Part Object(int depth) {
    Part object;
    std::string properties;
    std::string members;
    const std::size_t count = 1 + random_.Below(kPropertiesMax);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "p" + std::to_string(i);
      const Part part = Property(depth);
      properties += (i == 0 ? "" : ",") + Quoted(name) + ":" + part.schema;
      members += (i == 0 ? "" : ",") + Quoted(name) + ":" + part.data;
      if (!part.shape.empty()) object.below.push_back({"." + name, ParseShape(part.shape)});
      for (const Term& term : part.below)
        object.below.push_back({"." + name + term.text, term.shape});
    }
    object.schema = R"({"type":"object","properties":{)" + properties + "}}";
    object.data = "{" + members + "}";
    return object;
  }

 private:
  Part Property(int depth) {
    switch (random_.Below(depth > 0 ? 6 : 3)) {
      case 0:
      case 1:
        return Text();
      case 2:
        return Scalar();
      case 3:
        return List(depth - 1);
      case 4:
        return Map(depth - 1);
      default:
        return Object(depth - 1);
    }
  }

  Part Text() {
    const std::size_t most = 1 + random_.Below(kLengthMax);
    return {.schema = Bounded("string", "maxLength", most),
            .data = Quoted(TextOf(random_.Below(most + 1))),
            .shape = random_.Chance(80) ? "string" : "pattern"};
  }

  Part Scalar() {
    struct Row {
      const char* schema;
      const char* data;
      const char* shape;
    };
    static constexpr std::array<Row, 7> kRows = {
        {{R"({"type":"integer"})", "42", "int"},
         {R"({"type":"integer"})", "1", "small"},
         {R"({"type":"number"})", "-1.5", "double"},
         {R"({"type":"boolean"})", "true", "bool"},
         {R"({"type":"string","format":"date-time","maxLength":30})", R"("2024-02-29T12:30:45Z")",
          "timestamp"},
         {R"({"type":"string","format":"duration","maxLength":9})", R"("1h30m")", "duration"},
         {R"({"type":"string","format":"byte","maxLength":8})", R"("YWJj")", "bytes"}}};
    const Row& row = kRows[random_.Below(kRows.size())];
    return {.schema = row.schema, .data = row.data, .shape = row.shape};
  }

  // Up to as many items as are allowed; all are of one schema.
  Part List(int depth) {
    const std::size_t most = random_.Below(kItemsMax + 1);
    const std::size_t count = random_.Below(most + 1);
    Part item = Property(depth);
    Part list;
    std::string items;
    for (std::size_t i = 0; i < count; ++i) items += (i == 0 ? "" : ",") + item.data;
    list.schema = Bounded("array", "maxItems", most, R"(,"items":)" + item.schema);
    list.data = "[" + items + "]";
    if (!item.shape.empty()) list.shape = "list(" + item.shape + ")";
    for (const Term& term : item.below) list.below.push_back({"[0]" + term.text, term.shape});
    return list;
  }

  Part Map(int depth) {
    const std::size_t most = random_.Below(kItemsMax + 1);
    const std::size_t count = random_.Below(most + 1);
    const Part value = depth > 0 && random_.Chance(30) ? List(depth - 1) : Text();
    std::string members;
    for (std::size_t i = 0; i < count; ++i) {
      members += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":" + value.data;
    }
    Part map;
    map.schema =
        Bounded("object", "maxProperties", most, R"(,"additionalProperties":)" + value.schema);
    map.data = "{" + members + "}";
    if (!value.shape.empty()) map.shape = "map(string, " + value.shape + ")";
    return map;
  }

  // A text of that many code points, of which some take more bytes.
  std::string TextOf(std::size_t length) {
    static constexpr std::array<const char*, 8> kPieces = {"a", "b", "c", "0", " ", ".", "é", "👑"};
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += kPieces[random_.Below(kPieces.size())];
    return text;
  }

  Random& random_;
};

}  // namespace

BoundedWorld MakeBoundedWorld(Random& random) {
  const Part object = Maker(random).Object(kNesting);
  BoundedWorld world{.schema = object.schema, .data = object.data, .terms = {}};
  for (const Term& term : object.below) world.terms.push_back({"self" + term.text, term.shape});
  return world;
}

}  // namespace cel_test
