#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/cbor.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/meta/errors.h"
#include "apiserver/rest/warnings.h"
#include "base/status_macros.h"
#include "endpoints/handlers/patched_object.h"

namespace apiserver::v0::endpoints {

namespace {

using patch::apply::AppliedConfiguration;

constexpr std::string_view kDecodingError = "error decoding YAML: ";
constexpr std::string_view kStrictError =
    "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:";

// Parses JSON, which nearly all clients send and which needs no YAML parser. A body with duplicate
// fields is left to that.
bool ParseAsJson(std::string_view text, AppliedConfiguration& configuration) {
  if (!text.starts_with('{')) return false;
  std::vector<std::string> duplicates;
  const auto parsed = codec::ParseJson(text, configuration.arena, &duplicates);
  if (!parsed.ok() || !duplicates.empty()) return false;
  configuration.root = *parsed;
  return true;
}

// YAML is a superset of JSON; the fast path for JSON changes no result.
Status ParseAsYaml(std::string_view text, AppliedConfiguration& configuration,
                   std::string& strict_error) {
  if (ParseAsJson(text, configuration)) return {};
  std::vector<std::string> duplicates;
  const auto parsed = codec::ParseYaml(text, configuration.arena, &duplicates);
  if (!parsed.ok()) {
    return meta::NewBadRequest(std::string(kDecodingError) + "error converting YAML to JSON: " +
                               std::string(parsed.status().message()));
  }
  for (const std::string& duplicate : duplicates) strict_error += "\n  " + duplicate;
  configuration.root = *parsed;
  return {};
}

Status ParseAsCbor(std::string_view bytes, AppliedConfiguration& configuration) {
  const auto parsed = codec::ParseCbor(bytes, configuration.arena);
  if (!parsed.ok()) {
    return meta::NewBadRequest("error decoding patch: " + std::string(parsed.status().message()));
  }
  configuration.root = *parsed;
  return {};
}

}  // namespace

Result<ApplyBody> ParseApplyBody(http::Exchange& exchange, bool cbor) {
  const std::shared_ptr<const std::string> body = exchange.body();
  const std::string_view text = body ? std::string_view(*body) : "";
  auto configuration = std::make_shared<AppliedConfiguration>();
  // The configuration's texts point into the body.
  configuration->arena.Pin(body);
  ApplyBody apply;
  RETURN_IF_ERROR(cbor ? ParseAsCbor(text, *configuration)
                       : ParseAsYaml(text, *configuration, apply.strict_error));
  const runtime::Value root = configuration->root;
  // null is an empty configuration to Go's decoder.
  if (!root.is_map() && !root.is_null()) {
    return meta::NewBadRequest(
        cbor ? "error decoding patch: " + NoObjectError(root)
             : std::string(kDecodingError) +
                   "error unmarshaling JSON: while decoding JSON: " + NoObjectError(root));
  }
  apply.configuration = std::move(configuration);
  return apply;
}

// Called for each attempt; the parsed configuration is shared by all of them.
Result<std::unique_ptr<runtime::Object>> ApplyConfiguration(const PatchRequest& request,
                                                            const Context& ctx,
                                                            const runtime::ObjectPtr& old) {
  ASSIGN_OR_RETURN(std::unique_ptr<runtime::Object> object,
                   request.scope.field_manager->Apply(ctx, old, request.apply->configuration,
                                                      request.options.field_manager,
                                                      request.options.force.value_or(false)));
  // As in Go, the errors of strict decoding matter only if the configuration could be applied.
  std::string_view errors = request.apply->strict_error;
  if (errors.empty() || request.options.field_validation == meta::FieldValidation::kIgnore) {
    return object;
  }
  if (request.options.field_validation == meta::FieldValidation::kStrict) {
    return meta::NewBadRequest(std::string(kStrictError) + std::string(errors));
  }
  while (!errors.empty()) {
    errors.remove_prefix(3);  // The newline and the indentation before each.
    const std::size_t end = errors.find('\n');
    rest::AddWarning(ctx, std::string(errors.substr(0, end)));
    errors.remove_prefix(end == std::string_view::npos ? errors.size() : end);
  }
  return object;
}

}  // namespace apiserver::v0::endpoints
