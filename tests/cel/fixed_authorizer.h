#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/cel/authorizer.h"
#include "apiserver/runtime/value.h"

namespace cel_test {

// Answers every question alike, and remembers the questions.
class FixedAuthorizer final : public apiserver::auth::Authorizer {
 public:
  explicit FixedAuthorizer(apiserver::Result<apiserver::auth::Verdict> answer)
      : answer_(std::move(answer)) {
    user_.authorizer = this;
    user_.user = std::make_shared<const apiserver::auth::UserInfo>(
        apiserver::auth::UserInfo{.name = "alice", .groups = {"system:authenticated"}});
  }
  FixedAuthorizer(const FixedAuthorizer&) = delete;
  FixedAuthorizer& operator=(const FixedAuthorizer&) = delete;

  apiserver::Result<apiserver::auth::Verdict> Authorize(
      const apiserver::Context&, const apiserver::auth::Attributes& asked) const override {
    std::string text = asked.user->name;
    for (const std::string& group : asked.user->groups) text.append(" +").append(group);
    text.append(asked.resource_request ? " resource " : " path ").append(asked.verb);
    for (const std::string_view part :
         {asked.group, asked.version, asked.resource, asked.subresource, asked.namespace_,
          asked.name, asked.path, asked.field_selector, asked.label_selector}) {
      text.append(" ").append(part.empty() ? "-" : part);
    }
    questions_.push_back(std::move(text));
    return answer_;
  }

  // Asks for the user alice.
  const apiserver::cel::UserAuthorizer& user() const { return user_; }
  // "USER +GROUP… resource|path VERB GROUP VERSION RESOURCE SUBRESOURCE NAMESPACE NAME PATH FIELDS
  // LABELS", with "-" for what is empty.
  const std::vector<std::string>& questions() const { return questions_; }

 private:
  apiserver::Result<apiserver::auth::Verdict> answer_;
  apiserver::cel::UserAuthorizer user_;
  mutable std::vector<std::string> questions_;
};

// Reads an answer of the tables: {"decision":"allow","reason":"…","error":"…"}. With an
// error there is no reason.
inline apiserver::Result<apiserver::auth::Verdict> VerdictOf(
    const apiserver::runtime::Value& fixed) {
  using apiserver::auth::Decision;
  if (const std::string_view error = fixed["error"].AsString(); !error.empty()) {
    return apiserver::Status(apiserver::Reason::kInternalError, std::string(error));
  }
  const std::string_view decision = fixed["decision"].AsString();
  apiserver::auth::Verdict verdict = {.reason = std::string(fixed["reason"].AsString())};
  if (decision == "allow") verdict.decision = Decision::kAllow;
  if (decision == "deny") verdict.decision = Decision::kDeny;
  return verdict;
}

}  // namespace cel_test
