#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/audit/context.h"
#include "apiserver/base/metrics.h"
#include "apiserver/testing/server/fake_clock.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

using admission::Attributes;
using admission::Operation;
using Operations = std::vector<Operation>;

// As FakeHandler of chain_test.go: accepts or refuses in both phases, and notes what was called.
struct Recorder final : admission::Plugin {
  Recorder(std::string n, std::vector<std::string>& c, bool a, Operations o)
      : plugin(std::move(n)), calls(c), accepts(a), operations(std::move(o)) {}
  std::string_view name() const override { return plugin; }
  bool Handles(Operation operation) const override {
    return std::ranges::find(operations, operation) != operations.end();
  }
  Status Admit(const Context&, Attributes&) const override {
    calls.push_back("admit " + plugin);
    return accepts ? Status() : Status(Reason::kForbidden, "Don't admit");
  }
  Status Validate(const Context&, const Attributes&) const override {
    calls.push_back("validate " + plugin);
    return accepts ? Status() : Status(Reason::kForbidden, "Don't validate");
  }

  std::string plugin;
  std::vector<std::string>& calls;
  bool accepts;
  Operations operations;
};

constexpr auto kCreate = Operation::kCreate;
constexpr auto kUpdate = Operation::kUpdate;
constexpr auto kDelete = Operation::kDelete;
constexpr auto kConnect = Operation::kConnect;

Attributes For(Operation operation) {
  return {.operation = operation,
          .kind = {"foo", "bar", "Baz"},
          .resource = {"foo", "bar", "baz"},
          .namespace_ = "default"};
}

}  // namespace

// chain_test.go TestAdmitAndValidate
TEST_CASE("admission: plugins are asked in order until one refuses", "[admission]") {
  struct Plugin {
    const char* name;
    bool accepts;
    Operations operations;
  };
  struct Case {
    const char* name;
    Operation operation;
    std::vector<Plugin> plugins;
    bool accepted;
    std::vector<std::string> called;
  };
  const Case cases[] = {
      {"all accept",
       kCreate,
       {{"a", true, {kUpdate, kDelete, kCreate}},
        {"b", true, {kDelete, kCreate}},
        {"c", true, {kCreate}}},
       true,
       {"a", "b", "c"}},
      {"ignore handler",
       kCreate,
       {{"a", true, {kUpdate, kDelete, kCreate}}, {"b", false, {kDelete}}, {"c", true, {kCreate}}},
       true,
       {"a", "c"}},
      {"ignore all",
       kConnect,
       {{"a", true, {kUpdate, kDelete, kCreate}}, {"b", false, {kDelete}}, {"c", true, {kCreate}}},
       true,
       {}},
      {"reject one",
       kDelete,
       {{"a", true, {kUpdate, kDelete, kCreate}}, {"b", false, {kDelete}}, {"c", true, {kCreate}}},
       false,
       {"a", "b"}}};
  for (const Case& test : cases) {
    INFO(test.name);
    std::vector<std::string> calls;
    std::vector<std::shared_ptr<const admission::Plugin>> plugins;
    for (const Plugin& plugin : test.plugins) {
      plugins.push_back(
          std::make_shared<Recorder>(plugin.name, calls, plugin.accepts, plugin.operations));
    }
    const admission::Chain chain(plugins);
    Attributes attributes = For(test.operation);
    CHECK(chain.Admit(Context::Background(), attributes).ok() == test.accepted);
    std::vector<std::string> expected;
    for (const std::string& name : test.called) expected.push_back("admit " + name);
    CHECK(calls == expected);

    calls.clear();
    expected.clear();
    CHECK(chain.Validate(Context::Background(), attributes).ok() == test.accepted);
    for (const std::string& name : test.called) expected.push_back("validate " + name);
    CHECK(calls == expected);
  }
}

// chain_test.go TestHandles
TEST_CASE("admission: a chain handles what one of its plugins handles", "[admission]") {
  std::vector<std::string> calls;
  const admission::Chain chain(
      {std::make_shared<Recorder>("a", calls, true, Operations{kUpdate, kDelete, kCreate}),
       std::make_shared<Recorder>("b", calls, true, Operations{kDelete, kCreate}),
       std::make_shared<Recorder>("c", calls, true, Operations{kCreate})});
  CHECK(chain.Handles(kCreate));
  CHECK_FALSE(chain.Handles(kConnect));
  CHECK(chain.Handles(kDelete));
  CHECK_FALSE(admission::Chain().Handles(kCreate));
}

// attributes_test.go TestAddAnnotation
TEST_CASE("admission: annotations have qualified names and are never overwritten", "[admission]") {
  admission::Annotations annotations;
  CHECK(annotations.Add("foo.admission.k8s.io/key1", "value1").ok());
  CHECK(annotations.Add("foo.admission.k8s.io/key2", "value2").ok());
  CHECK_FALSE(annotations.Add("foo.admission.k8s.io/key1", "value1-overwrite").ok());
  CHECK(annotations.Add("foo.admission.k8s.io/key1", "value1").ok());
  CHECK_FALSE(annotations.Add("INVALID-DNS-Subdomain/policy", "value-foo").ok());
  CHECK_FALSE(annotations.Add("policy", "value-foo").ok());
  CHECK_FALSE(annotations.Add("foo.admission.k8s.io", "value-foo").ok());
  CHECK_FALSE(annotations.Add("", "value-foo").ok());
  CHECK(annotations.All() ==
        std::vector<admission::Annotation>{{"foo.admission.k8s.io/key1", "value1"},
                                           {"foo.admission.k8s.io/key2", "value2"}});
}

namespace {

// Notes annotations, as the handler of audit_test.go, and as an audit backend sees them.
struct Annotator final : admission::Plugin {
  std::string_view name() const override { return "Annotator"; }
  bool Handles(Operation) const override { return true; }
  Status Admit(const Context&, Attributes& attributes) const override {
    (void)attributes.annotations->Add("plugin.example.com/foo", "bar");
    return {};
  }
  Status Validate(const Context&, const Attributes& attributes) const override {
    (void)attributes.annotations->Add("plugin.example.com/more", "qux", audit::Level::kRequest);
    return admission::NewForbidden(attributes, "quota exceeded");
  }
};

}  // namespace

// audit_test.go TestWithAudit, "forbidden error with annotations overwrite"
TEST_CASE("admission: audit hears what plugins noted, also of a refusal", "[admission]") {
  struct Case {
    audit::Level level;
    std::map<std::string, std::string> annotations;
  };
  const Case cases[] = {{audit::Level::kMetadata, {{"plugin.example.com/foo", "bar"}}},
                        {audit::Level::kRequest,
                         {{"plugin.example.com/foo", "bar"}, {"plugin.example.com/more", "qux"}}}};
  for (const Case& test : cases) {
    const auto event = std::make_shared<audit::AuditContext>("id", RealClock(), NullLogSink());
    event->Init({.level = test.level});
    Context ctx = Context::Child(Context::Background());
    ctx.Set(audit::AuditContextPtr(event));
    const admission::Chain chain({std::make_shared<Annotator>()});
    Attributes attributes = For(kCreate);
    CHECK(chain.Admit(ctx, attributes).ok());
    CHECK(chain.Validate(ctx, attributes).message() ==
          R"(baz.foo "Unknown" is forbidden: quota exceeded)");
    CHECK(event->Snapshot(audit::Stage::kResponseComplete).annotations == test.annotations);
  }
}

namespace {

// Asks for another round, as a webhook that has changed the object does.
struct Changer final : admission::Plugin {
  explicit Changer(std::vector<std::string>& c) : calls(c) {}
  std::string_view name() const override { return "Changer"; }
  bool Handles(Operation) const override { return true; }
  Status Admit(const Context&, Attributes& attributes) const override {
    calls.emplace_back(attributes.reinvocation->is_reinvoke() ? "changer again" : "changer");
    attributes.reinvocation->SetShouldReinvoke();
    return {};
  }
  std::vector<std::string>& calls;
};

}  // namespace

// reinvocation.go
TEST_CASE("admission: who changes the object has all asked once more, and only once",
          "[admission]") {
  std::vector<std::string> calls;
  const admission::Chain chain({std::make_shared<Recorder>("a", calls, true, Operations{kCreate}),
                                std::make_shared<Changer>(calls)});
  Attributes attributes = For(kCreate);
  CHECK(chain.Admit(Context::Background(), attributes).ok());
  CHECK(calls == std::vector<std::string>{"admit a", "changer", "admit a", "changer again"});
}

TEST_CASE("admission: a validating plugin is given nothing it could change", "[admission]") {
  struct Judge final : admission::Plugin {
    std::string_view name() const override { return "Judge"; }
    bool Handles(Operation) const override { return true; }
    Status Validate(const Context&, const Attributes& attributes) const override {
      return attributes.editable == nullptr ? Status() : Status(Reason::kForbidden, "editable");
    }
  };
  const admission::Chain chain({std::make_shared<Judge>()});
  runtime::Object object(runtime::Kind::Untyped({"foo", "bar", "Baz"}), "bar");
  Attributes attributes = For(kCreate);
  attributes.object = &object;
  attributes.editable = &object;
  CHECK(chain.Admit(Context::Background(), attributes).ok());
  CHECK(chain.Validate(Context::Background(), attributes).ok());
}

// errors.go extractResourceName
TEST_CASE("admission: errors name the object by what is known of it", "[admission]") {
  Attributes attributes = For(kCreate);
  CHECK(admission::NewForbidden(attributes, "some error").message() ==
        R"(baz.foo "Unknown" is forbidden: some error)");
  runtime::Object object(runtime::Kind::Untyped({"foo", "bar", "Baz"}), "bar");
  attributes.object = &object;
  object.Edit("metadata", "generateName") = "made-";
  CHECK(admission::NewForbidden(attributes, "some error").message() ==
        R"(baz.foo "made-" is forbidden: some error)");
  object.Edit("metadata", "name") = "own";
  CHECK(admission::NewNotFound(attributes).message() == R"(baz.foo "own" not found)");
  attributes.name = "asked";
  CHECK(admission::NewForbidden(attributes, "some error").message() ==
        R"(baz.foo "asked" is forbidden: some error)");
}

// metrics_test.go TestObserveAdmissionStep, TestObserveAdmissionController
TEST_CASE("admission: steps and plugins are counted under Kubernetes' names", "[admission]") {
  const auto registry = metrics::NewRegistry();
  const testing::FakeClock clock;
  std::vector<std::string> calls;
  const admission::Chain chain({std::make_shared<Recorder>("a", calls, false, Operations{kCreate})},
                               *registry, clock);
  Attributes attributes = For(kCreate);
  CHECK_FALSE(chain.Admit(Context::Background(), attributes).ok());
  CHECK_FALSE(chain.Validate(Context::Background(), attributes).ok());
  const std::string text = registry->Serialize();
  const auto has = [&](const std::string& line) { return text.find(line) != std::string::npos; };
  const std::string step = "apiserver_admission_step_admission_duration_seconds_";
  const std::string plugin = "apiserver_admission_controller_admission_duration_seconds_";
  CHECK(has(step + R"(count{type="admit",operation="CREATE",rejected="true"} 1)"));
  CHECK(has(step + R"(bucket{type="validate",operation="CREATE",rejected="true",le="2.5"} 1)"));
  CHECK(has(step + R"(bucket{type="validate",operation="CREATE",rejected="true",le="0.005"} 1)"));
  CHECK(has(plugin + R"(count{name="a",type="admit",operation="CREATE",rejected="true"} 1)"));
  CHECK(has(plugin + R"(count{name="a",type="validate",operation="CREATE",rejected="true"} 1)"));
}

TEST_CASE("admission: each plugin, operation and outcome has a series of its own", "[admission]") {
  const auto registry = metrics::NewRegistry();
  const testing::FakeClock clock;
  std::vector<std::string> calls;
  const Operations both{kCreate, kUpdate};
  const admission::Chain chain({std::make_shared<Recorder>("a", calls, true, both),
                                std::make_shared<Recorder>("b", calls, false, both)},
                               *registry, clock);
  for (const admission::Operation operation : {kCreate, kUpdate, kUpdate}) {
    Attributes attributes = For(operation);
    CHECK_FALSE(chain.Admit(Context::Background(), attributes).ok());
  }
  const std::string text = registry->Serialize();
  const auto has = [&](const std::string& line) { return text.find(line) != std::string::npos; };
  const std::string count = "apiserver_admission_controller_admission_duration_seconds_count";
  CHECK(has(count + R"({name="a",type="admit",operation="CREATE",rejected="false"} 1)"));
  CHECK(has(count + R"({name="a",type="admit",operation="UPDATE",rejected="false"} 2)"));
  CHECK(has(count + R"({name="b",type="admit",operation="CREATE",rejected="true"} 1)"));
  CHECK(has(count + R"({name="b",type="admit",operation="UPDATE",rejected="true"} 2)"));
  CHECK_FALSE(has(R"(name="a",type="admit",operation="CREATE",rejected="true")"));
}
