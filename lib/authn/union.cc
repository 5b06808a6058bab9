#include "apiserver/authn/union.h"

#include <algorithm>
#include <string>
#include <utility>

#include "authn/identity_cache.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using auth::UserInfo;
using auth::UserInfoPtr;
using Answer = Result<std::optional<AuthenticateResponse>>;

// Joins distinct errors as utilerrors.NewAggregate prints them.
Status Aggregate(const std::vector<Status>& errors) {
  std::vector<std::string> messages;
  for (const Status& error : errors) {
    std::string message(error.message());
    if (std::ranges::find(messages, message) == messages.end()) {
      messages.push_back(std::move(message));
    }
  }
  for (const Status& error : errors) {
    // The authenticator that could not ask may know the credential: the others' errors may be
    // wrong.
    if (error.reason() == Reason::kTooManyRequests) return error;
  }
  if (messages.size() == 1) return errors.front();
  std::string text = "[";
  for (const std::string& message : messages) {
    if (&message != &messages.front()) text += ", ";
    text += message;
  }
  return Status(Reason::kUnauthorized, text + "]");
}

// Returns the first result among those of `ask`, called with each of `authenticators`.
template <class Authenticators, class Ask>
Answer FirstOf(const Authenticators& authenticators, const Ask& ask) {
  std::vector<Status> errors;
  for (const auto& authenticator : authenticators) {
    Answer answer = ask(*authenticator);
    if (!answer.ok()) {
      // Not a result: the request must be authenticated again where waiting is allowed.
      if (answer.status().reason() == Reason::kWouldBlock) return answer;
      errors.push_back(answer.status());
    } else if (answer->has_value()) {
      return answer;
    }
  }
  if (errors.empty()) return std::optional<AuthenticateResponse>();
  return Aggregate(errors);
}

class Union final : public auth::Authenticator {
 public:
  explicit Union(std::vector<std::shared_ptr<const auth::Authenticator>> authenticators)
      : authenticators_(std::move(authenticators)) {}

  Answer Authenticate(const Context& ctx, const http::Request& request) const override {
    return FirstOf(authenticators_,
                   [&](const auth::Authenticator& one) { return one.Authenticate(ctx, request); });
  }

 private:
  const std::vector<std::shared_ptr<const auth::Authenticator>> authenticators_;
};

class UnionFailOnError final : public auth::Authenticator {
 public:
  explicit UnionFailOnError(std::vector<std::shared_ptr<const auth::Authenticator>> authenticators)
      : authenticators_(std::move(authenticators)) {}

  Answer Authenticate(const Context& ctx, const http::Request& request) const override {
    for (const auto& authenticator : authenticators_) {
      Answer answer = authenticator->Authenticate(ctx, request);
      if (!answer.ok() || answer->has_value()) return answer;
    }
    return std::optional<AuthenticateResponse>();
  }

 private:
  const std::vector<std::shared_ptr<const auth::Authenticator>> authenticators_;
};

class TokenUnion final : public auth::TokenAuthenticator {
 public:
  explicit TokenUnion(std::vector<std::shared_ptr<const auth::TokenAuthenticator>> authenticators)
      : authenticators_(std::move(authenticators)) {}

  Answer AuthenticateToken(const Context& ctx, std::string_view token) const override {
    return FirstOf(authenticators_, [&](const auth::TokenAuthenticator& one) {
      return one.AuthenticateToken(ctx, token);
    });
  }

 private:
  const std::vector<std::shared_ptr<const auth::TokenAuthenticator>> authenticators_;
};

// A user of the anonymous group or of the authenticated one has its group already.
bool WantsGroup(const UserInfo& user) {
  return user.name != auth::kAnonymous && !user.InGroup(auth::kAllAuthenticated) &&
         !user.InGroup(auth::kAllUnauthenticated);
}

// Follows AuthenticatedGroupAdder.AuthenticateRequest.
class GroupAdder final : public auth::Authenticator {
 public:
  explicit GroupAdder(std::shared_ptr<const auth::Authenticator> inner)
      : inner_(std::move(inner)), members_(kUsersMax) {}

  Answer Authenticate(const Context& ctx, const http::Request& request) const override {
    Answer answer = inner_->Authenticate(ctx, request);
    if (answer.ok() && answer->has_value() && WantsGroup(*answer->value().user)) {
      answer->value().user = Member(answer->value().user);
    }
    return answer;
  }

 private:
  // Cached per user object, since the authenticators below return the same one many times.
  static constexpr std::size_t kUsersMax = 100'000;

  UserInfoPtr Member(const UserInfoPtr& user) const {
    if (const auto member = members_.Find(user)) return *member;
    UserInfo copy = *user;
    copy.groups.emplace_back(auth::kAllAuthenticated);
    UserInfoPtr member = std::make_shared<const UserInfo>(std::move(copy));
    members_.Store(user, member);
    return member;
  }

  const std::shared_ptr<const auth::Authenticator> inner_;
  mutable IdentityCache<UserInfo, UserInfoPtr> members_;
};

}  // namespace

std::unique_ptr<auth::Authenticator> NewUnion(
    std::vector<std::shared_ptr<const auth::Authenticator>> authenticators) {
  return std::make_unique<Union>(std::move(authenticators));
}

std::unique_ptr<auth::Authenticator> NewUnionFailOnError(
    std::vector<std::shared_ptr<const auth::Authenticator>> authenticators) {
  return std::make_unique<UnionFailOnError>(std::move(authenticators));
}

std::unique_ptr<auth::TokenAuthenticator> NewTokenUnion(
    std::vector<std::shared_ptr<const auth::TokenAuthenticator>> authenticators) {
  return std::make_unique<TokenUnion>(std::move(authenticators));
}

std::unique_ptr<auth::Authenticator> NewGroupAdder(
    std::shared_ptr<const auth::Authenticator> inner) {
  return std::make_unique<GroupAdder>(std::move(inner));
}

}  // namespace apiserver::v0::authn
