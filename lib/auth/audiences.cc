#include "apiserver/auth/audiences.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::auth {

namespace {

using Answer = Result<std::optional<AuthenticateResponse>>;

// Calls `ask` only if there is an audience that it can be accepted for.
template <class Ask>
Answer ForImplicit(const Context& ctx, const std::vector<std::string>& implicit, const Ask& ask) {
  const std::vector<std::string>* const wanted = AudiencesOf(ctx);
  if (wanted == nullptr) return ask();
  std::vector<std::string> audiences = Intersect(implicit, *wanted);
  if (audiences.empty()) return std::optional<AuthenticateResponse>();
  Answer answer = ask();
  if (!answer.ok() || !answer->has_value()) return answer;
  if (!answer->value().audiences.empty()) {
    return Status(Reason::kInternalError,
                  "an authenticator that knows audiences was wrapped as one that does not");
  }
  answer->value().audiences = std::move(audiences);
  return answer;
}

class ImplicitRequest final : public Authenticator {
 public:
  ImplicitRequest(std::vector<std::string> implicit, std::shared_ptr<const Authenticator> inner)
      : implicit_(std::move(implicit)), inner_(std::move(inner)) {}

  Answer Authenticate(const Context& ctx, const http::Request& request) const override {
    return ForImplicit(ctx, implicit_, [&] { return inner_->Authenticate(ctx, request); });
  }

 private:
  const std::vector<std::string> implicit_;
  const std::shared_ptr<const Authenticator> inner_;
};

class ImplicitToken final : public TokenAuthenticator {
 public:
  ImplicitToken(std::vector<std::string> implicit, std::shared_ptr<const TokenAuthenticator> inner)
      : implicit_(std::move(implicit)), inner_(std::move(inner)) {}

  Answer AuthenticateToken(const Context& ctx, std::string_view token) const override {
    return ForImplicit(ctx, implicit_, [&] { return inner_->AuthenticateToken(ctx, token); });
  }

 private:
  const std::vector<std::string> implicit_;
  const std::shared_ptr<const TokenAuthenticator> inner_;
};

}  // namespace

const std::vector<std::string>* AudiencesOf(const Context& ctx) {
  const Audiences* const set = ctx.Get<Audiences>();
  return set ? &set->names : nullptr;
}

// Follows Audiences.Intersect in k8s.io/apiserver: the order is that of `wanted`.
std::vector<std::string> Intersect(const std::vector<std::string>& have,
                                   const std::vector<std::string>& wanted) {
  std::vector<std::string> both;
  for (const std::string& name : wanted) {
    if (std::ranges::find(have, name) != have.end()) both.push_back(name);
  }
  return both;
}

std::unique_ptr<Authenticator> WithImplicitAudiences(std::vector<std::string> implicit,
                                                     std::shared_ptr<const Authenticator> inner) {
  return std::make_unique<ImplicitRequest>(std::move(implicit), std::move(inner));
}

std::unique_ptr<TokenAuthenticator> WithImplicitAudiences(
    std::vector<std::string> implicit, std::shared_ptr<const TokenAuthenticator> inner) {
  return std::make_unique<ImplicitToken>(std::move(implicit), std::move(inner));
}

}  // namespace apiserver::v0::auth
