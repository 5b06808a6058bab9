#include "apiserver/authn/bootstrap_token.h"

#include <catch2/catch.hpp>

#include "authn/fakes.h"
#include "base/manual.h"

namespace apiserver::inline v0::authn {
namespace {

// One Secret of kube-system.
class OneSecret final : public SecretGetter {
 public:
  OneSecret(std::string name, StoredSecret secret)
      : name_(std::move(name)), secret_(std::move(secret)) {}

  Result<StoredSecret> GetSecret(const Context&, std::string_view namespace_,
                                 std::string_view name) const override {
    if (namespace_ == "kube-system" && name == name_) return secret_;
    return Status(Reason::kNotFound, "no such secret");
  }

 private:
  const std::string name_;
  const StoredSecret secret_;
};

StoredSecret Good() {
  return {.type = "bootstrap.kubernetes.io/token",
          .data = {{"token-id", "foobar"},
                   {"token-secret", "circumnavigation"},
                   {"usage-bootstrap-authentication", "true"}}};
}

Answer Ask(StoredSecret secret, const std::string& token = "foobar.circumnavigation",
           const std::string& name = "bootstrap-token-foobar") {
  testing::ManualClock clock;
  clock.Advance(std::chrono::seconds(1700000000));  // 2023-11-14T22:13:20Z
  const auto tokens = NewBootstrapTokens(
      {.secrets = std::make_shared<OneSecret>(name, std::move(secret)), .clock = &clock});
  return tokens->AuthenticateToken(Context::Background(), token);
}

bool Known(StoredSecret secret, const std::string& token = "foobar.circumnavigation",
           const std::string& name = "bootstrap-token-foobar") {
  const Answer answer = Ask(std::move(secret), token, name);
  REQUIRE(answer.ok());
  return answer->has_value();
}

StoredSecret With(const std::string& key, const std::string& value) {
  StoredSecret secret = Good();
  secret.data[key] = value;
  return secret;
}

}  // namespace

// TestTokenAuthenticator: valid token, valid token with extra group, not expired token
TEST_CASE("authn: a bootstrap token stands for its bootstrapper", "[authn]") {
  CHECK(*Ask(Good())->value().user ==
        auth::UserInfo{.name = "system:bootstrap:foobar", .groups = {"system:bootstrappers"}});
  CHECK(*Ask(With("auth-extra-groups", "system:bootstrappers:foo"))->value().user ==
        auth::UserInfo{.name = "system:bootstrap:foobar",
                       .groups = {"system:bootstrappers", "system:bootstrappers:foo"}});
  CHECK(Known(With("expiration", "2109-11-10T23:00:00Z")));
  CHECK(Known(With("expiration", "2023-11-14T22:13:21Z")));
}

// TestTokenAuthenticator: the others
TEST_CASE("authn: a bootstrap token that its Secret does not bear out is nobody's", "[authn]") {
  CHECK_FALSE(Known(With("auth-extra-groups", "foo")));
  CHECK_FALSE(Known(Good(), "foobar.circumnavigation", "bad-name"));
  CHECK_FALSE(Known(With("usage-bootstrap-authentication", "")));
  CHECK_FALSE(Known(With("usage-bootstrap-authentication", "false")));
  CHECK_FALSE(Known(Good(), "barfoo.circumnavigation"));
  CHECK_FALSE(Known(Good(), "foobar.circumnavigatiox"));
  StoredSecret deleted = Good();
  deleted.deleted_at = Clock::Wall();
  CHECK_FALSE(Known(deleted));
  CHECK_FALSE(Known(With("expiration", "2009-11-10T23:00:00Z")));
  CHECK_FALSE(Known(With("expiration", "2023-11-14T22:13:20Z")));
  CHECK_FALSE(Known(With("expiration", "soon")));
  CHECK_FALSE(Known(With("token-id", "foo"), "foo.circumnavigation", "bootstrap-token-foo"));
  CHECK_FALSE(Known(With("token-id", "barfoo")));
  CHECK_FALSE(Known(With("token-secret", "")));
  StoredSecret other = Good();
  other.type = "Opaque";
  CHECK_FALSE(Known(other));
}

TEST_CASE("authn: what has not the form of a bootstrap token is not looked up", "[authn]") {
  for (const char* token :
       {"", ".", "foobar", "foobar.circumnavigatio", "foobar.circumnavigations",
        "Foobar.circumnavigation", "foobar.Circumnavigation", "foobar:circumnavigation",
        "../../.circumnavigation", "foobar.circumnavigatio\n"}) {
    CAPTURE(token);
    CHECK_FALSE(Known(Good(), token));
  }
}

TEST_CASE("authn: the groups of bootstrap tokens are groups of bootstrappers", "[authn]") {
  CHECK(Ask(With("auth-extra-groups", "system:bootstrappers:b,system:bootstrappers:a:b-c"))
            ->value()
            .user->groups == std::vector<std::string>{"system:bootstrappers",
                                                      "system:bootstrappers:a:b-c",
                                                      "system:bootstrappers:b"});
  for (const std::string groups :
       {"system:masters", "system:bootstrappers", "system:bootstrappers:", "system:bootstrappers:A",
        "system:bootstrappers:a-", "system:bootstrappers:a,system:masters",
        "system:bootstrappers:a,", ","}) {
    CAPTURE(groups);
    CHECK_FALSE(Known(With("auth-extra-groups", groups)));
  }
  const std::string prefix = "system:bootstrappers:";
  CHECK(Known(With("auth-extra-groups", prefix + std::string(256, 'a'))));
  CHECK_FALSE(Known(With("auth-extra-groups", prefix + std::string(257, 'a'))));
}

}  // namespace apiserver::inline v0::authn
