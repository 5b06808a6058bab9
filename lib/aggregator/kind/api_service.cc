#include "apiserver/aggregator/api_service.h"

#include <utility>

#include "aggregator/kind/aggregator_api.h"
#include "aggregator/kind/facts.h"
#include "aggregator/kind/strategy.h"
#include "apiserver/codec/proto_schema.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

void SetDefaults(runtime::Object& api_service) {
  const runtime::Value service = api_service["spec"]["service"];
  if (service.is_null() || !service["port"].is_null()) return;
  api_service.Edit("spec", "service", "port") = kHttpsPort;
}

Result<runtime::KindPtr> MakeKind() {
  ASSIGN_OR_RETURN(const codec::ProtoSchemas schemas,
                   codec::ProtoSchemas::Load(aggregator_api::Descriptors()));
  runtime::KindVersion v1{.version = "v1", .schema = nullptr};
  ASSIGN_OR_RETURN(v1.schema,
                   schemas.Find("k8s.io.kube_aggregator.pkg.apis.apiregistration.v1.APIService"));
  v1.set_defaults = &SetDefaults;
  return runtime::Kind::New({.group = "apiregistration.k8s.io",
                             .kind = "APIService",
                             .plural = "apiservices",
                             .categories = {"api-extensions"},
                             .namespaced = false,
                             .versions = {std::move(v1)}});
}

}  // namespace

runtime::KindPtr APIServiceKind() {
  // The descriptors are part of the program, so making the kind does not fail.
  static const runtime::KindPtr kind = MakeKind().value();
  return kind;
}

server::Resource APIServiceResource(const Clock& clock) {
  server::Resource resource{.kind = APIServiceKind()};
  resource.strategy = NewAPIServiceStrategy(clock);
  resource.status_strategy = NewAPIServiceStatusStrategy();
  resource.configure = [&clock](registry::StoreOptions& options) {
    options.table_convertor = NewAPIServiceColumns(clock);
    options.functions_inline = true;
    options.validate_schema = false;
  };
  return resource;
}

}  // namespace apiserver::v0::aggregator
