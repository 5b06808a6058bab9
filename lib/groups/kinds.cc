#include "groups/kinds.h"

#include <utility>

#include "apiserver/codec/proto_schema.h"
#include "base/status_macros.h"

namespace apiserver::v0::groups {

// `descriptors` is a FileDescriptorSet of the API's .proto files; schemas are made from it.
Result<std::vector<runtime::KindPtr>> KindsOfV1(std::string_view descriptors,
                                                std::string_view package,
                                                std::vector<runtime::KindOptions> kinds) {
  ASSIGN_OR_RETURN(const codec::ProtoSchemas schemas, codec::ProtoSchemas::Load(descriptors));
  std::vector<runtime::KindPtr> result;
  for (runtime::KindOptions& options : kinds) {
    // Keeps the defaults that a caller may have set for the only version.
    options.versions.resize(1);
    runtime::KindVersion& version = options.versions.front();
    version.version = "v1";
    ASSIGN_OR_RETURN(version.schema, schemas.Find(std::string(package) + "." + options.kind));
    ASSIGN_OR_RETURN(runtime::KindPtr kind, runtime::Kind::New(std::move(options)));
    result.push_back(std::move(kind));
  }
  return result;
}

}  // namespace apiserver::v0::groups
