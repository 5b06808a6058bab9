#include "apiserver/authn/anonymous.h"

#include <set>
#include <utility>

#include "apiserver/auth/audiences.h"

namespace apiserver::v0::authn {
namespace {

class Anonymous final : public auth::Authenticator {
 public:
  explicit Anonymous(std::vector<std::string> paths)
      : paths_(std::make_move_iterator(paths.begin()), std::make_move_iterator(paths.end())) {}

  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context& ctx, const http::Request& request) const override {
    if (!paths_.empty() && !paths_.contains(request.path)) {
      return std::optional<auth::AuthenticateResponse>();
    }
    auth::AuthenticateResponse response{user_};
    // An anonymous request is for any audience that it asks for.
    if (const auto* audiences = auth::AudiencesOf(ctx)) response.audiences = *audiences;
    return std::optional(std::move(response));
  }

 private:
  const std::set<std::string> paths_;
  const auth::UserInfoPtr user_ = std::make_shared<const auth::UserInfo>(
      auth::UserInfo{.name = std::string(auth::kAnonymous),
                     .uid = "",
                     .groups = {std::string(auth::kAllUnauthenticated)}});
};

}  // namespace

std::unique_ptr<auth::Authenticator> NewAnonymous(std::vector<std::string> paths) {
  return std::make_unique<Anonymous>(std::move(paths));
}

bool IsAnonymous(const auth::UserInfo& user) {
  return user.name == auth::kAnonymous || user.InGroup(auth::kAllUnauthenticated);
}

}  // namespace apiserver::v0::authn
