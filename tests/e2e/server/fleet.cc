#include "fleet.h"

#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/base/status_macros.h"
#include "apiserver/codec/proto_schema.h"
#include "apiserver/registry/scale.h"
#include "apiserver/rest/status.h"
#include "apiserver/rest/strategy.h"
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

ErrorList ValidateFleet(const Object& fleet) {
  ErrorList errors;
  const std::int64_t replicas = fleet["spec"]["replicas"].AsInt();
  if (replicas < 0) {
    errors.InvalidPrinted(Path("spec.replicas"), std::to_string(replicas),
                          "must be greater than or equal to 0");
  }
  return errors;
}

class FleetStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }

  void PrepareForCreate(const Context&, Object& fleet) const override {
    fleet.Erase("status");
    fleet.Edit("metadata", "generation") = 1;
  }
  // The status is its subresource's; a wish that changes is a new generation.
  void PrepareForUpdate(const Context&, Object& fleet, const Object& old) const override {
    rest::KeepStatus(fleet, old);
    const std::int64_t changed = fleet["spec"] == old["spec"] ? 0 : 1;
    fleet.Edit("metadata", "generation") = old.generation() + changed;
  }
  rest::ResetFields GetResetFields() const override {
    return {{std::string(kGroup) + "/v1", {{"status"}}}};
  }
  ErrorList Validate(const Context&, const Object& fleet) const override {
    return ValidateFleet(fleet);
  }
};

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
            .columns = {
                {.name = "Desired", .type = "integer", .json_path = ".spec.replicas"},
                {.name = "Current", .type = "integer", .json_path = ".status.replicas"},
                {.name = "Age", .type = "date", .json_path = ".metadata.creationTimestamp"}}}}});
}

}  // namespace

Status Install(apiserver::server::GenericAPIServer& server, const registry::StorageConfig& config) {
  APISERVER_ASSIGN_OR_RETURN(const auto kind, NewFleetKind());
  APISERVER_RETURN_IF_ERROR(server.scheme().Add(kind));
  const auto strategy = std::make_shared<FleetStrategy>();
  APISERVER_ASSIGN_OR_RETURN(const auto fleets,
                             registry::NewStore(config, {.kind = kind, .strategy = strategy}));
  APISERVER_ASSIGN_OR_RETURN(
      const auto status, registry::NewStatusStore(fleets, rest::NewStatusStrategy(strategy, kind)));
  APISERVER_ASSIGN_OR_RETURN(
      const auto scale, registry::NewScaleStore(fleets, {.label_selector_path = ".spec.selector"}));
  return server.InstallAPIGroup(
      {kGroup, {{"v1", {{"fleets", fleets}, {"fleets/status", status}, {"fleets/scale", scale}}}}});
}

}  // namespace harbor
