#include "runtime/text.h"

#include <cstdlib>
#include <stdexcept>

#include "runtime/plain_json.h"

namespace apiserver::inline v0::runtime::testing {

namespace {

class Parser {
 public:
  Parser(std::string_view text, Arena& arena) : rest_(text), arena_(arena) {}

  Value Document() {
    const Value value = Any();
    Space();
    if (!rest_.empty()) throw std::runtime_error("test JSON: rest " + std::string(rest_));
    return value;
  }

 private:
  void Space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }
  bool Take(std::string_view word) {
    Space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string Text() {
    std::string text;
    while (!rest_.starts_with('"')) {
      if (rest_.starts_with('\\')) rest_.remove_prefix(1);
      if (rest_.empty()) throw std::runtime_error("test JSON: open string");
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    rest_.remove_prefix(1);
    return text;
  }
  Value Number() {
    const std::string text(rest_.substr(0, rest_.find_first_not_of("0123456789+-.eE")));
    if (text.empty()) throw std::runtime_error("test JSON: at " + std::string(rest_));
    rest_.remove_prefix(text.size());
    if (text.find_first_of(".eE") != std::string::npos) {
      return Value::Double(std::strtod(text.c_str(), nullptr));
    }
    return Value::Int(std::strtoll(text.c_str(), nullptr, 10));
  }
  Value Map() {
    MapBuilder map(arena_);
    if (Take("}")) return Value::Map({});
    do {
      if (!Take("\"")) throw std::runtime_error("test JSON: key");
      const std::string_view key = arena_.Copy(Text());
      if (!Take(":")) throw std::runtime_error("test JSON: colon");
      map.Add(key, Any());
    } while (Take(","));
    if (!Take("}")) throw std::runtime_error("test JSON: brace");
    return map.Build();
  }
  Value List() {
    ListBuilder list(arena_);
    if (Take("]")) return Value::List({});
    do {
      list.Add(Any());
    } while (Take(","));
    if (!Take("]")) throw std::runtime_error("test JSON: bracket");
    return list.Build();
  }
  Value Any() {
    if (Take("null")) return Value();
    if (Take("true")) return Value::Bool(true);
    if (Take("false")) return Value::Bool(false);
    if (Take("\"")) return Value::String(arena_.Copy(Text()));
    if (Take("{")) return Map();
    return Take("[") ? List() : Number();
  }

  std::string_view rest_;
  Arena& arena_;
};

}  // namespace

Value Parse(std::string_view json, Arena& arena) { return Parser(json, arena).Document(); }

std::string Print(const Value& value) { return PlainJson(value); }

std::string Print(const Object& object) { return PlainJson(object.root()); }

std::unique_ptr<Object> ObjectOf(const KindPtr& kind, std::string_view json,
                                 std::string_view version) {
  Arena arena;
  const Value root = Parse(json, arena);
  return std::make_unique<Object>(kind, version, std::move(arena), root);
}

KindPtr WidgetKind(SchemaPtr schema, Semantics semantics) {
  KindOptions options;
  options.group = "example.com";
  options.kind = "Widget";
  options.plural = "widgets";
  options.semantics = semantics;
  KindVersion version;
  version.version = "v1";
  version.schema = std::move(schema);
  options.versions.push_back(std::move(version));
  return Kind::New(std::move(options)).value();
}

SchemaPtr WithSpec(SchemaPtr spec) {
  return StructBuilder("com.example.v1.Widget")
      .Field("metadata", ObjectMetaSchema())
      .Field("spec", std::move(spec))
      .Build();
}

OwnedValue Owned(std::string_view json) {
  Arena arena;
  return OwnedValue(Parse(json, arena));
}

}  // namespace apiserver::inline v0::runtime::testing
