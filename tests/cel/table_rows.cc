#include "cel/table_rows.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <optional>

#include "apiserver/codec/json.h"

namespace cel_test {
namespace {

namespace runtime = apiserver::runtime;
using apiserver::Result;

std::string TextOf(const std::string& name) {
  std::ifstream file("tests/cel/data/" + name + ".jsonl", std::ios::binary);
  INFO(name);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

// A line of cel_spec is a row and the declaration of its environment.
Row RowOfTest(const runtime::Value& line, std::size_t group) {
  return {.name = std::string(line["test"].AsString()),
          .group = group,
          .declared = line,
          .inputs = line["values"],
          .question = line};
}

// Answers a row. The reason why there is no answer is one, too.
Answer AnswerOf(const Row& row, const Result<DeclaredEnvironment>& environment) {
  if (!environment.ok()) return {{"unanswered", std::string(environment.status().message())}};
  const Result<Answer> answer = environment->Ask(row.question, row.inputs);
  if (!answer.ok()) return {{"unanswered", std::string(answer.status().message())}};
  return *answer;
}

}  // namespace

RowFile::RowFile(const std::string& name) : text_(TextOf(name)) {
  std::string_view rest = text_;
  // The first line names the source.
  rest.remove_prefix(rest.find('\n') + 1);
  for (std::size_t group = 0; !rest.empty(); ++group) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(text.size() + 1);
    const Result<runtime::Value> line = apiserver::codec::ParseJson(text, arena_);
    REQUIRE(line.ok());
    if ((*line)["test"].is_string()) rows_.push_back(RowOfTest(*line, group));
    if ((*line)["row"].is_map()) upstream_.push_back((*line)["row"]);
    const std::string table = std::string((*line)["table"].AsString()) + "/" +
                              std::string((*line)["case"].AsString()) + ": ";
    for (const runtime::Value& row : (*line)["rows"].items()) {
      rows_.push_back({.name = table + std::string(row["expr"].AsString()),
                       .group = group,
                       .declared = (*line)["env"],
                       .inputs = (*line)["values"],
                       .question = row});
    }
  }
}

std::vector<Judged> Judge(const RowFile& file) {
  std::vector<Judged> judged;
  std::optional<Result<DeclaredEnvironment>> environment;
  std::size_t group = 0;
  for (const Row& row : file.rows()) {
    if (!environment.has_value() || row.group != group) {
      environment.emplace(DeclaredEnvironment::From(row.declared));
      group = row.group;
    }
    const Answer ours = AnswerOf(row, *environment);
    judged.push_back({&row, Differences(AnswerOf(row.question["go"]), ours)});
  }
  return judged;
}

}  // namespace cel_test
