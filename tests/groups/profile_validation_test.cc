// Profiles of seccomp and AppArmor, and options of Windows: rows of
// TestValidateSeccompAnnotationAndField, TestValidateSeccompAnnotationsAndFieldsMatch,
// TestValidateAppArmorProfileFormat, TestValidateWindowsSecurityContextOptions and
// TestValidateWindowsHostProcessPod (apis/core/validation).
#include "groups/core/profile_validation.h"

#include "groups/core/security_validation.h"
#include "groups/core/windows_validation.h"
#include "groups/value_rows.h"

namespace profile_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::CheckValueRows;
using testing::ValueRow;

// Takes {"annotations":…,"spec":…}.
testing::CheckValue OfAnnotations(void (*check)(runtime::Value, runtime::Value, const field::Path&,
                                                field::ErrorList&)) {
  return [check](runtime::Value pod, const field::Path& path, field::ErrorList& errors) {
    check(pod["annotations"], pod["spec"], path, errors);
  };
}

}  // namespace

TEST_CASE("groups: profiles of seccomp", "[groups]") {
  const ValueRow rows[] = {
      {"no profile", "null"},
      {"the runtime's", R"({"type":"RuntimeDefault"})"},
      {"none", R"({"type":"Unconfined"})"},
      {"a file", R"({"type":"Localhost","localhostProfile":"a/b.json"})"},
      {"no type", "{}", "Required f.type"},
      {"a type that is none", R"({"type":"Default"})", "NotSupported f.type"},
      {"no file", R"({"type":"Localhost"})", "Required f.localhostProfile"},
      {"an empty file", R"({"type":"Localhost","localhostProfile":""})"},
      {"a file from the root", R"({"type":"Localhost","localhostProfile":"/a"})",
       "Invalid f.localhostProfile"},
      {"a file above", R"({"type":"Localhost","localhostProfile":"a/../../b"})",
       "Invalid f.localhostProfile"},
      {"a file for nothing", R"({"type":"RuntimeDefault","localhostProfile":"a"})",
       "Invalid f.localhostProfile"}};
  CheckValueRows(rows, &groups::core::CheckSeccompProfile);
}

TEST_CASE("groups: profiles of AppArmor", "[groups]") {
  const std::string long_name =
      R"({"type":"Localhost","localhostProfile":")" + std::string(4096, 'a') + "\"}";
  const std::string longest =
      R"({"type":"Localhost","localhostProfile":")" + std::string(4095, 'a') + "\"}";
  const ValueRow rows[] = {
      {"no profile", "null"},
      {"the runtime's", R"({"type":"RuntimeDefault"})"},
      {"none", R"({"type":"Unconfined"})"},
      {"one by name", R"({"type":"Localhost","localhostProfile":"my profile"})"},
      {"the longest name", longest.c_str()},
      {"a longer name", long_name.c_str(), "TooLong f.localhostProfile"},
      {"no type", "{}", "Required f.type"},
      {"a type that is none", R"({"type":"Default"})", "NotSupported f.type"},
      {"no name", R"({"type":"Localhost"})", "Required f.localhostProfile"},
      {"an empty name", R"({"type":"Localhost","localhostProfile":""})",
       "Required f.localhostProfile"},
      {"a padded name", R"({"type":"Localhost","localhostProfile":" a"})",
       "Invalid f.localhostProfile"},
      {"a name of blanks", R"({"type":"Localhost","localhostProfile":"  "})",
       "Invalid f.localhostProfile"},
      {"a name for nothing", R"({"type":"Unconfined","localhostProfile":"a"})",
       "Invalid f.localhostProfile"}};
  CheckValueRows(rows, &groups::core::CheckAppArmorProfile);
}

TEST_CASE("groups: what annotations of profiles may be", "[groups]") {
  const ValueRow rows[] = {
      {"no annotations", "{}"},
      {"of a pod",
       R"({"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"runtime/default"}})"},
      {"of a pod, the old word",
       R"({"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"docker/default"}})"},
      {"of a container",
       R"({"annotations":{"container.seccomp.security.alpha.kubernetes.io/foo":"localhost/a"}})"},
      {"must be a valid seccomp profile",
       R"({"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"default"}})",
       "Invalid f.seccomp.security.alpha.kubernetes.io/pod"},
      {"no file above",
       R"({"annotations":{"container.seccomp.security.alpha.kubernetes.io/foo":"localhost/../a"}})",
       "Invalid f.container.seccomp.security.alpha.kubernetes.io/foo"},
      {"of AppArmor",
       R"({"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"runtime/default",
           "container.apparmor.security.beta.kubernetes.io/i":"unconfined",
           "container.apparmor.security.beta.kubernetes.io/e":"localhost/foo"},
           "spec":{"containers":[{"name":"c"}],"initContainers":[{"name":"i"}],
           "ephemeralContainers":[{"name":"e"}]}})"},
      {"of a container that is not there",
       R"({"annotations":{"container.apparmor.security.beta.kubernetes.io/x":"unconfined"},
           "spec":{"containers":[{"name":"c"}]}})",
       "Invalid f[container.apparmor.security.beta.kubernetes.io/x]"},
      {"a profile that is none",
       R"({"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"bad-prefix/foo"},
           "spec":{"containers":[{"name":"c"}]}})",
       "Invalid f[container.apparmor.security.beta.kubernetes.io/c]"}};
  CheckValueRows(rows, OfAnnotations(&groups::core::CheckProfileAnnotationSyntax));
}

TEST_CASE("groups: annotations of profiles say what the fields say", "[groups]") {
  const ValueRow rows[] = {
      {"the same",
       R"({"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"unconfined"},
           "spec":{"securityContext":{"seccompProfile":{"type":"Unconfined"}}}})"},
      {"the old word",
       R"({"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"docker/default"},
           "spec":{"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}}})"},
      {"the annotation alone",
       R"({"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"unconfined"},"spec":{}})"},
      {"another type",
       R"({"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"unconfined"},
           "spec":{"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}}})",
       "Forbidden f.securityContext.seccompProfile.type"},
      {"another file",
       R"({"annotations":{"container.seccomp.security.alpha.kubernetes.io/c":"localhost/a"},
           "spec":{"containers":[{"name":"c","securityContext":{"seccompProfile":{
           "type":"Localhost","localhostProfile":"b"}}}]}})",
       "Forbidden f.containers[0].securityContext.seccompProfile.localhostProfile"},
      {"another container",
       R"({"annotations":{"container.seccomp.security.alpha.kubernetes.io/d":"localhost/a"},
           "spec":{"containers":[{"name":"c","securityContext":{"seccompProfile":{
           "type":"Localhost","localhostProfile":"b"}}}]}})"},
      {"AppArmor of the pod",
       R"({"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"},
           "spec":{"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},
           "containers":[{"name":"c"}]}})",
       "Forbidden f.containers[0].securityContext.appArmorProfile.type"},
      {"AppArmor of the container, which counts",
       R"({"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"},
           "spec":{"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},
           "containers":[{"name":"c","securityContext":{"appArmorProfile":{
           "type":"Unconfined"}}}]}})"},
      {"Windows has no AppArmor",
       R"({"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"},
           "spec":{"os":{"name":"windows"},"securityContext":{"appArmorProfile":{
           "type":"RuntimeDefault"}},"containers":[{"name":"c"}]}})"}};
  CheckValueRows(rows, OfAnnotations(&groups::core::CheckProfileAnnotations));
}

// TestValidateWindowsSecurityContextOptions.
TEST_CASE("groups: options of Windows", "[groups]") {
  const auto user = [](const std::string& name) {
    runtime::Arena arena;
    std::string json = R"({"runAsUserName":)";
    codec::AppendJsonString(name, json);
    json += "}";
    field::ErrorList errors;
    groups::core::CheckWindowsOptions(codec::ParseJson(json, arena).value(), field::Path("f"),
                                      errors);
    return testing::FindingsText(errors);
  };
  const std::string letters(300, 'a');
  for (const std::string& name :
       {std::string("user"), std::string("domain\\user"), std::string("FOOLISH\\BLEPPY"),
        std::string("test.example.com\\User"), std::string("NetBIOS_Name\\u ser"),
        letters.substr(0, 104), letters.substr(0, 63) + "." + letters.substr(0, 63) + "\\u"}) {
    INFO(name);
    CHECK(user(name).empty());
  }
  const std::string invalid = "Invalid f.runAsUserName";
  for (const std::string& name :
       {std::string(), std::string("\\u"), std::string("u\tser"), std::string("\x7fu"),
        std::string("a\\b\\c"), std::string("dom\\"), std::string(".."), std::string(". . "),
        std::string("-bad-domain-name-\\u"), std::string("bad=user"), std::string("u/ser"),
        letters.substr(0, 105), letters.substr(0, 64) + "\\u", std::string(".netbios\\u")}) {
    INFO(name);
    CHECK(user(name) == invalid);
  }
  CHECK(user(letters.substr(0, 256) + "\\u") == invalid + ", " + invalid);
  const std::string too_long = R"({"gmsaCredentialSpec":")" + std::string(65537, 'a') + "\"}";
  const ValueRow rows[] = {
      {"no options", "null"},
      {"a name of a specification", R"({"gmsaCredentialSpecName":"dummy-gmsa.crd"})"},
      {"a name that is none", R"({"gmsaCredentialSpecName":"invalid_name"})",
       "Invalid f.gmsaCredentialSpecName"},
      {"an empty specification", R"({"gmsaCredentialSpec":""})", "Invalid f.gmsaCredentialSpec"},
      {"a large specification", too_long.c_str(), "Invalid f.gmsaCredentialSpec"}};
  CheckValueRows(rows, &groups::core::CheckWindowsOptions);
}

// TestValidateWindowsHostProcessPod.
TEST_CASE("groups: a pod of host processes has nothing else", "[groups]") {
  const ValueRow rows[] = {
      {"none", R"({"containers":[{"name":"a"}]})"},
      {"all, by the pod",
       R"({"hostNetwork":true,"securityContext":{"windowsOptions":{"hostProcess":true}},
           "containers":[{},{}],"initContainers":[{}]})"},
      {"all, each by itself",
       R"({"hostNetwork":true,"containers":[
           {"securityContext":{"windowsOptions":{"hostProcess":true}}},
           {"securityContext":{"windowsOptions":{"hostProcess":true}}}]})"},
      {"some",
       R"({"hostNetwork":true,"containers":[
           {"securityContext":{"windowsOptions":{"hostProcess":true}}},{}]})",
       "Invalid f"},
      {"not on the host's network",
       R"({"securityContext":{"windowsOptions":{"hostProcess":true}},"containers":[{}]})",
       "Invalid f.hostNetwork"},
      {"a container says otherwise",
       R"({"hostNetwork":true,"securityContext":{"windowsOptions":{"hostProcess":true}},
           "containers":[{},{"securityContext":{"windowsOptions":{"hostProcess":false}}}]})",
       "Invalid f.containers[1].securityContext.windowsOptions.hostProcess, Invalid f"},
      {"a container says otherwise, and nobody is one",
       R"({"securityContext":{"windowsOptions":{"hostProcess":false}},"containers":[
           {"securityContext":{"windowsOptions":{"hostProcess":false}}}]})"}};
  CheckValueRows(rows, &groups::core::CheckHostProcesses);
}

}  // namespace profile_rows_test
