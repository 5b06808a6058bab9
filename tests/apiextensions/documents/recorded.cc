#include "apiextensions/documents/recorded.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "apiextensions/documents/definitions.h"
#include "apiextensions/documents/documented_version.h"
#include "apiextensions/documents/operations.h"
#include "apiserver/codec/json.h"

namespace apiserver::inline v0::testing {

namespace {

using runtime::Value;

// Calls `change` for each object of `value`, inner ones first, and sorts the members. Recurses: for
// test data alone.
Value Rewritten(Value value, runtime::Arena& arena,
                const std::function<Value(Value)>& change = nullptr) {
  if (value.is_list()) {
    runtime::ListBuilder list(arena);
    for (const Value& item : value.items()) list.Add(Rewritten(item, arena, change));
    return list.Build();
  }
  if (!value.is_map()) return value;
  std::map<std::string_view, Value> sorted;
  for (const runtime::Member& member : value.members()) sorted.emplace(member.key, member.value);
  runtime::MapBuilder map(arena);
  for (const auto& [key, each] : sorted) map.Add(key, Rewritten(each, arena, change));
  return change ? change(map.Build()) : map.Build();
}

// Drops what is not recorded: texts of parameters, and their hashes.
Value WithoutWords(Value object, runtime::Arena& arena) {
  constexpr std::string_view kParameters = "#/parameters/";
  constexpr std::size_t kHashBytes = 9;
  if (object["in"].is_string()) object = runtime::Without(object, "description", arena);
  std::string_view ref = object["$ref"].AsString();
  if (!ref.starts_with(kParameters)) return object;
  ref.remove_suffix(kHashBytes);
  return runtime::With(object, "$ref", Value::String(ref), arena);
}

std::string Text(std::ifstream& file) {
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Value NamesOf(const std::set<std::string>& names, runtime::Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const std::string& name : names) list.Add(Value::String(arena.Copy(name)));
  return list.Build();
}

}  // namespace

Recorded Recorded::Lines(const std::string& file) {
  Recorded recorded;
  std::ifstream lines(std::string(APISERVER_TESTDATA) + "/" + file);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view kept = recorded.arena_.Copy(line);
    recorded.values_.push_back(codec::ParseJson(kept, recorded.arena_).value());
  }
  return recorded;
}

Recorded Recorded::Whole(const std::string& file) {
  Recorded recorded;
  std::ifstream text(std::string(APISERVER_TESTDATA) + "/" + file);
  const std::string_view kept = recorded.arena_.Copy(Text(text));
  const Value all = codec::ParseJson(kept, recorded.arena_).value();
  recorded.values_.assign(all.items().begin(), all.items().end());
  return recorded;
}

std::string Sorted(const std::string& json) {
  runtime::Arena arena;
  std::string sorted;
  codec::AppendJson(Rewritten(codec::ParseJson(json, arena).value(), arena), sorted);
  return sorted;
}

std::string Canonical(Value definition, const std::string& version, bool v2) {
  const openapi::Format format = v2 ? openapi::Format::kV2 : openapi::Format::kV3;
  const auto documented = apiextensions::DocumentedVersionOf(definition, version).value();
  std::map<std::string, std::string> parameters;
  std::string json = "{\"definitions\":{";
  apiextensions::AppendDefinitions(documented, format, json);
  json += "},\"paths\":{";
  apiextensions::AppendPaths(documented, format, json, parameters);
  json += "}}";

  runtime::Arena arena;
  Value document = codec::ParseJson(json, arena).value();
  const Value paths = Rewritten(document["paths"], arena,
                                [&arena](Value object) { return WithoutWords(object, arena); });
  document = runtime::With(document, "paths", paths, arena);
  std::set<std::string> names;
  for (const auto& [name, text] : parameters) names.insert(name.substr(0, name.size() - 9));
  document = runtime::With(document, "parameters", NamesOf(names, arena), arena);
  std::string canonical;
  codec::AppendJson(Rewritten(document, arena), canonical);
  return canonical;
}

}  // namespace apiserver::inline v0::testing
