#include "apiextensions/definitions.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "apiextensions/validation/validation.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/settle.h"

namespace apiextensions_test {

using namespace apiserver;
using runtime::Object;

std::unique_ptr<Object> DefinitionOf(const std::string& json) {
  runtime::Arena arena;
  auto text = std::make_shared<const std::string>(json);
  arena.Pin(text);
  const Result<runtime::Value> root = codec::ParseJson(*text, arena);
  INFO(json.substr(0, 2000));
  REQUIRE(root.ok());
  auto object =
      std::make_unique<Object>(apiextensions::DefinitionKind(), "v1", std::move(arena), *root);
  const Status settled = runtime::Settle(*object);
  INFO(settled.ToString());
  REQUIRE(settled.ok());
  return object;
}

std::string JsonOf(const runtime::Value& value) {
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

std::vector<std::string> MessagesOf(const field::ErrorList& errors) {
  std::vector<std::string> messages;
  for (const field::Error& error : errors) messages.push_back(error.Message());
  std::sort(messages.begin(), messages.end());
  return messages;
}

std::vector<std::string> ErrorsOf(const std::string& json) {
  return MessagesOf(apiextensions::ValidateDefinition(Context::Background(), *DefinitionOf(json)));
}

std::vector<std::string> ErrorsOf(const std::string& json, const std::string& old) {
  return MessagesOf(apiextensions::ValidateDefinitionUpdate(
      Context::Background(), *DefinitionOf(json), *DefinitionOf(old)));
}

std::vector<std::string> UpdateErrorsOf(const std::string& json, const std::string& old) {
  const auto next = DefinitionOf(json);
  next->Edit("metadata", "resourceVersion") = "1";
  return MessagesOf(
      apiextensions::ValidateDefinitionUpdate(Context::Background(), *next, *DefinitionOf(old)));
}

std::string WithSchema(const std::string& schema) {
  return R"({"metadata":{"name":"plural.group.com"},"spec":{"group":"group.com","names":
      {"plural":"plural","kind":"Plural"},"scope":"Cluster","versions":[{"name":"v1","served":true,
      "storage":true,"schema":{"openAPIV3Schema":)" +
         schema + "}}]}}";
}

}  // namespace apiextensions_test
