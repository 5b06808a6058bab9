#include "apiserver/runtime/scheme.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using Words = std::vector<std::string>;

KindPtr KindOf(std::string group, std::string kind, std::string plural, const Words& versions) {
  KindOptions options;
  options.group = std::move(group);
  options.kind = std::move(kind);
  options.plural = std::move(plural);
  for (const std::string& name : versions) {
    KindVersion version;
    version.version = name;
    version.schema = testing::WithSpec(AnySchema());
    options.versions.push_back(std::move(version));
  }
  return Kind::New(std::move(options)).value();
}

TEST_CASE("runtime: apiVersion splits into group and version", "[runtime]") {
  CHECK(GroupVersion::Parse("apps/v1") == GroupVersion{"apps", "v1"});
  CHECK(GroupVersion::Parse("v1") == GroupVersion{"", "v1"});
  CHECK(GroupVersion::Parse("a/b/c").version.empty());
  CHECK(GroupVersion::Parse("").ToString().empty());
  CHECK(GroupVersion{"", "v1"}.ToString() == "v1");
  CHECK(GroupKind{"apps", "Deployment"}.ToString() == "Deployment.apps");
  CHECK(GroupResource{"", "pods"}.ToString() == "pods");
}

// TestCompareKubeAwareVersionStrings
TEST_CASE("runtime: versions are ordered as Kubernetes prefers them", "[runtime]") {
  Words versions = {"v1alpha1",  "foo10", "v1", "v11beta2", "v10beta3", "v3beta1",
                    "v12alpha1", "v10",   "v2", "foo1",     "v11alpha2"};
  std::sort(versions.begin(), versions.end(), VersionPreferred);
  CHECK(versions == Words{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1",
                          "v11alpha2", "v1alpha1", "foo1", "foo10"});
  CHECK_FALSE(VersionPreferred("v1gamma1", "v1alpha1"));
  CHECK_FALSE(VersionPreferred("v1", "v1"));
  CHECK_FALSE(VersionPreferred("v1beta", "v1alpha1"));
}

TEST_CASE("runtime: a scheme finds kinds by kind and by resource", "[runtime]") {
  Scheme scheme;
  REQUIRE(scheme.Add(KindOf("a.io", "Foo", "foos", {"v1", "v1beta1"})).ok());
  REQUIRE(scheme.Add(KindOf("", "Pod", "pods", {"v1"})).ok());
  const auto snapshot = scheme.snapshot();
  CHECK(snapshot->Find({"a.io", "v1beta1", "Foo"})->kind() == "Foo");
  CHECK(snapshot->Find({"a.io", "v2", "Foo"}) == nullptr);
  CHECK(snapshot->Find({"b.io", "v1", "Foo"}) == nullptr);
  CHECK(snapshot->FindByResource({"", "pods"})->kind() == "Pod");
  CHECK(snapshot->FindByResource({"a.io", "pods"}) == nullptr);
  CHECK(snapshot->groups() == Words{"a.io", ""});
}

TEST_CASE("runtime: adding a kind again replaces it and snapshots stay as they were", "[runtime]") {
  Scheme scheme;
  REQUIRE(scheme.Add(KindOf("a.io", "Foo", "foos", {"v1"})).ok());
  const auto before = scheme.snapshot();
  REQUIRE(scheme.Add(KindOf("a.io", "Foo", "foos", {"v2"})).ok());
  CHECK(before->versions("a.io") == Words{"v1"});
  CHECK(scheme.snapshot()->versions("a.io") == Words{"v2"});
  CHECK(scheme.snapshot()->kinds().size() == 1);
  scheme.Remove({"a.io", "Foo"});
  CHECK(scheme.snapshot()->kinds().empty());
  CHECK(scheme.snapshot()->FindByResource({"a.io", "foos"}) == nullptr);
}

TEST_CASE("runtime: a plural belongs to one kind", "[runtime]") {
  Scheme scheme;
  REQUIRE(scheme.Add(KindOf("a.io", "Foo", "foos", {"v1"})).ok());
  const Status status = scheme.Add(KindOf("a.io", "Bar", "foos", {"v1"}));
  CHECK(status.reason() == Reason::kInvalid);
  CHECK(status.message() == "foos.a.io belongs to kind \"Foo\", not to \"Bar\"");
}

TEST_CASE("runtime: versions of a group come in priority order", "[runtime]") {
  Scheme scheme;
  REQUIRE(scheme.Add(KindOf("a.io", "Foo", "foos", {"v1alpha1", "v2"})).ok());
  REQUIRE(scheme.Add(KindOf("a.io", "Bar", "bars", {"v1", "v2"})).ok());
  CHECK(scheme.snapshot()->versions("a.io") == Words{"v2", "v1", "v1alpha1"});
  scheme.SetVersionPriority("a.io", {"v1", "v9"});
  CHECK(scheme.snapshot()->versions("a.io") == Words{"v1", "v2", "v1alpha1"});
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
