#include "apiserver/authz/instrumented.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

#include "authz/asking.h"

namespace apiserver::inline v0::authz {
namespace {

class Deciding final : public auth::Authorizer {
 public:
  Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                  const auth::Attributes& /*asked*/) const override {
    return answer;
  }
  Result<auth::Verdict> answer = auth::Verdict{};
};

}  // namespace

// TestRecordAuthorizationDecisionsTotal; there are no conditions and no unknown decisions here.
TEST_CASE("authz: what an authorizer allows and denies is counted", "[authz]") {
  const auto registry = metrics::NewRegistry();
  const auto deciding = std::make_shared<Deciding>();
  const auto instrumented = NewInstrumented("mytype", "myname", deciding, *registry);
  const auto counted = [&](Result<auth::Verdict> answer, int times) {
    deciding->answer = std::move(answer);
    std::string said;
    for (int i = 0; i < times; ++i) {
      said = asking::Answer(*instrumented, {.user = asking::User("jane")});
    }
    std::string text = registry->Serialize();
    const std::size_t type = text.find("# TYPE");
    registry->Reset();
    return said + "|" + text.substr(type == std::string::npos ? 0 : text.find('\n', type) + 1);
  };
  using auth::Decision;
  CHECK(counted(auth::Verdict{Decision::kNoOpinion}, 2) == "no opinion|");
  CHECK(counted(Status(Reason::kWouldBlock, "later"), 1) == "error: later|");
  CHECK(counted(auth::Verdict{Decision::kAllow, "why"}, 1) ==
        "allow: why|apiserver_authorization_decisions_total"
        "{type=\"mytype\",name=\"myname\",decision=\"allowed\"} 1\n");
  CHECK(counted(auth::Verdict{Decision::kDeny}, 2) ==
        "deny|apiserver_authorization_decisions_total"
        "{type=\"mytype\",name=\"myname\",decision=\"allowed\"} 0\n"
        "apiserver_authorization_decisions_total"
        "{type=\"mytype\",name=\"myname\",decision=\"denied\"} 2\n");
}

}  // namespace apiserver::inline v0::authz
