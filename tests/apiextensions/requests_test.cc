// Requests that a kube-apiserver 1.35.4 has answered: tests/testdata/apiextensions/README.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiextensions/documents/recorded.h"
#include "apiextensions/fixture.h"
#include "apiserver/codec/json.h"

namespace {

using namespace apiserver;  // NOLINT: a test.
using runtime::Value;
using testing::Answer;
using testing::CustomServer;

const std::string kFolder = "apiextensions/requests/";

// Takes a patched definition out of a message: in a kube-apiserver the status has an owner, too.
std::string WithoutDocument(std::string text) {
  const std::string begin = R"(Invalid value: \"{\\\"apiVersion\\\":\\\"apiextensions.k8s.io)";
  const std::string end = R"(}\": )";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at = text.find('{', at);
    const std::size_t last = text.find(end, at);
    if (last == std::string::npos) break;
    text.replace(at, last - at + 1, "OBJECT");
  }
  return text;
}

// Replaces what differs at each run, as record_requests.py does.
std::string SteadyText(std::string text) {
  text = WithoutDocument(std::move(text));
  static const std::pair<std::regex, const char*> kSteady[] = {
      {std::regex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UID"},
      {std::regex(R"(20\d\d-\d\d-\d\dT[\d:.]+Z)"), "TIME"},
      {std::regex(R"((\\*"resourceVersion\\*":\\*")\d+)"), "$1REVISION"},
      {std::regex("\"(\\d+[smhd])+\""), "\"AGE\""},
      {std::regex("(resourceVersion: \")\\d+"), "$1REVISION"}};
  for (const auto& [pattern, with] : kSteady) text = std::regex_replace(text, pattern, with);
  return text;
}

Value WithoutOwners(const Value& value, runtime::Arena& arena) {
  if (value.is_list()) {
    runtime::ListBuilder list(arena);
    for (const Value& item : value.items()) list.Add(WithoutOwners(item, arena));
    return list.Build();
  }
  if (!value.is_map()) return value;
  runtime::MapBuilder map(arena);
  for (const runtime::Member& member : value.members()) {
    if (member.key == "managedFields") continue;
    map.Add(member.key, WithoutOwners(member.value, arena));
  }
  return map.Build();
}

std::string JsonText(const Value& value) {
  std::string json;
  codec::AppendJson(value, json);
  return testing::Sorted(json);
}

// Brings the causes of a Status into one order. Several come in any order, and the message has them
// in that.
Value WithSortedCauses(const Value& status, runtime::Arena& arena) {
  const Value causes = status["details"]["causes"];
  if (causes.size() < 2) return status;
  std::vector<Value> sorted(causes.items().begin(), causes.items().end());
  const auto key = [](const Value& cause) {
    return std::pair(cause["field"].AsString(), cause["message"].AsString());
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const Value& a, const Value& b) { return key(a) < key(b); });
  runtime::ListBuilder list(arena);
  for (const Value& cause : sorted) list.Add(cause);
  const Value details = runtime::With(status["details"], "causes", list.Build(), arena);
  runtime::MapBuilder map(arena);
  for (const runtime::Member& member : status.members()) {
    if (member.key == "message") continue;
    map.Add(member.key, member.key == "details" ? details : member.value);
  }
  return map.Build();
}

// Returns UTF-8 with a character for each byte.
std::string CharactersOf(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) {
      text += byte;
    } else {
      text += static_cast<char>(0xC0 | (code >> 6));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return text;
}

// The parts of an answer that are compared, a line for each.
std::string PartsOf(const Answer& answer) {
  std::string parts = std::to_string(answer.code);
  parts.append(" ").append(answer.headers.Get("Content-Type"));
  for (const std::string_view warning : answer.headers.GetAll("Warning")) {
    parts.append("\n").append(warning);
  }
  runtime::Arena arena;
  const std::string text = SteadyText(CharactersOf(answer.body));
  const auto parsed = codec::ParseJson(arena.Copy(text), arena);
  if (!parsed.ok() || !parsed->is_map()) return parts + "\n" + text;
  Value value = WithoutOwners(*parsed, arena);
  if (value["kind"].AsString() == "Status") value = WithSortedCauses(value, arena);
  if (value["kind"].AsString() == "CustomResourceDefinition") value = value["spec"];
  return parts + "\n" + JsonText(value);
}

// Returns the same of a recorded answer.
std::string PartsOf(const Value& row) {
  std::string parts = std::to_string(row["code"].AsInt());
  parts.append(" ").append(row["answers"].AsString());
  for (const Value& warning : row["warnings"].items()) {
    parts.append("\n").append(warning.AsString());
  }
  const Value object = row["object"];
  return parts + "\n" + (object.is_null() ? std::string(row["text"].AsString()) : JsonText(object));
}

std::string BodyOf(const CustomServer& server, const Value& row) {
  std::string body(row["body"].AsString());
  const std::size_t at = body.find("$REVISION");
  if (at == std::string::npos) return body;
  std::string item(row["path"].AsString());
  item.erase(std::min(item.find('?'), item.size()));
  for (const std::string_view below : {"/status", "/scale"}) {
    if (item.ends_with(below)) item.erase(item.size() - below.size());
  }
  const Answer present = server.Get(item);
  return body.replace(at, 9, present["metadata"]["resourceVersion"].AsString());
}

Answer Ask(const CustomServer& server, const Value& row) {
  http::Headers headers = {{"User-Agent", "Python-urllib/3.11"}};
  if (row["type"].is_string()) {
    // A space is none: it stands for the header without a value, which urllib cannot send.
    const std::string_view type = row["type"].AsString();
    headers.Add("Content-Type", std::string(type == " " ? "" : type));
  }
  if (row["accept"].is_string()) headers.Add("Accept", std::string(row["accept"].AsString()));
  return server.Call(std::string(row["method"].AsString()), std::string(row["path"].AsString()),
                     BodyOf(server, row), std::move(headers));
}

// Returns the names of rows that are answered otherwise, with the reasons in the README.
std::set<std::string> OthersOf(const std::string& part) {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/" + kFolder + "excused.txt");
  REQUIRE(file.good());
  std::set<std::string> names;
  const std::string prefix = part + "\t";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(prefix)) names.insert(line.substr(prefix.size()));
  }
  return names;
}

// Sends the requests of a file, behind those that set the server up.
void Replay(const std::string& part) {
  // Unknown paths are answered as a kube-apiserver does.
  const CustomServer server(
      {.configure = [](server::Config& config) { config.index_of_unknown_paths = false; }});
  const auto before = testing::Recorded::Lines(kFolder + "set_up.jsonl");
  for (const Value& row : before.values()) {
    const Answer answer = Ask(server, row);
    INFO(answer.body);
    REQUIRE(answer.code == 201);
    const std::string name(answer["metadata"]["name"].AsString());
    if (name == "one") continue;
    REQUIRE(testing::Eventually([&] { return server.IsEstablished(name); }));
  }
  const std::set<std::string> excused = OthersOf(part);
  const auto rows = testing::Recorded::Lines(kFolder + part + ".jsonl");
  for (const Value& row : rows.values()) {
    const std::string name(row["name"].AsString());
    const std::string found = PartsOf(Ask(server, row));
    const std::string expected = PartsOf(row);
    INFO(name << "\nexpected: " << expected << "\nfound:    " << found);
    // A row that has become the same is no longer excused.
    CHECK((found == expected) != excused.contains(name));
  }
}

TEST_CASE("apiextensions: odd definitions are answered as a kube-apiserver does") {
  Replay("definitions");
}
TEST_CASE("apiextensions: odd changes of definitions are answered as a kube-apiserver does") {
  Replay("changes");
}
TEST_CASE("apiextensions: bodies without type are answered as a kube-apiserver does") {
  Replay("bodies");
}
TEST_CASE("apiextensions: odd objects are answered as a kube-apiserver does") { Replay("objects"); }
TEST_CASE("apiextensions: methods and media types are answered as a kube-apiserver does") {
  Replay("verbs");
}
TEST_CASE("apiextensions: other versions and paths are answered as a kube-apiserver does") {
  Replay("versions");
}
TEST_CASE("apiextensions: nulls that are applied are answered as a kube-apiserver does") {
  Replay("nulls");
}
TEST_CASE("apiextensions: odd scales are answered as a kube-apiserver does") { Replay("scale"); }

}  // namespace
