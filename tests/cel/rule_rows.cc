#include "cel/rule_rows.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "apiserver/codec/json.h"

namespace apiserver::testing {

int ForEachRow(const std::string& file, std::string_view table,
               const std::function<void(const runtime::Value& row)>& judge) {
  std::ifstream lines("tests/cel/data/" + file + ".jsonl");
  REQUIRE(lines.good());
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    runtime::Arena arena;
    const runtime::Value json = codec::ParseJson(line, arena).value();
    if (json["table"].AsString() != table) continue;
    ++count;
    judge(json["row"]);
  }
  return count;
}

runtime::SchemaPtr WithRuleAt(const runtime::SchemaPtr& schema, std::string_view place,
                              const runtime::ValidationRule& rule) {
  runtime::SchemaParts parts(*schema);
  if (place.empty()) {
    parts.rules.push_back(rule);
    return runtime::MakeSchema(parts);
  }
  const std::size_t slash = place.find('/');
  const std::string_view step = place.substr(0, slash);
  const std::string_view rest =
      slash == std::string_view::npos ? std::string_view() : place.substr(slash + 1);
  if (parts.items) parts.items = WithRuleAt(parts.items, rest, rule);
  for (runtime::FieldParts& field : parts.fields) {
    if (field.name == step) field.schema = WithRuleAt(field.schema, rest, rule);
  }
  return runtime::MakeSchema(parts);
}

}  // namespace apiserver::testing
