#include "endpoints/handlers/audit.h"

#include <string>

#include "apiserver/audit/request.h"
#include "apiserver/codec/cbor.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"

namespace apiserver::v0::endpoints {

namespace {

// Returns `content` as JSON with its kind and apiVersion in front.
std::string JsonOf(std::string_view kind, std::string_view api_version, runtime::Value content) {
  std::string json = "{\"kind\":";
  codec::AppendJsonString(kind, json);
  json += ",\"apiVersion\":";
  codec::AppendJsonString(api_version, json);
  std::string rest;
  codec::AppendJson(content, rest);
  // Without its braces; an empty map has nothing else.
  if (rest.size() > 2) json.append(",").append(rest, 1, rest.size() - 2);
  return json + "}";
}

}  // namespace

// The URL's values win; see audit::LogRequestObject.
void LogRequestObject(const http::Exchange& exchange, const RequestScope& scope,
                      const runtime::Object& object) {
  const Context& ctx = exchange.ctx();
  if (audit::LevelOf(ctx) == audit::Level::kNone) return;
  const audit::ObjectReference about{.resource = scope.resource.resource,
                                     .namespace_ = std::string(object.namespace_()),
                                     .name = std::string(object.name()),
                                     .uid = std::string(object.uid()),
                                     .api_group = scope.resource.group,
                                     .api_version = scope.resource.version,
                                     .resource_version = std::string(object.resource_version()),
                                     .subresource = scope.subresource};
  audit::LogRequestObject(ctx, about, [&object] {
    return JsonOf(object.kind().kind(), object.gvk().group_version().ToString(), object.root());
  });
}

void LogDeleteOptions(const http::Exchange& exchange, const codec::DecodedBody& options) {
  if (!audit::WantsRequestObject(exchange.ctx())) return;
  audit::LogRequestObject(exchange.ctx(), {.resource = ""}, [&options] {
    const std::string_view version =
        options.api_version.empty() ? "meta.k8s.io/v1" : std::string_view(options.api_version);
    return JsonOf("DeleteOptions", version, options.root);
  });
}

// Patches are recorded as JSON, in the form of the client and not of the object.
void LogRequestPatch(const http::Exchange& exchange, PatchType type, bool cbor) {
  if (!audit::WantsRequestObject(exchange.ctx())) return;
  runtime::Arena arena;
  const std::string& body = *exchange.body();
  const auto parse = [&]() -> Result<runtime::Value> {
    if (cbor) return codec::ParseCbor(body, arena);
    if (type == PatchType::kApply) return codec::ParseYaml(body, arena);
    return codec::ParseJson(body, arena);
  };
  // An unreadable patch is refused soon, and the answer has the reason.
  const Result<runtime::Value> patch = parse();
  if (!patch.ok()) return;
  std::string json;
  codec::AppendJson(*patch, json);
  audit::LogRequestPatch(exchange.ctx(), std::move(json));
}

}  // namespace apiserver::v0::endpoints
