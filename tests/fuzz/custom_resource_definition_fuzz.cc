#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiextensions/schema/json_schema.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "codec/json_schema_message.h"
#include "require.h"

// Bodies of a CustomResourceDefinition, or a schema alone, in JSON or protobuf: what is normal
// stays so, what is accepted may take the place of itself, and validation says the same of it
// again.
namespace {

namespace apiextensions = apiserver::apiextensions;
namespace codec = apiserver::codec;
namespace field = apiserver::field;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;

std::string SchemaText(const runtime::Value& value) {
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

void TryJsonSchema(const std::string& text) {
  runtime::Arena arena;
  const apiserver::Result<runtime::Value> parsed = codec::ParseJson(text, arena);
  if (!parsed.ok()) return;
  runtime::Value once = *parsed;
  std::vector<runtime::UnknownMember> unknown;
  runtime::FindUnknownInJsonSchema(once, "spec", unknown);
  Require(unknown.size() <= 100);
  if (!apiextensions::NormalizeJsonSchema(once, "spec", arena).ok()) return;
  runtime::Value twice = once;
  Require(apiextensions::NormalizeJsonSchema(twice, "spec", arena).ok());
  Require(SchemaText(once) == SchemaText(twice));
  unknown.clear();
  runtime::FindUnknownInJsonSchema(once, "spec", unknown);
  Require(unknown.empty());
}

// Returns what a schema's message becomes once it is read and written. Empty: it is refused.
std::string Rewritten(const std::string& message, bool refusable) {
  runtime::Arena arena;
  const auto read = codec::ReadJsonSchema(message, arena, codec::DecodedBytesMax(message.size()));
  if (!read.ok()) {
    Require(refusable && read.status().reason() == apiserver::Reason::kBadRequest);
    return "";
  }
  runtime::Value schema = *read;
  Require(apiextensions::NormalizeJsonSchema(schema, "spec", arena).ok());
  return codec::WriteJsonSchema(schema);
}

void TrySchemaMessage(const std::string& message) {
  const std::string once = Rewritten(message, /*refusable=*/true);
  if (!once.empty()) Require(Rewritten(once, /*refusable=*/false) == once);
}

void TryDefinition(std::shared_ptr<const std::string> body) {
  const auto type =
      body->starts_with("k8s") ? codec::MediaType::kProtobuf : codec::MediaType::kJson;
  const auto decoded = codec::DecodeObject(
      type, std::move(body), {.kind = apiextensions::DefinitionKind(), .version = "v1"});
  if (!decoded.ok()) return;
  const apiserver::Context ctx = apiserver::Context::Background();
  runtime::Object& definition = *decoded->object;
  const auto resource = apiextensions::DefinitionResource();
  const apiserver::rest::Strategy& strategy = *resource.strategy;
  strategy.PrepareForCreate(ctx, definition);
  const field::ErrorList errors = strategy.Validate(ctx, definition);
  Require(errors.Aggregate() == strategy.Validate(ctx, definition).Aggregate());
  Require(errors.size() <= field::kErrorsMax);
  strategy.WarningsOnCreate(ctx, definition);
  const auto next = definition.Clone();
  strategy.PrepareForUpdate(ctx, *next, definition);
  Require(next->generation() == definition.generation());
  next->Edit("metadata", "resourceVersion") = "1";
  // What is accepted may take the place of itself.
  const field::ErrorList update = strategy.ValidateUpdate(ctx, *next, definition);
  Require(!errors.empty() || update.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto body = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  TryJsonSchema(*body);
  TrySchemaMessage(*body);
  TryDefinition(body);
  return 0;
}
