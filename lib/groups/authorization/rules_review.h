#pragma once

#include <memory>

#include "apiserver/auth/rules.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups::authorization {

// Answers a SelfSubjectRulesReview and stores nothing:
// k8s.io/kubernetes/pkg/registry/authorization/selfsubjectrulesreview.
std::shared_ptr<rest::Storage> NewRulesReview(runtime::KindPtr kind,
                                              std::shared_ptr<const auth::RuleResolver> rules);

}  // namespace apiserver::inline v0::groups::authorization
