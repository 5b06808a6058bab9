#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/auth/authorizer.h"

// Short ways to put a question, for the tests of authorizers.
namespace asking {

inline apiserver::auth::UserInfoPtr User(std::string name, std::vector<std::string> groups = {}) {
  return std::make_shared<const apiserver::auth::UserInfo>(
      apiserver::auth::UserInfo{.name = std::move(name), .groups = std::move(groups)});
}

// "allow", "deny", "no opinion", each with ": <reason>" if there is one; or "error: <message>".
inline std::string Answer(const apiserver::auth::Authorizer& authorizer,
                          const apiserver::auth::Attributes& asked) {
  using apiserver::auth::Decision;
  const auto verdict = authorizer.Authorize(apiserver::Context::Background(), asked);
  if (!verdict.ok()) return "error: " + std::string(verdict.status().message());
  std::string text = verdict->decision == Decision::kAllow  ? "allow"
                     : verdict->decision == Decision::kDeny ? "deny"
                                                            : "no opinion";
  if (!verdict->reason.empty()) text += ": " + verdict->reason;
  return text;
}

}  // namespace asking
