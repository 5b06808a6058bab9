#include "fleet.h"

#include <cstdint>
#include <string>

#include "apiserver/base/status_macros.h"
#include "apiserver/codec/proto_schema.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/server/install.h"
#include "harbor_api.h"

namespace harbor {

namespace {

using apiserver::Context;
using apiserver::Result;
using apiserver::Status;
using apiserver::field::ErrorList;
using apiserver::field::Path;
using apiserver::runtime::Object;
namespace codec = apiserver::codec;
namespace registry = apiserver::registry;
namespace rest = apiserver::rest;
namespace runtime = apiserver::runtime;

ErrorList ValidateFleet(const Context& /*ctx*/, const Object& fleet) {
  ErrorList errors;
  const std::int64_t replicas = fleet["spec"]["replicas"].AsInt();
  if (replicas < 0) {
    errors.InvalidPrinted(Path("spec.replicas"), std::to_string(replicas),
                          "must be greater than or equal to 0");
  }
  return errors;
}

Result<runtime::KindPtr> NewFleetKind() {
  APISERVER_ASSIGN_OR_RETURN(const auto schemas,
                             codec::ProtoSchemas::Load(harbor_api::Descriptors()));
  APISERVER_ASSIGN_OR_RETURN(const auto schema, schemas.Find("example.harbor.v1.Fleet"));
  return runtime::Kind::New(
      {.group = kGroup,
       .kind = "Fleet",
       .plural = "fleets",
       .short_names = {"fl"},
       .categories = {"all"},
       .versions = {
           {.version = "v1",
            .schema = schema,
            .columns =
                {{.name = "Desired", .type = "integer", .json_path = ".spec.replicas"},
                 {.name = "Current", .type = "integer", .json_path = ".status.replicas"},
                 {.name = "Age", .type = "date", .json_path = ".metadata.creationTimestamp"}},
            .scale = runtime::ScalePaths{.label_selector = ".spec.selector"}}}});
}

}  // namespace

Status Install(apiserver::server::GenericAPIServer& server, const registry::StorageConfig& config) {
  APISERVER_ASSIGN_OR_RETURN(const auto kind, NewFleetKind());
  const auto strategy =
      rest::NewKindStrategy(kind, {.validate = ValidateFleet, .allow_unconditional_update = true});
  return InstallKinds(server, config, {{.kind = kind, .strategy = strategy}}).status();
}

}  // namespace harbor
