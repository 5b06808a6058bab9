#include <memory>
#include <string>
#include <utility>

#include "apiserver/auth/audiences.h"
#include "apiserver/authn/anonymous.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/meta/errors.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "groups/authentication/user_info.h"

namespace apiserver::v0::groups::authentication {

namespace {

using runtime::Object;

// The common part of the two reviews. They store nothing.
class Review : public rest::Storage,
               public rest::Scoper,
               public rest::SingularNameProvider,
               public rest::Creater {
 public:
  explicit Review(runtime::KindPtr kind) : kind_(std::move(kind)) {}

  std::unique_ptr<Object> New() const final {
    return std::make_unique<Object>(kind_, kind_->hub_version());
  }
  bool NamespaceScoped() const final { return false; }
  std::string GetSingularName() const final { return kind_->singular(); }

 private:
  const runtime::KindPtr kind_;
};

// Follows k8s.io/kubernetes/pkg/registry/authentication/selfsubjectreview.
class SelfSubjectReview final : public Review {
 public:
  SelfSubjectReview(runtime::KindPtr kind, const Clock& clock)
      : Review(std::move(kind)), clock_(clock) {}

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<Object> review,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& /*options*/) override {
    if (validate) RETURN_IF_ERROR(validate(ctx, *review));
    const auth::UserInfoPtr* const user = ctx.Get<auth::UserInfoPtr>();
    if (user == nullptr) return meta::NewBadRequest("no user present on request");
    // The answer contains nothing of the request.
    std::unique_ptr<Object> answer = New();
    answer->Edit("metadata", "creationTimestamp") =
        runtime::FormatTime(runtime::UnixTime::From(clock_.WallNow()));
    answer->Edit("status", "userInfo") = UserInfoValue(*answer, **user);
    return runtime::ObjectPtr(std::move(answer));
  }

 private:
  const Clock& clock_;
};

// Follows k8s.io/kubernetes/pkg/registry/authentication/tokenreview.
// The token is in the review's spec, so the answer repeats it, as upstream's does.
class TokenReview final : public Review {
 public:
  TokenReview(runtime::KindPtr kind, const Options& options)
      : Review(std::move(kind)),
        authenticator_(options.authenticator),
        api_audiences_(options.api_audiences) {}

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<Object> review,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& /*options*/) override {
    const std::string token((*review)["spec"]["token"].AsString());
    if (token.empty()) {
      return meta::NewBadRequest("token is required for TokenReview in authentication");
    }
    if (validate) RETURN_IF_ERROR(validate(ctx, *review));
    const std::vector<std::string> audiences = AudiencesOf(*review);
    const auto found = Ask(ctx, token, audiences);
    // Not an answer about the token: the request goes on where it may block.
    if (found.status().reason() == Reason::kWouldBlock) return found.status();
    review->Erase("status");
    review->Edit("status", "user") = runtime::MapBuilder(review->arena()).Build();
    if (!found.ok()) {
      review->Edit("status", "error") = found.status().message();
    } else if (*found && !authn::IsAnonymous(*(*found)->user)) {
      if (!audiences.empty() && auth::Intersect(audiences, (*found)->audiences).empty()) {
        return meta::NewInternalError("error validating audiences");
      }
      review->Edit("status", "authenticated") = true;
      review->Edit("status", "user") = UserInfoValue(*review, *(*found)->user);
      if (!(*found)->audiences.empty()) {
        review->Edit("status", "audiences") = TextList(*review, (*found)->audiences);
      }
    }
    return runtime::ObjectPtr(std::move(review));
  }

 private:
  // Empty: those of the server itself.
  std::vector<std::string> AudiencesOf(const Object& review) const {
    std::vector<std::string> audiences;
    for (const runtime::Value& name : review["spec"]["audiences"].items()) {
      audiences.emplace_back(name.AsString());
    }
    return audiences.empty() ? api_audiences_ : audiences;
  }

  // Authenticates a request that has the token and nothing else.
  Result<std::optional<auth::AuthenticateResponse>> Ask(
      const Context& asking, const std::string& token,
      const std::vector<std::string>& audiences) const {
    // Nothing of the asking request, whose credentials must not answer for the token.
    http::Request request;
    request.headers.Add("Authorization", "Bearer " + token);
    Context ctx = Context::Child(asking).WithMayBlock(asking.may_block());
    if (!audiences.empty()) ctx.Set(auth::Audiences{audiences});
    return authenticator_->Authenticate(ctx, request);
  }

  const std::shared_ptr<const auth::Authenticator> authenticator_;
  const std::vector<std::string> api_audiences_;
};

}  // namespace

std::map<std::string, std::shared_ptr<rest::Storage>> Reviews(
    const std::vector<runtime::KindPtr>& kinds, const Options& options) {
  std::map<std::string, std::shared_ptr<rest::Storage>> storages;
  for (const runtime::KindPtr& kind : kinds) {
    if (kind->kind() == "SelfSubjectReview") {
      storages.emplace(kind->plural(), std::make_shared<SelfSubjectReview>(kind, *options.clock));
    } else if (kind->kind() == "TokenReview" && options.authenticator) {
      storages.emplace(kind->plural(), std::make_shared<TokenReview>(kind, options));
    }
  }
  return storages;
}

Status Install(server::GenericAPIServer& server, const Options& options) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, Kinds());
  server::APIGroupInfo group{.group = "authentication.k8s.io"};
  auto& reviews = group.storage["v1"];
  reviews = Reviews(kinds, options);
  for (const runtime::KindPtr& kind : kinds) {
    // TokenReview is left out without an authenticator.
    if (!reviews.contains(kind->plural())) continue;
    RETURN_IF_ERROR(server.scheme().Add(kind));
  }
  return server.InstallAPIGroup(std::move(group));
}

}  // namespace apiserver::v0::groups::authentication
