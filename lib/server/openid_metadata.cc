#include <memory>
#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/server/service_accounts.h"
#include "base/status_macros.h"

// The handlers of k8s.io/kubernetes/pkg/routes/openidmetadata.go.
namespace apiserver::v0::server {

namespace {

// Other responses are not cached, but keys change rarely, and every party that trusts them asks.
constexpr const char* kMetadataCacheControl = "public, max-age=3600";

http::Handler NewMetadataHandler(std::string json, std::string media_type) {
  const auto body = std::make_shared<const std::string>(std::move(json));
  return [body, media_type = std::move(media_type)](http::Exchange& exchange) -> http::Step {
    if (exchange.request().method != "GET") {
      return meta::NewGenericServerResponse(405, "", {}, "");
    }
    exchange.writer().Send(
        {.code = 200,
         .headers = {{"Content-Type", media_type}, {"Cache-Control", kMetadataCacheControl}}},
        http::Bytes(body, *body));
    return http::Step::Done();
  };
}

}  // namespace

Status ServeOpenIDMetadata(GenericAPIServer& server, const authn::OpenIDMetadata& metadata) {
  RETURN_IF_ERROR(server.HandlePathWithoutBody(
      std::string(authn::kOpenIDConfigPath),
      NewMetadataHandler(metadata.config_json, "application/json"), true));
  return server.HandlePathWithoutBody(
      std::string(authn::kJWKSPath),
      NewMetadataHandler(metadata.keyset_json, "application/jwk-set+json"), true);
}

}  // namespace apiserver::v0::server
