#include "groups/admissionregistration/policy_kinds.h"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/proto_schema.h"
#include "apiserver/groups/admissionregistration.h"
#include "base/status_macros.h"
#include "groups/admissionregistration_api.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

struct Row {
  const char* kind;
  const char* plural;
};
constexpr Row kRows[] = {{"MutatingAdmissionPolicy", "mutatingadmissionpolicies"},
                         {"MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"},
                         {"ValidatingAdmissionPolicy", "validatingadmissionpolicies"},
                         {"ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"}};

Result<runtime::KindVersion> VersionOf(const codec::ProtoSchemas& schemas, const char* version,
                                       const char* kind) {
  runtime::KindVersion made{.version = version, .schema = nullptr};
  ASSIGN_OR_RETURN(made.schema, schemas.Find(std::string("k8s.io.api.admissionregistration.") +
                                             version + "." + kind));
  return made;
}

}  // namespace

bool IsBinding(const runtime::Kind& kind) { return kind.kind().ends_with("Binding"); }
bool HasStatus(const runtime::Kind& kind) { return kind.kind() == "ValidatingAdmissionPolicy"; }
bool IsMutating(const runtime::Kind& kind) { return kind.kind().starts_with("Mutating"); }

Result<std::vector<runtime::KindPtr>> PolicyKinds() { return PolicyKindsWith(/*v1beta1=*/true); }

Result<std::vector<runtime::KindPtr>> PolicyKindsWith(bool v1beta1) {
  ASSIGN_OR_RETURN(const codec::ProtoSchemas schemas,
                   codec::ProtoSchemas::Load(admissionregistration_api::Descriptors()));
  std::vector<runtime::KindPtr> kinds;
  for (const Row& row : kRows) {
    runtime::KindOptions options{.group = "admissionregistration.k8s.io",
                                 .kind = row.kind,
                                 .plural = row.plural,
                                 .categories = {"api-extensions"},
                                 .namespaced = false};
    ASSIGN_OR_RETURN(runtime::KindVersion v1, VersionOf(schemas, "v1", row.kind));
    options.versions.push_back(std::move(v1));
    if (std::string_view(row.kind).starts_with("Mutating")) {
      ASSIGN_OR_RETURN(runtime::KindVersion beta, VersionOf(schemas, "v1beta1", row.kind));
      beta.served = v1beta1;
      options.versions.push_back(std::move(beta));
      // As Kubernetes 1.36, so that 1.35 can still read the data after a downgrade.
      options.storage_version = "v1beta1";
    }
    ASSIGN_OR_RETURN(runtime::KindPtr kind, runtime::Kind::New(std::move(options)));
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

}  // namespace apiserver::v0::groups::admissionregistration
