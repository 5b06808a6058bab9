#include "apiserver/meta/validation.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace apiserver::inline v0::meta {
namespace {

using runtime::Member;
using runtime::Value;
using Members = std::vector<Member>;
using Values = std::vector<Value>;

const field::Path kField("field");

Value Text(std::string_view text) { return Value::String(text); }
Value Map(const Members& members) { return Value::Map(members); }
Value List(const Values& items) { return Value::List(items); }

std::vector<std::string> MessagesOf(const field::ErrorList& errors) {
  std::vector<std::string> messages;
  for (const field::Error& error : errors) messages.push_back(error.Message());
  return messages;
}

using Messages = std::vector<std::string>;

std::string A(std::size_t n) { return std::string(n, 'a'); }

constexpr const char* kSubdomainComplaint =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kNamePartComplaint =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

}  // namespace

// TestIsFullyQualifiedDomainName
TEST_CASE("meta: a fully qualified domain name is what Go takes for one", "[meta]") {
  const std::string long_front = A(63) + "." + A(63) + "." + A(63) + ".";
  for (const std::string& good :
       {std::string("a.com"), std::string("dev.k8s.io"), std::string("dev.k8s.io."),
        std::string("this.is.a.really.long.fqdn"), std::string("10.0.0.1"),
        std::string("hyphens-are-good.k8s.io"), A(63) + ".k8s.io",
        long_front + A(54) + ".k8s.io"}) {
    CAPTURE(good);
    CHECK(IsFullyQualifiedDomainName(kField, good).empty());
  }
  for (const std::string& bad :
       {std::string("."), std::string("..."), std::string(".io"), std::string("com"),
        std::string(".com"), std::string("Dev.k8s.io"), std::string(".foo.example.com"),
        std::string("*.example.com"), std::string("underscores_are_bad.k8s.io"),
        std::string("foo@bar.example.com"), std::string("http://foo.example.com"),
        A(64) + ".k8s.io", long_front + A(55) + ".k8s.io"}) {
    CAPTURE(bad);
    CHECK(IsFullyQualifiedDomainName(kField, bad).size() == 1);
  }
  CHECK(MessagesOf(IsFullyQualifiedDomainName(kField, "")) == Messages{"field: Required value"});
  CHECK(MessagesOf(IsFullyQualifiedDomainName(kField, "com")) ==
        Messages{"field: Invalid value: \"com\": should be a domain with at least two segments "
                 "separated by dots"});
}

// TestIsDNS1123Label
TEST_CASE("meta: a DNS-1123 label is what Go takes for one", "[meta]") {
  for (const std::string_view good :
       {"a", "ab", "abc", "a1", "a-1", "a--1--2--b", "0", "01", "012", "1a", "1-a", "1--a--b--2"}) {
    CAPTURE(good);
    CHECK(IsDNS1123Label(good).empty());
  }
  for (const std::string_view bad :
       {"",    "A",  "ABC", "aBc", "A1",  "A-1", "1-A", "-",   "a-", "-a", "1-",
        "-1",  "_",  "a_",  "_a",  "a_b", "1_",  "_1",  "1_2", ".",  "a.", ".a",
        "a.b", "1.", ".1",  "1.2", " ",   "a ",  " a",  "a b", "1 ", " 1", "1 2"}) {
    CAPTURE(bad);
    CHECK(IsDNS1123Label(bad).size() == 1);
  }
  CHECK(IsDNS1123Label(A(63)).empty());
  CHECK(IsDNS1123Label(A(64)) == Complaints{"must be no more than 63 characters"});
  CHECK(IsDNS1123Label("a.b") == Complaints{"must not contain dots"});
  CHECK(IsDNS1123Label("A") ==
        Complaints{"a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
                   "or '-', and must start and end with an alphanumeric character (e.g. "
                   "'my-name',  or '123-abc', regex used for validation is "
                   "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"});
}

// TestIsDNS1123Subdomain
TEST_CASE("meta: a DNS-1123 subdomain is what Go takes for one", "[meta]") {
  for (const std::string_view good : {"a",
                                      "ab",
                                      "abc",
                                      "a1",
                                      "a-1",
                                      "a--1--2--b",
                                      "0",
                                      "01",
                                      "012",
                                      "1a",
                                      "1-a",
                                      "1--a--b--2",
                                      "a.a",
                                      "ab.a",
                                      "abc.a",
                                      "a1.a",
                                      "a-1.a",
                                      "a--1--2--b.a",
                                      "a.1",
                                      "ab.1",
                                      "abc.1",
                                      "a1.1",
                                      "a-1.1",
                                      "a--1--2--b.1",
                                      "0.a",
                                      "01.a",
                                      "012.a",
                                      "1a.a",
                                      "1-a.a",
                                      "0.1",
                                      "01.1",
                                      "012.1",
                                      "1a.1",
                                      "1-a.1",
                                      "1--a--b--2.1",
                                      "a.b.c.d.e",
                                      "aa.bb.cc.dd.ee",
                                      "1.2.3.4.5",
                                      "11.22.33.44.55"}) {
    CAPTURE(good);
    CHECK(IsDNS1123Subdomain(good).empty());
  }
  for (const std::string_view bad :
       {"",     "A",    "ABC",  "aBc",  "A1",    "A-1",  "1-A",  "-",         "a-",        "-a",
        "1-",   "-1",   "_",    "a_",   "_a",    "a_b",  "1_",   "_1",        "1_2",       ".",
        "a.",   ".a",   "a..b", "1.",   ".1",    "1..2", " ",    "a ",        " a",        "a b",
        "1 ",   " 1",   "1 2",  "A.a",  "aB.a",  "ab.A", "A1.a", "a1.A",      "A.1",       "aB.1",
        "A1.1", "1A.1", "0.A",  "01.A", "012.A", "1A.a", "1a.A", "A.B.C.D.E", "a.B.c.d.e", "a@b",
        "a,b",  "a;b",  "a:b",  "a%b",  "a?b",   "a$b",  "a-.b", "a.-b"}) {
    CAPTURE(bad);
    CHECK(IsDNS1123Subdomain(bad) == Complaints{kSubdomainComplaint});
  }
  CHECK(IsDNS1123Subdomain(A(253)).empty());
  CHECK(IsDNS1123Subdomain(A(254)) == Complaints{"must be no more than 253 characters"});
}

// TestIsDNS1035Label
TEST_CASE("meta: a DNS-1035 label begins with a letter", "[meta]") {
  for (const std::string_view good : {"a", "ab", "abc", "a1", "a-1", "a--1--2--b"}) {
    CAPTURE(good);
    CHECK(IsDNS1035Label(good).empty());
  }
  for (const std::string_view bad : {"0", "01", "1a", "1-a", "", "A", "aBc", "-", "a-", "-a", "_",
                                     "a_b", ".", "a.", "a.b", " ", "a b"}) {
    CAPTURE(bad);
    CHECK(IsDNS1035Label(bad).size() == 1);
  }
  CHECK(IsDNS1035Label("1a") ==
        Complaints{"a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
                   "start with an alphabetic character, and end with an alphanumeric character "
                   "(e.g. 'my-name',  or 'abc-123', regex used for validation is "
                   "'[a-z]([-a-z0-9]*[a-z0-9])?')"});
}

// TestIsLabelKey
TEST_CASE("meta: a label key is what Go takes for one", "[meta]") {
  for (const std::string_view good :
       {std::string("simple"), std::string("now-with-dashes"), std::string("1-starts-with-num"),
        std::string("1234"), std::string("simple/simple"), std::string("now.with.dots/simple"),
        std::string("now-with.dashes-and.dots/simple"), std::string("1-num.2-num/3-num"),
        std::string("1.2.3.4/5678"), std::string("Uppercase_Is_OK_123"),
        std::string("example.com/Uppercase_Is_OK_123"), std::string("requests.storage-foo"), A(63),
        A(253) + "/" + A(63)}) {
    CAPTURE(good);
    CHECK(IsQualifiedName(good).empty());
  }
  CHECK(IsQualifiedName("nospecialchars%^=@") == Complaints{kNamePartComplaint});
  CHECK(IsQualifiedName("cantendwithadash-") == Complaints{kNamePartComplaint});
  CHECK(IsQualifiedName("-cantstartwithadash-") == Complaints{kNamePartComplaint});
  CHECK(IsQualifiedName("Example.com/abc") ==
        Complaints{std::string("prefix part ") + kSubdomainComplaint});
  CHECK(IsQualifiedName("example_com/abc").size() == 1);
  CHECK(IsQualifiedName("example.com/") ==
        Complaints{"name part must be non-empty", kNamePartComplaint});
  CHECK(IsQualifiedName("/simple") == Complaints{"prefix part must be non-empty"});
  CHECK(IsQualifiedName("") == Complaints{"name part must be non-empty", kNamePartComplaint});
  CHECK(IsQualifiedName(A(64)) == Complaints{"name part must be no more than 63 bytes"});
  CHECK(IsQualifiedName(A(254) + "/abc") ==
        Complaints{"prefix part must be no more than 253 bytes"});
  CHECK(IsQualifiedName("only/one/slash").size() == 1);
}

// TestIsLabelValue
TEST_CASE("meta: a label value is what Go takes for one", "[meta]") {
  for (const std::string_view good : {"simple", "now-with-dashes", "1-starts-with-num",
                                      "end-with-num-1", "1234", "", "123_-.BaR"}) {
    CAPTURE(good);
    CHECK(IsValidLabelValue(good).empty());
  }
  for (const std::string_view bad :
       {"nospecialchars%^=@", "Tama-nui-te-rā.is.Māori.sun", "\\backslashes\\are\\bad",
        "-starts-with-dash", "ends-with-dash-", ".starts.with.dot", "ends.with.dot."}) {
    CAPTURE(bad);
    CHECK(IsValidLabelValue(bad).size() == 1);
  }
  CHECK(IsValidLabelValue(A(63)).empty());
  CHECK(IsValidLabelValue(A(64)) == Complaints{"must be no more than 63 bytes"});
}

TEST_CASE("meta: a path segment has no slash and no percent sign", "[meta]") {
  CHECK(IsPathSegmentName("a").empty());
  CHECK(IsPathSegmentName("").empty());
  CHECK(IsPathSegmentName(".") == Complaints{"may not be '.'"});
  CHECK(IsPathSegmentName("..") == Complaints{"may not be '..'"});
  CHECK(IsPathSegmentName("a/%b") == Complaints{"may not contain '/'", "may not contain '%'"});
  CHECK(ValidatePathSegmentName(".", true).empty());
  CHECK(ValidatePathSegmentName(".", false) == Complaints{"may not be '.'"});
}

// TestValidateObjectMetaTrimsTrailingDash
TEST_CASE("meta: a generateName may end in a dash, a name may not", "[meta]") {
  CHECK(NameIsDNSSubdomain("foo-", true).empty());
  CHECK(NameIsDNSLabel("foo-", true).empty());
  CHECK(NameIsDNS1035Label("foo-", true).empty());
  CHECK(NameIsDNSSubdomain("foo-", false).size() == 1);
  CHECK(NameIsDNSLabel("-", true).size() == 1);
}

// TestValidateObjectMetaCustomName
TEST_CASE("meta: name and generateName are judged by the kind's own rules", "[meta]") {
  const NameValidator only_test = [](std::string_view name, bool) {
    return name == "test" ? Complaints{} : Complaints{"wrong value"};
  };
  const auto judge = [&](const char* name, const char* generate_name) {
    const Members metadata = {{"name", Text(name)}, {"generateName", Text(generate_name)}};
    return MessagesOf(ValidateObjectMeta(Map(metadata), false, only_test, kField));
  };

  CHECK(judge("test", "").empty());
  CHECK(judge("test", "test").empty());
  CHECK(judge("invalid", "") == Messages{R"(field.name: Invalid value: "invalid": wrong value)"});
  CHECK(judge("invalid", "invalid") ==
        Messages{R"(field.generateName: Invalid value: "invalid": wrong value)",
                 R"(field.name: Invalid value: "invalid": wrong value)"});
  CHECK(judge("", "") == Messages{"field.name: Required value: name or generateName is required"});
}

// TestValidateObjectMetaNamespaces
TEST_CASE("meta: a namespace is required, forbidden or must be a label", "[meta]") {
  const auto judge = [&](const char* name, bool namespaced) {
    const Members metadata = {{"name", Text("test")}, {"namespace", Text(name)}};
    return MessagesOf(ValidateObjectMeta(Map(metadata), namespaced, NameIsDNSSubdomain, kField));
  };

  CHECK(judge("foo", true).empty());
  CHECK(judge("", false).empty());
  CHECK(judge("foo.bar", true) ==
        Messages{R"(field.namespace: Invalid value: "foo.bar": must not contain dots)"});
  CHECK(judge("", true) == Messages{"field.namespace: Required value"});
  CHECK(judge("foo", false) == Messages{"field.namespace: Forbidden: not allowed on this type"});
}

TEST_CASE("meta: a negative generation is refused", "[meta]") {
  const Members metadata = {{"name", Text("test")}, {"generation", Value::Int(-1)}};

  CHECK(MessagesOf(ValidateObjectMeta(Map(metadata), false, NameIsDNSSubdomain, kField)) ==
        Messages{"field.generation: Invalid value: -1: must be greater than or equal to 0"});
}

// TestValidateLabels
TEST_CASE("meta: keys and values of labels are judged", "[meta]") {
  const auto judge = [](const std::string& key, const std::string& value) {
    const Members labels = {{key, Text(value)}};
    return MessagesOf(ValidateLabels(Map(labels), kField));
  };

  CHECK(judge("UpperCaseAreOK123", "bar").empty());
  CHECK(judge("goodvalue", "123_-.BaR").empty());
  CHECK(
      judge("cantendwithadash-", "bar") ==
      Messages{std::string(R"(field: Invalid value: "cantendwithadash-": )") + kNamePartComplaint});
  CHECK(judge(A(64), "bar").size() == 1);
  CHECK(judge("toolongvalue", A(64)) ==
        Messages{"field: Invalid value: \"" + A(64) + "\": must be no more than 63 bytes"});
  CHECK(judge("nocommasallowed", "bad,value").size() == 1);
  CHECK(ValidateLabels(Value(), kField).empty());
}

// TestValidateAnnotations
TEST_CASE("meta: annotations have keys like labels, in any case, and a total size", "[meta]") {
  const auto judge = [](const Members& annotations) {
    return MessagesOf(ValidateAnnotations(Map(annotations), kField));
  };
  const std::string half(kTotalAnnotationBytesMax / 2, 'b');
  const std::string fits(kTotalAnnotationBytesMax - 1, 'b');

  CHECK(judge({{"UpperCase.Prefix/Name", Text("any, value")}}).empty());
  CHECK(judge({{"a", Text(fits)}}).empty());
  CHECK(
      judge({{"nospecialchars^=@", Text("bar")}}) ==
      Messages{std::string(R"(field: Invalid value: "nospecialchars^=@": )") + kNamePartComplaint});
  CHECK(judge({{"a", Text(half)}, {"c", Text(half)}}) ==
        Messages{"field: Too long: may not be more than 262144 bytes"});
}

// TestValidateObjectMetaOwnerReferences
TEST_CASE("meta: an owner reference is judged as in Go", "[meta]") {
  const auto judge = [](const char* api_version, const char* kind, const char* name) {
    const Members reference = {{"apiVersion", Text(api_version)},
                               {"kind", Text(kind)},
                               {"name", Text(name)},
                               {"uid", Text("1")}};
    const Values references = {Map(reference)};
    return MessagesOf(ValidateOwnerReferences(List(references), kField));
  };

  CHECK(judge("customresourceVersion", "customresourceKind", "name").empty());
  CHECK(judge("v1", "Pod", "name").empty());
  CHECK(judge("apps/v1", "Deployment", "name").empty());
  CHECK(judge("v1", "Event", "name") ==
        Messages{R"(field: Invalid value: {"apiVersion":"v1","kind":"Event","name":"name",)"
                 R"("uid":"1"}: /v1, Kind=Event is disallowed from being an owner)"});
  CHECK(judge("/v1", "Event", "name").size() == 1);
  CHECK(judge("events.k8s.io/v1", "Event", "name").empty());
  CHECK(judge("a/b/c", "Pod", "name") ==
        Messages{R"(field.apiVersion: Invalid value: "a/b/c": version must not be empty)"});
  CHECK(judge("foo/", "Pod", "name").size() == 1);
  CHECK(judge("", "", "") ==
        Messages{R"(field.apiVersion: Invalid value: "": version must not be empty)",
                 R"(field.kind: Invalid value: "": must not be empty)",
                 R"(field.name: Invalid value: "": must not be empty)"});
}

TEST_CASE("meta: only one owner may be the controller", "[meta]") {
  const auto reference = [](const char* kind, bool controller) {
    return Members{{"apiVersion", Text("v1")},
                   {"kind", Text(kind)},
                   {"name", Text("name")},
                   {"uid", Text("1")},
                   {"controller", Value::Bool(controller)}};
  };
  const Members one = reference("one", false);
  const Members two = reference("two", true);
  const Members three = reference("three", true);
  const Values good = {Map(one), Map(two)};
  const Values bad = {Map(two), Map(three)};

  CHECK(ValidateOwnerReferences(List(good), kField).empty());
  const field::ErrorList errors = ValidateOwnerReferences(List(bad), kField);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].detail ==
        "Only one reference can have Controller set to true. Found \"true\" in references for "
        "two/name and three/name");
}

TEST_CASE("meta: of thousands of controllers some are named", "[meta]") {
  std::vector<Members> members;
  Values references;
  members.reserve(5'000);
  for (int i = 0; i < 5'000; ++i) {
    members.push_back({{"apiVersion", Text("v1")},
                       {"kind", Text("Pod")},
                       {"name", Text("name")},
                       {"uid", Text("1")},
                       {"controller", Value::Bool(true)}});
    references.push_back(Map(members.back()));
  }

  const field::ErrorList errors = ValidateOwnerReferences(List(references), kField);

  // 64 KiB of text; each shows 8 KiB of the list, and the list is printed once.
  CHECK(errors.size() == 8);
  CHECK(errors.more() == 4'991);
}

TEST_CASE("meta: what is wrong in the same way with all owners is said once", "[meta]") {
  const Values references(900'000, Map({}));

  const field::ErrorList errors = ValidateOwnerReferences(List(references), kField);

  CHECK(errors.full());
  CHECK(errors.Aggregate() ==
        R"([field.apiVersion: Invalid value: "": version must not be empty, )"
        R"(field.kind: Invalid value: "": must not be empty, )"
        R"(field.name: Invalid value: "": must not be empty, )"
        R"(field.uid: Invalid value: "": must not be empty, and at least 10000 more])");
}

// TestValidateFinalizersPreventConflictingFinalizers
TEST_CASE("meta: finalizers are qualified names, and two of them exclude each other", "[meta]") {
  const Values both = {Text("orphan"), Text("foregroundDeletion")};
  const Values good = {Text("example.com/x"), Text("orphan")};
  const Values bad = {Text("a b")};

  CHECK(ValidateFinalizers(List(good), kField).empty());
  CHECK(MessagesOf(ValidateFinalizers(List(both), kField)) ==
        Messages{R"(field: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and )"
                 "foregroundDeletion cannot be both set"});
  CHECK(ValidateFinalizers(List(bad), kField).size() == 1);
}

// TestValidateManagedFieldsInvalid
TEST_CASE("meta: managed fields entries are judged as in Go", "[meta]") {
  const std::string long_subresource = A(257);
  const Members good = {{"manager", Text("m")},
                        {"operation", Text("Apply")},
                        {"fieldsType", Text("FieldsV1")},
                        {"subresource", Text("status")}};
  const Members bad = {{"operation", Text("RandomVerb")},
                       {"fieldsType", Text("RandomVersion")},
                       {"subresource", Text(long_subresource)}};
  const Values good_list = {Map(good)};
  const Values bad_list = {Map(good), Map(bad), Map({})};

  CHECK(ValidateManagedFields(List(good_list), kField).empty());
  CHECK(MessagesOf(ValidateManagedFields(List(bad_list), kField)) ==
        Messages{R"(field[1].operation: Unsupported value: "RandomVerb": supported values: )"
                 R"("Apply", "Update")",
                 R"(field[1].fieldsType: Invalid value: "RandomVersion": must be `FieldsV1`)",
                 "field[1].subresource: Too long: may not be more than 256 bytes",
                 "field[2].operation: Required value: must not be empty"});
}

// TestValidateFieldManagerValid, TestValidateFieldManagerInvalid
TEST_CASE("meta: a field manager is short and printable", "[meta]") {
  const auto judge = [](std::string_view manager) {
    return MessagesOf(ValidateFieldManager(manager, kField));
  };

  CHECK(judge("filedManager").empty());
  CHECK(judge("你好").empty());
  CHECK(judge("🍔").empty());
  CHECK(judge("\"\\").empty());
  CHECK(judge("").empty());
  CHECK(judge("field\nmanager") ==
        Messages{R"(field: Invalid value: "field\nmanager": invalid character U+000A (at )"
                 "position 5)"});
  CHECK(judge("a\u200bb").size() == 1);
  CHECK(judge("\xff").empty());
  CHECK(judge(A(128)).empty());
  CHECK(judge(A(129)) == Messages{"field: Too long: may not be more than 128 bytes"});
}

// --- Updates ---

namespace {

const Members kBase = {{"name", Text("test")}, {"resourceVersion", Text("1")}};

Members BaseWith(std::vector<Member> more) {
  Members members = kBase;
  members.insert(members.end(), more.begin(), more.end());
  return members;
}

Messages Update(const Members& now, const Members& before) {
  return MessagesOf(ValidateObjectMetaUpdate(Map(now), Map(before), kField));
}

}  // namespace

TEST_CASE("meta: an update that changes nothing is valid", "[meta]") {
  CHECK(Update(kBase, kBase).empty());
  CHECK(Update(BaseWith({{"namespace", Text("")}}), kBase).empty());
}

TEST_CASE("meta: an update must carry a resource version", "[meta]") {
  CHECK(Update({{"name", Text("test")}}, kBase) ==
        Messages{R"(field.resourceVersion: Invalid value: "": must be specified for an update)"});
}

TEST_CASE("meta: identity cannot be changed by an update", "[meta]") {
  CHECK(Update({{"name", Text("other")},
                {"namespace", Text("ns")},
                {"uid", Text("u")},
                {"resourceVersion", Text("1")}},
               kBase) == Messages{R"(field.name: Invalid value: "other": field is immutable)",
                                  R"(field.namespace: Invalid value: "ns": field is immutable)",
                                  R"(field.uid: Invalid value: "u": field is immutable)"});
}

// TestValidateObjectMetaUpdateIgnoresCreationTimestamp
TEST_CASE("meta: the creation time cannot be changed by an update", "[meta]") {
  const Members created = BaseWith({{"creationTimestamp", Text("1970-01-01T00:00:10Z")}});
  const Members later = BaseWith({{"creationTimestamp", Text("1970-01-01T00:00:11Z")}});

  CHECK(Update(kBase, created) ==
        Messages{"field.creationTimestamp: Invalid value: null: field is immutable"});
  CHECK(Update(created, kBase).size() == 1);
  CHECK(Update(later, created) ==
        Messages{R"(field.creationTimestamp: Invalid value: "1970-01-01T00:00:11Z": field is )"
                 "immutable"});
}

// TestValidateObjectMetaUpdatePreventsDeletionFieldMutation
TEST_CASE("meta: the deletion fields cannot be changed by an update", "[meta]") {
  const Members now = BaseWith({{"deletionTimestamp", Text("1970-01-01T00:16:40Z")}});
  const Members later = BaseWith({{"deletionTimestamp", Text("1970-01-01T00:33:20Z")}});
  const Members grace30 = BaseWith({{"deletionGracePeriodSeconds", Value::Int(30)}});
  const Members grace40 = BaseWith({{"deletionGracePeriodSeconds", Value::Int(40)}});

  CHECK(Update(now, now).empty());
  CHECK(Update(now, kBase) ==
        Messages{R"(field.deletionTimestamp: Invalid value: "1970-01-01T00:16:40Z": field is )"
                 "immutable"});
  CHECK(Update(kBase, now) ==
        Messages{"field.deletionTimestamp: Invalid value: null: field is immutable"});
  CHECK(Update(later, now).size() == 1);
  CHECK(Update(grace30, kBase) ==
        Messages{"field.deletionGracePeriodSeconds: Invalid value: 30: field is immutable"});
  CHECK(Update(kBase, grace30) ==
        Messages{"field.deletionGracePeriodSeconds: Invalid value: null: field is immutable"});
  CHECK(Update(grace40, grace30) ==
        Messages{"field.deletionGracePeriodSeconds: Invalid value: 40: field is immutable"});
}

// TestObjectMetaGenerationUpdate
TEST_CASE("meta: the generation cannot be decremented by an update", "[meta]") {
  const Members five = BaseWith({{"generation", Value::Int(5)}});
  const Members four = BaseWith({{"generation", Value::Int(4)}});

  CHECK(Update(four, five) ==
        Messages{"field.generation: Invalid value: 4: must not be decremented"});
  CHECK(Update(five, four).empty());
  CHECK(Update(five, five).empty());
}

// TestValidateFinalizersUpdate
TEST_CASE("meta: no finalizer can be added to an object that is being deleted", "[meta]") {
  const Values a = {Text("x/a")};
  const Values ab = {Text("x/a"), Text("y/b"), Text("z/c")};
  const Members deleting_a = BaseWith({{"deletionTimestamp", Text("t")}, {"finalizers", List(a)}});
  const Members deleting_ab =
      BaseWith({{"deletionTimestamp", Text("t")}, {"finalizers", List(ab)}});

  CHECK(Update(deleting_ab, deleting_a) ==
        Messages{"field.finalizers: Forbidden: no new finalizers can be added if the object is "
                 R"(being deleted, found new finalizers []string{"y/b", "z/c"})"});
  CHECK(Update(deleting_a, deleting_ab).empty());
  CHECK(Update(BaseWith({{"finalizers", List(ab)}}), BaseWith({{"finalizers", List(a)}})).empty());
}

}  // namespace apiserver::inline v0::meta
