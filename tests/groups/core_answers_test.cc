// Pods, nodes and their like, asked what a kube-apiserver was asked: tests/testdata/core/README.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/testing/server/test_server.h"
#include "json_lines.h"

namespace {

using apiserver::runtime::Arena;
using apiserver::runtime::ListBuilder;
using apiserver::runtime::Value;
using apiserver::testing::JsonLines;
using apiserver::testing::TestServer;

const std::string kFolder = std::string(APISERVER_TESTDATA) + "/core/";
const std::string kDryRun = "?dryRun=All";

std::unique_ptr<TestServer> StartCore() {
  apiserver::testing::TestServerOptions options;
  for (auto resources : {apiserver::groups::core::ClusterResources(apiserver::RealClock()),
                         apiserver::groups::coordination::Resources(apiserver::RealClock()),
                         apiserver::groups::discovery::Resources(apiserver::RealClock())}) {
    REQUIRE(resources.ok());
    for (auto& resource : *resources) options.kinds.push_back(std::move(resource));
  }
  auto server = apiserver::testing::StartTestServer(std::move(options));
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  return std::move(server).value();
}

std::string Text(Value value) {
  std::string text;
  apiserver::codec::AppendJson(value, text);
  return text;
}

// Returns the new value of a member; null: it is removed.
Value Mutated(Value value, std::string_view mutation, Arena& arena) {
  if (mutation == "remove") return {};
  if (mutation == "flip") return Value::Bool(!value.AsBool());
  if (mutation == "bad") return Value::String("Bad_Value!");
  if (mutation == "long") return Value::String(arena.Copy(std::string(300, 'a')));
  if (mutation == "number") return Value::Int(5);
  if (mutation == "wrong type") {
    return Value::String(value.type() == Value::Type::kBool ? "yes" : "abc");
  }
  if (mutation == "twice") {
    ListBuilder list(arena);
    for (const Value& item : value.items()) list.Add(item);
    list.Add(value.at(0));
    return list.Build();
  }
  if (mutation == "empty") {
    return value.is_map() ? Value::Map({}) : value.is_list() ? Value::List({}) : Value::String("");
  }
  if (mutation.starts_with('=')) {
    const auto given = apiserver::codec::ParseJson(mutation.substr(1), arena);
    REQUIRE(given.ok());
    return *given;
  }
  std::int64_t number = 0;
  std::from_chars(mutation.data(), mutation.data() + mutation.size(), number);
  return Value::Int(number);
}

// Changes the member at a path of names and indexes with dots between. A name may have dots, too.
Value Changed(Value value, std::string_view at, std::string_view mutation, Arena& arena) {
  if (value.is_list()) {
    const std::size_t dot = at.find('.');
    std::size_t index = 0;
    std::from_chars(at.data(), at.data() + at.size(), index);
    ListBuilder list(arena);
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      const Value item = value.at(i);
      if (i != index) {
        list.Add(item);
        continue;
      }
      const bool last = dot == std::string_view::npos;
      const Value changed = last ? Mutated(item, mutation, arena)
                                 : Changed(item, at.substr(dot + 1), mutation, arena);
      if (!changed.is_null()) list.Add(changed);
    }
    return list.Build();
  }
  for (const apiserver::runtime::Member& member : value.members()) {
    const bool whole = at == member.key;
    const bool above =
        at.starts_with(member.key) && at.size() > member.key.size() && at[member.key.size()] == '.';
    if (!whole && !above) continue;
    const Value changed =
        whole ? Mutated(member.value, mutation, arena)
              : Changed(member.value, at.substr(member.key.size() + 1), mutation, arena);
    if (changed.is_null()) return apiserver::runtime::Without(value, member.key, arena);
    return apiserver::runtime::With(value, member.key, changed, arena);
  }
  FAIL("no member " << at << " in " << Text(value));
  return {};
}

// Code and findings in one text. Maps have no order in Go, so neither have findings about them.
std::string Answer(std::int64_t code, std::vector<std::string> causes, std::string_view message) {
  std::ranges::sort(causes);
  std::string text = std::to_string(code);
  for (const std::string& cause : causes) text.append("\n").append(cause);
  if (causes.empty() && code >= 400) text.append("\n").append(message);
  return text;
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string Expected(Value row) {
  std::vector<std::string> causes;
  for (const Value& cause : row["causes"].items()) {
    causes.push_back(std::string(cause.at(0).AsString()) + ": " +
                     std::string(cause.at(1).AsString()) + ": " +
                     std::string(cause.at(2).AsString()));
  }
  return Answer(row["code"].AsInt(), std::move(causes), row["message"].AsString());
}

std::string Ours(const apiserver::http::ClientResponse& response) {
  Arena arena;
  const auto body = apiserver::codec::ParseJson(response.body, arena);
  REQUIRE(body.ok());
  std::vector<std::string> causes;
  for (const Value& cause : (*body)["details"]["causes"].items()) {
    causes.push_back(std::string(cause["field"].AsString()) + ": " +
                     std::string(cause["reason"].AsString()) + ": " +
                     FirstLine(cause["message"].AsString()));
  }
  return Answer(response.code, std::move(causes), FirstLine((*body)["message"].AsString()));
}

// The texts of the Warning headers, which are `299 - "text"`.
std::vector<std::string> Warnings(const apiserver::http::ClientResponse& response) {
  constexpr std::string_view kFront = "299 - \"";
  std::vector<std::string> warnings;
  for (const std::string_view header : response.headers.GetAll("Warning")) {
    REQUIRE(header.starts_with(kFront));
    warnings.emplace_back(header.substr(kFront.size(), header.size() - kFront.size() - 1));
  }
  return warnings;
}

std::vector<std::string> Texts(Value list) {
  std::vector<std::string> texts;
  for (const Value& text : list.items()) texts.emplace_back(text.AsString());
  return texts;
}

// The objects of creates.jsonl by path and name.
std::map<std::string, Value> Seeds(const JsonLines& creates) {
  std::map<std::string, Value> seeds;
  for (const Value& row : creates.rows()) {
    seeds[JsonLines::Text(row, "path") + "/" +
          JsonLines::Text(row["request"]["metadata"], "name")] = row["request"];
  }
  return seeds;
}

// An object without what every server makes up.
std::string Settled(Value object, Arena& arena) {
  Value metadata = object["metadata"];
  for (const char* const key : {"uid", "creationTimestamp", "resourceVersion", "managedFields"}) {
    metadata = apiserver::runtime::Without(metadata, key, arena);
  }
  return Text(apiserver::runtime::With(object, "metadata", metadata, arena));
}

// Members sorted by their names, at every depth, as the recorded ones are.
Value Sorted(Value value, Arena& arena) {
  if (value.is_list()) {
    ListBuilder list(arena);
    for (const Value& item : value.items()) list.Add(Sorted(item, arena));
    return list.Build();
  }
  if (!value.is_map()) return value;
  std::map<std::string_view, Value> members;
  for (const auto& member : value.members()) members[member.key] = Sorted(member.value, arena);
  apiserver::runtime::MapBuilder map(arena);
  for (const auto& [key, member] : members) map.Add(key, member);
  return map.Build();
}

// Creates the objects of updates.jsonl, and returns them as a GET answers them, by their paths.
std::map<std::string, Value> Store(TestServer& server, const JsonLines& creates, Arena& kept) {
  std::map<std::string, Value> stored;
  for (const auto& [path, seed] : Seeds(creates)) {
    const std::string name = "u" + JsonLines::Text(seed["metadata"], "name");
    const Value metadata =
        apiserver::runtime::With(seed["metadata"], "name", Value::String(kept.Copy(name)), kept);
    const Value object = apiserver::runtime::With(seed, "metadata", metadata, kept);
    const std::string collection = path.substr(0, path.rfind('/'));
    const auto created = server.Call("POST", collection, Text(object));
    INFO(created.body);
    REQUIRE(created.code == 201);
    const auto got = server.Call("GET", collection + "/" + name);
    const auto value = apiserver::codec::ParseJson(got.body, kept);
    REQUIRE(value.ok());
    stored[collection + "/" + name] = apiserver::runtime::Copy(*value, kept);
  }
  return stored;
}

// The columns of a table as tables.jsonl has them: without descriptions, which are ours.
std::string Columns(Value table) {
  std::string text;
  for (const Value& column : table["columnDefinitions"].items()) {
    for (const char* const key : {"name", "type", "format"}) {
      text.append(column[key].AsString()).append("|");
    }
    text.append(std::to_string(column["priority"].AsInt())).append("\n");
  }
  return text;
}

std::string RecordedColumns(Value columns) {
  std::string text;
  for (const Value& column : columns.items()) {
    for (std::size_t i = 0; i < 3; ++i) text.append(column.at(i).AsString()).append("|");
    text.append(std::to_string(column.at(3).AsInt())).append("\n");
  }
  return text;
}

// The cells of a row but those that tell how long ago something was.
std::string LastingCells(Value cells, Value columns) {
  std::string text;
  for (std::size_t i = 0; i < cells.items().size(); ++i) {
    const std::string_view column = columns.at(i).at(0).AsString();
    const bool time = column == "Age" || column.ends_with(" Seen");
    text += (time ? "-" : Text(cells.at(i))) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("groups: objects of core get what a kube-apiserver gives them", "[groups]") {
  const auto server = StartCore();
  const JsonLines creates(kFolder + "creates.jsonl");
  for (const Value& row : creates.rows()) {
    const std::string path = JsonLines::Text(row, "path");
    const auto answer = server->Call("POST", path + kDryRun, Text(row["request"]));
    INFO(path << " " << Text(row["request"]));
    INFO(answer.body);
    REQUIRE(answer.code == 201);
    Arena arena;
    const auto body = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(body.ok());
    CHECK(Settled(Sorted(*body, arena), arena) == Settled(Sorted(row["object"], arena), arena));
    CHECK(Warnings(answer) == Texts(row["warnings"]));
  }
}

TEST_CASE("groups: objects of core are refused in a kube-apiserver's words", "[groups]") {
  const auto server = StartCore();
  const JsonLines creates(kFolder + "creates.jsonl");
  const JsonLines mutations(kFolder + "mutations.jsonl");
  const std::map<std::string, Value> seeds = Seeds(creates);
  for (const Value& row : mutations.rows()) {
    const std::string path = JsonLines::Text(row, "path");
    const Value seed = seeds.at(path + "/" + JsonLines::Text(row, "seed"));
    Arena arena;
    const Value object = Changed(seed, row["at"].AsString(), row["mutation"].AsString(), arena);
    INFO(path << " " << JsonLines::Text(row, "at") << " " << JsonLines::Text(row, "mutation"));
    CHECK(Ours(server->Call("POST", path + kDryRun, Text(object))) == Expected(row));
  }
}

TEST_CASE("groups: updates of core are refused in a kube-apiserver's words", "[groups]") {
  const auto server = StartCore();
  const JsonLines creates(kFolder + "creates.jsonl");
  const JsonLines updates(kFolder + "updates.jsonl");
  Arena kept;
  const std::map<std::string, Value> stored = Store(*server, creates, kept);
  for (const Value& row : updates.rows()) {
    const std::string path = JsonLines::Text(row, "path") + "/" + JsonLines::Text(row, "seed");
    Arena arena;
    const Value object =
        Changed(stored.at(path), row["at"].AsString(), row["mutation"].AsString(), arena);
    INFO(path << " " << JsonLines::Text(row, "at") << " " << JsonLines::Text(row, "mutation"));
    const auto answer = server->Call("PUT", path + kDryRun, Text(object));
    CHECK(Ours(answer) == Expected(row));
    if (answer.code != 200) continue;
    const auto body = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(body.ok());
    CHECK((*body)["metadata"]["generation"].AsInt() == row["generation"].AsInt());
  }
}

TEST_CASE("groups: objects of core are printed as a kube-apiserver prints them", "[groups]") {
  const auto server = StartCore();
  const JsonLines creates(kFolder + "creates.jsonl");
  const JsonLines tables(kFolder + "tables.jsonl");
  Arena kept;
  Store(*server, creates, kept);
  for (const Value& recorded : tables.rows()) {
    const std::string path = JsonLines::Text(recorded, "path");
    INFO(path);
    const auto answer =
        server->Call("GET", path, "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
    const auto table = apiserver::codec::ParseJson(answer.body, kept);
    REQUIRE(table.ok());
    CHECK(Columns(*table) == RecordedColumns(recorded["columns"]));
    const Value rows = (*table)["rows"];
    REQUIRE(rows.size() == recorded["rows"].size());
    for (std::size_t i = 0; i < rows.items().size(); ++i) {
      CHECK(LastingCells(rows.at(i)["cells"], recorded["columns"]) ==
            LastingCells(recorded["rows"].at(i), recorded["columns"]));
    }
  }
}
