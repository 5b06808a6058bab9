// The tests of k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle, by their names.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "apiserver/admission/namespace_lifecycle.h"
#include "apiserver/meta/errors.h"
#include "apiserver/testing/server/fake_clock.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

using admission::Operation;

runtime::ObjectPtr NamespaceIn(const std::string& name, const std::string& phase) {
  auto made =
      std::make_shared<runtime::Object>(runtime::Kind::Untyped({"", "v1", "Namespace"}), "v1");
  made->Edit("metadata", "name") = name;
  made->Edit("status", "phase") = phase;
  return made;
}

// What is known by watching, and what a live look-up says.
class FakeNamespaces final : public admission::Namespaces {
 public:
  bool WaitForSync(std::chrono::milliseconds) const override { return synced; }
  runtime::ObjectPtr Get(std::string_view name) const override {
    const auto at = known.find(name);
    return at == known.end() ? nullptr : NamespaceIn(at->first, at->second);
  }
  Result<runtime::ObjectPtr> GetLive(const Context&, std::string_view name) const override {
    ++live_calls;
    if (!live_error.ok()) return live_error;
    const auto at = live.find(name);
    if (at == live.end()) return meta::NewNotFound({"", "namespaces"}, name);
    return NamespaceIn(at->first, at->second);
  }

  bool synced = true;
  std::map<std::string, std::string, std::less<>> known;
  std::map<std::string, std::string, std::less<>> live;
  Status live_error;
  mutable int live_calls = 0;
};

struct Fixture {
  Status Pod(Operation operation, const std::string& ns = "test") const {
    return Ask({.operation = operation,
                .kind = {"", "version", "Pod"},
                .resource = {"", "version", "pods"},
                .namespace_ = ns,
                .name = "123"});
  }
  Status Namespace(Operation operation, const std::string& name) const {
    return Ask({.operation = operation,
                .kind = {"", "version", "Namespace"},
                .resource = {"", "version", "namespaces"},
                .namespace_ = name,
                .name = name});
  }
  Status Ask(admission::Attributes attributes) const {
    if (!plugin->Handles(attributes.operation)) return {};
    return plugin->Admit(Context::Background(), attributes);
  }

  testing::FakeClock clock;
  std::shared_ptr<FakeNamespaces> namespaces = std::make_shared<FakeNamespaces>();
  std::shared_ptr<const admission::Plugin> plugin = admission::NewNamespaceLifecycle(
      {.namespaces = namespaces, .missing_wait = std::chrono::milliseconds(0), .clock = &clock});
};

}  // namespace

// TestAccessReviewCheckOnMissingNamespace
TEST_CASE("lifecycle: access reviews do not tell whether their namespace exists", "[admission]") {
  const Fixture fixture;
  fixture.namespaces->live_error = Status(Reason::kUnknown, "nope, out of luck");
  CHECK(fixture
            .Ask({.operation = Operation::kCreate,
                  .kind = {"authorization.k8s.io", "v1", "LocalSubjectAccesReview"},
                  .resource = {"authorization.k8s.io", "v1", "localsubjectaccessreviews"},
                  .namespace_ = "test"})
            .ok());
  CHECK(fixture.namespaces->live_calls == 0);
}

// TestAdmissionNamespaceDoesNotExist
TEST_CASE("lifecycle: where the namespace cannot be looked up nothing is created", "[admission]") {
  const Fixture fixture;
  fixture.namespaces->live_error = Status(Reason::kUnknown, "nope, out of luck");
  const Status refused = fixture.Pod(Operation::kCreate);
  CHECK(refused.code() == 500);
  CHECK(refused.message() == "Internal error occurred: nope, out of luck");
  CHECK(fixture.Pod(Operation::kUpdate).ok());
  CHECK(fixture.Pod(Operation::kDelete).ok());
}

// TestAdmissionNamespaceFullyDeleted
TEST_CASE("lifecycle: in a namespace that is gone only creating is refused", "[admission]") {
  const Fixture fixture;
  const Status refused = fixture.Pod(Operation::kCreate);
  CHECK(refused.code() == 404);
  CHECK(refused.message() == R"(namespaces "test" not found)");
  CHECK(fixture.Pod(Operation::kUpdate).ok());
  CHECK(fixture.Pod(Operation::kDelete).ok());
}

// TestAdmissionNamespaceActive
TEST_CASE("lifecycle: in an active namespace everything may be created", "[admission]") {
  const Fixture fixture;
  fixture.namespaces->known = {{"test", "Active"}};
  CHECK(fixture.Pod(Operation::kCreate).ok());
  CHECK(fixture.namespaces->live_calls == 0);
}

TEST_CASE("lifecycle: a namespace that only storage knows of is found there", "[admission]") {
  const Fixture fixture;
  fixture.namespaces->live = {{"test", "Active"}};
  CHECK(fixture.Pod(Operation::kCreate).ok());
  CHECK(fixture.namespaces->live_calls == 1);
}

// TestAdmissionNamespaceTerminating
TEST_CASE("lifecycle: in a terminating namespace nothing is created", "[admission]") {
  const Fixture fixture;
  fixture.namespaces->known = {{"test", "Terminating"}};
  const Status refused = fixture.Pod(Operation::kCreate);
  CHECK(refused.code() == 403);
  CHECK(refused.message() ==
        R"(pods "123" is forbidden: unable to create new content in namespace test because it is )"
        "being terminated");
  REQUIRE(refused.details());
  CHECK(refused.details()->causes ==
        std::vector<StatusCause>{
            {"NamespaceTerminating", "namespace test is being terminated", "metadata.namespace"}});
  CHECK(fixture.Pod(Operation::kUpdate).ok());
  CHECK(fixture.Pod(Operation::kDelete).ok());
}

TEST_CASE("lifecycle: immortal namespaces cannot be deleted, others can", "[admission]") {
  const Fixture fixture;
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    const Status refused = fixture.Namespace(Operation::kDelete, name);
    CHECK(refused.code() == 403);
    CHECK(refused.message() == "namespaces \"" + std::string(name) +
                                   "\" is forbidden: this namespace may not be deleted");
  }
  CHECK(fixture.Namespace(Operation::kDelete, "other").ok());
  CHECK(fixture.Namespace(Operation::kCreate, "default").ok());
}

// TestAdmissionNamespaceForceLiveLookup
TEST_CASE("lifecycle: a namespace deleted a moment ago is looked up live for 30 s", "[admission]") {
  Fixture fixture;
  fixture.namespaces->known = {{"test", "Active"}};
  CHECK(fixture.Pod(Operation::kCreate).ok());
  CHECK(fixture.Namespace(Operation::kDelete, "test").ok());
  CHECK(fixture.namespaces->live_calls == 0);
  fixture.namespaces->live = {{"test", "Terminating"}};
  CHECK(fixture.Pod(Operation::kCreate).code() == 403);
  CHECK(fixture.namespaces->live_calls == 1);
  fixture.clock.Advance(std::chrono::seconds(30));
  CHECK(fixture.Pod(Operation::kCreate).code() == 403);
  CHECK(fixture.namespaces->live_calls == 2);
  fixture.clock.Advance(std::chrono::milliseconds(1));
  CHECK(fixture.Pod(Operation::kCreate).ok());
  CHECK(fixture.namespaces->live_calls == 2);
}

TEST_CASE("lifecycle: what has no namespace is not its business", "[admission]") {
  const Fixture fixture;
  CHECK(fixture.Pod(Operation::kCreate, "").ok());
  CHECK_FALSE(fixture.plugin->Handles(Operation::kConnect));
}

TEST_CASE("lifecycle: nothing is created before the namespaces are known", "[admission]") {
  const Fixture fixture;
  fixture.namespaces->synced = false;
  CHECK(fixture.Pod(Operation::kCreate).message() ==
        R"(pods "123" is forbidden: not yet ready to handle request)");
  CHECK(fixture.Pod(Operation::kUpdate).ok());
}

TEST_CASE("lifecycle: where nothing may wait a namespace is neither awaited nor asked for",
          "[admission]") {
  const Fixture fixture;
  fixture.namespaces->known["test"] = "Active";
  const Context here = Context::Background().WithMayBlock(false);
  const auto create = [&](const std::string& ns) {
    admission::Attributes attributes{.operation = Operation::kCreate,
                                     .kind = {"", "version", "Pod"},
                                     .resource = {"", "version", "pods"},
                                     .namespace_ = ns,
                                     .name = "123"};
    return fixture.plugin->Admit(here, attributes);
  };
  CHECK(fixture.plugin->RunsInline(Operation::kCreate, "test"));
  CHECK(create("test").ok());
  CHECK(fixture.plugin->RunsInline(Operation::kCreate, ""));

  CHECK_FALSE(fixture.plugin->RunsInline(Operation::kCreate, "other"));
  CHECK(create("other").reason() == Reason::kWouldBlock);
  CHECK(fixture.plugin->RunsInline(Operation::kUpdate, "other"));

  // A namespace whose deletion began here may be another one by now.
  CHECK(fixture.Namespace(Operation::kDelete, "test").ok());
  CHECK_FALSE(fixture.plugin->RunsInline(Operation::kCreate, "test"));
  CHECK(create("test").reason() == Reason::kWouldBlock);

  fixture.namespaces->synced = false;
  CHECK_FALSE(fixture.plugin->RunsInline(Operation::kCreate, "test"));
  CHECK(create("test").reason() == Reason::kWouldBlock);
  CHECK(fixture.namespaces->live_calls == 0);
}
