#pragma once

#include "apiserver/auth/user.h"
#include "apiserver/flowcontrol/config.h"
#include "apiserver/request/request_info.h"

namespace apiserver::inline v0::flowcontrol {

// True if a request matches a schema: k8s.io/apiserver/pkg/util/flowcontrol/rule.go.
bool Matches(const FlowSchema& schema, const request::RequestInfo& info,
             const auth::UserInfo& user);
bool Matches(const PolicyRulesWithSubjects& rule, const request::RequestInfo& info,
             const auth::UserInfo& user);

}  // namespace apiserver::inline v0::flowcontrol
