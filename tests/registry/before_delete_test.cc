// What precedes every delete and create: k8s.io/apiserver/pkg/registry/rest.
#include "apiserver/rest/delete.h"
#include "apiserver/rest/meta.h"
#include "apiserver/runtime/time.h"
#include "apiserver/testing/server/fake_clock.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::WidgetStrategy;

namespace {

// 2020-09-13T12:26:40Z.
constexpr std::int64_t kNow = 1'600'000'000;
constexpr char kNowText[] = "2020-09-13T12:26:40Z";

std::string TimeText(std::int64_t seconds) {
  return runtime::FormatTime(runtime::UnixTime::From(Clock::Wall(std::chrono::seconds(seconds))));
}

}  // namespace

// TestBeforeDelete
TEST_CASE("rest: a delete of what is going already may only shorten its grace", "[registry]") {
  const testing::FakeClock clock;
  const runtime::KindPtr kind = testing::NewWidgetKind();
  WidgetStrategy strategy;
  strategy.grace = 30;
  constexpr int kUnchanged = -100;
  struct Row {
    std::int64_t stored;     // deletionGracePeriodSeconds.
    std::int64_t deletion;   // deletionTimestamp, from now on.
    std::int64_t asked;      // gracePeriodSeconds.
    std::int64_t asked_now;  // As it is handed on.
    bool graceful;
    bool pending;
    std::int64_t seconds;  // What the object is to get.
    std::int64_t time;
  };
  const std::vector<Row> rows{
      {-1, -1, -1, 1, false, true, kUnchanged, 0},
      {-1, -1, 0, 0, true, false, 0, 0},
      {-1, -1, 1, 1, false, true, kUnchanged, 0},
      {-1, -1, 2, 2, false, true, kUnchanged, 0},
      {0, 0, -1, 1, false, false, kUnchanged, 0},
      {0, 0, 0, 0, false, false, kUnchanged, 0},
      {0, 0, 1, 1, false, false, kUnchanged, 0},
      {0, 0, 2, 2, false, false, kUnchanged, 0},
      {1, 1, -1, 1, false, true, kUnchanged, 0},
      {1, 1, 0, 0, true, false, 0, 0},
      {1, 1, 1, 1, false, true, kUnchanged, 0},
      {1, 1, 2, 2, false, true, kUnchanged, 0},
      {2, 2, -1, 1, true, false, 1, 1},
      {2, 2, 0, 0, true, false, 0, 0},
      {2, 2, 1, 1, true, false, 1, 1},
      {2, 2, 2, 2, false, true, kUnchanged, 0},
      // A shorter grace that would have ended in the past.
      {60, -60, 50, 50, true, false, 1, 0},
      {60, -60, 0, 0, true, false, 0, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.stored, row.deletion, row.asked);
    const auto object = testing::NewWidget(kind, "one");
    object->Edit("metadata", "deletionTimestamp") = TimeText(kNow + row.deletion);
    object->Edit("metadata", "deletionGracePeriodSeconds") = row.stored;
    object->Edit("metadata", "generation") = 3;
    meta::DeleteOptions options;
    options.grace_period_seconds = row.asked;

    const auto grace = rest::BeforeDelete(strategy, Context::Background(), *object, options, clock);

    REQUIRE(grace.ok());
    CHECK(grace->graceful == row.graceful);
    CHECK(grace->pending == row.pending);
    CHECK(options.grace_period_seconds == row.asked_now);
    if (!row.graceful) continue;
    grace->Apply(*object);
    CHECK(object->metadata()["deletionGracePeriodSeconds"].AsInt(-1) == row.seconds);
    CHECK(object->metadata()["deletionTimestamp"].AsString() == TimeText(kNow + row.time));
    CHECK(object->generation() == 3);
  }
}

TEST_CASE("rest: the first graceful delete sets time, grace and generation", "[registry]") {
  const testing::FakeClock clock;
  WidgetStrategy strategy;
  strategy.grace = 30;
  struct Row {
    std::optional<std::int64_t> asked;
    std::int64_t seconds;
  };
  for (const Row& row : std::vector<Row>{{{}, 30}, {0, 0}, {5, 5}, {-7, 1}}) {
    CAPTURE(row.seconds);
    const auto object = testing::NewWidget(testing::NewWidgetKind(), "one");
    object->Edit("metadata", "generation") = 3;
    meta::DeleteOptions options;
    options.grace_period_seconds = row.asked;

    const auto grace = rest::BeforeDelete(strategy, Context::Background(), *object, options, clock);

    REQUIRE(grace.ok());
    CHECK(grace->graceful);
    grace->Apply(*object);
    CHECK(options.grace_period_seconds == row.seconds);
    CHECK(object->metadata()["deletionGracePeriodSeconds"].AsInt(-1) == row.seconds);
    CHECK(object->metadata()["deletionTimestamp"].AsString() == TimeText(kNow + row.seconds));
    CHECK(object->generation() == 4);
  }
}

namespace {

struct ForgetfulStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
  bool CheckGracefulDelete(const Context&, const runtime::Object&,
                           meta::DeleteOptions&) const override {
    return true;
  }
};

}  // namespace

TEST_CASE("rest: a graceful strategy has to say how long", "[registry]") {
  const auto object = testing::NewWidget(testing::NewWidgetKind(), "one");
  meta::DeleteOptions options;

  const auto grace =
      rest::BeforeDelete(ForgetfulStrategy(), Context::Background(), *object, options, RealClock());

  CHECK(grace.status().message() ==
        "Internal error occurred: options.GracePeriodSeconds should not be nil");
}

// TestWipeObjectMetaSystemFields, TestFillObjectMetaSystemFields,
// TestHasObjectMetaSystemFieldValues
TEST_CASE("rest: the server's fields are wiped and filled", "[registry]") {
  const testing::FakeClock clock;
  const auto object = testing::NewWidget(testing::NewWidgetKind(), "one");
  for (const char* field : {"creationTimestamp", "deletionTimestamp", "selfLink"}) {
    object->Edit("metadata", field) = kNowText;
  }
  object->Edit("metadata", "deletionGracePeriodSeconds") = 3;

  rest::WipeObjectMetaSystemFields(*object);
  CHECK(object->metadata().members().size() == 2);  // Name and namespace.
  CHECK(object->name() == "one");

  rest::FillObjectMetaSystemFields(*object, clock, SecureRandom());
  CHECK(object->metadata()["creationTimestamp"].AsString() == kNowText);
  CHECK(object->uid().size() == 36);
}

// TestEnsureObjectNamespaceMatchesRequestNamespace
TEST_CASE("rest: an object takes the namespace of its request, or has it", "[registry]") {
  struct Row {
    std::string request;
    std::string object;
    std::optional<std::string> expected;  // None: refused.
  };
  for (const Row& row : std::vector<Row>{{"", "", ""},
                                         {"", "foo", ""},
                                         {"foo", "", "foo"},
                                         {"foo", "foo", "foo"},
                                         {"foo", "bar", {}}}) {
    CAPTURE(row.request, row.object);
    const auto object = testing::NewWidget(testing::NewWidgetKind(), "one", row.object);

    const Status status = rest::EnsureObjectNamespaceMatchesRequestNamespace(row.request, *object);

    CHECK(status.ok() == row.expected.has_value());
    if (row.expected) CHECK(object->namespace_() == *row.expected);
    if (!row.expected) {
      CHECK(
          status.message() ==
          "the namespace of the provided object does not match the namespace sent on the request");
    }
  }
}
