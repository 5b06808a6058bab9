// Security contexts of pods and containers: rows of TestValidateSecurityContext,
// TestValidateSysctls, TestIsValidSysctlName, TestValidateHostUsers, TestValidateOSFields,
// TestValidateSELinuxChangePolicy and TestValidatePodSpec (apis/core/validation).
#include "groups/core/security_validation.h"

#include "groups/value_rows.h"

namespace security_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::CheckValueRows;
using testing::ValueRow;

void CheckOfPod(runtime::Value spec, const field::Path& path, field::ErrorList& errors) {
  groups::core::CheckPodSecurityContext(spec, /*had_policy=*/false, path, errors);
}

}  // namespace

TEST_CASE("groups: security contexts of containers", "[groups]") {
  const auto check = [](runtime::Value context, const field::Path& path, field::ErrorList& errors) {
    groups::core::CheckSecurityContext(context, /*host_users=*/true, path, errors);
  };
  const ValueRow rows[] = {
      {"no context", "null"},
      {"all settings",
       R"({"privileged":false,"capabilities":{"add":["foo"],"drop":["bar"]},"runAsUser":1,
           "runAsGroup":1,"seLinuxOptions":{"user":"user","role":"role","type":"type",
           "level":"level"},"procMount":"Default","seccompProfile":{"type":"RuntimeDefault"},
           "appArmorProfile":{"type":"Unconfined"}})"},
      {"no capabilities", R"({"runAsUser":1})"},
      {"the bounds of ids", R"({"runAsUser":0,"runAsGroup":2147483647})"},
      {"negative RunAsUser", R"({"runAsUser":-1})", "Invalid f.runAsUser"},
      {"too large RunAsGroup", R"({"runAsGroup":2147483648})", "Invalid f.runAsGroup"},
      {"privileged may escalate", R"({"privileged":true,"allowPrivilegeEscalation":true})"},
      {"with CAP_SYS_ADMIN allowPrivilegeEscalation false",
       R"({"capabilities":{"add":["CAP_SYS_ADMIN"]},"allowPrivilegeEscalation":false})",
       "Invalid f"},
      {"with privileged and allowPrivilegeEscalation false",
       R"({"privileged":true,"allowPrivilegeEscalation":false})", "Invalid f"},
      {"with unmasked proc mount type and no user namespace", R"({"procMount":"Unmasked"})",
       "Invalid f.procMount"},
      {"a mount of proc that is none", R"({"procMount":"Masked"})", "NotSupported f.procMount"},
      {"a profile without its file", R"({"seccompProfile":{"type":"Localhost"}})",
       "Required f.seccompProfile.localhostProfile"},
      {"no type of profile", R"({"appArmorProfile":{},"seccompProfile":{}})",
       "Required f.seccompProfile.type, Required f.appArmorProfile.type"}};
  CheckValueRows(rows, check);
}

TEST_CASE("groups: a pod with users of its own may unmask proc", "[groups]") {
  const auto check = [](runtime::Value context, const field::Path& path, field::ErrorList& errors) {
    groups::core::CheckSecurityContext(context, /*host_users=*/false, path, errors);
  };
  const ValueRow rows[] = {
      {"unmasked", R"({"procMount":"Unmasked"})"},
      {"none that there is", R"({"procMount":""})", "NotSupported f.procMount"}};
  CheckValueRows(rows, check);
}

TEST_CASE("groups: security contexts of pods", "[groups]") {
  const ValueRow rows[] = {
      {"nothing", "{}"},
      {"all settings",
       R"({"securityContext":{"supplementalGroups":[0,2147483647],"runAsUser":1,"runAsGroup":1,
           "fsGroup":3,"fsGroupChangePolicy":"OnRootMismatch","supplementalGroupsPolicy":"Strict",
           "seLinuxChangePolicy":"Recursive","sysctls":[{"name":"net.core.somaxconn",
           "value":"1"}]},"hostIPC":true})"},
      {"bad supplementalGroups large than math.MaxInt32",
       R"({"securityContext":{"supplementalGroups":[2147483648,1234]}})",
       "Invalid f.securityContext.supplementalGroups[0]"},
      {"bad supplementalGroups less than 0",
       R"({"securityContext":{"supplementalGroups":[1234,-1]}})",
       "Invalid f.securityContext.supplementalGroups[1]"},
      {"bad runAsUser, runAsGroup and fsGroup",
       R"({"securityContext":{"runAsUser":2147483648,"runAsGroup":-1,"fsGroup":-1}})",
       "Invalid f.securityContext.fsGroup, Invalid f.securityContext.runAsUser, "
       "Invalid f.securityContext.runAsGroup"},
      {"bad fsGroupChangePolicy", R"({"securityContext":{"fsGroupChangePolicy":"invalid"}})",
       "NotSupported f.securityContext.fsGroupChangePolicy"},
      {"bad supplementalGroupsPolicy", R"({"securityContext":{"supplementalGroupsPolicy":"x"}})",
       "NotSupported f.securityContext.supplementalGroupsPolicy"},
      {"the policy of a feature that is off",
       R"({"securityContext":{"seLinuxChangePolicy":"MountOption"}})",
       "NotSupported f.securityContext.seLinuxChangePolicy"},
      {"processes shared with the host and among containers",
       R"({"shareProcessNamespace":true,"hostPID":true})",
       "Invalid f.securityContext.shareProcessNamespace"},
      {"processes shared among containers", R"({"shareProcessNamespace":true,"hostPID":false})"}};
  CheckValueRows(rows, &CheckOfPod);
}

TEST_CASE("groups: a policy for SELinux that a pod has may stay", "[groups]") {
  const auto check = [](runtime::Value spec, const field::Path& path, field::ErrorList& errors) {
    groups::core::CheckPodSecurityContext(spec, /*had_policy=*/true, path, errors);
  };
  const ValueRow rows[] = {
      {"it was there", R"({"securityContext":{"seLinuxChangePolicy":"MountOption"}})"},
      {"another", R"({"securityContext":{"seLinuxChangePolicy":"Always"}})",
       "NotSupported f.securityContext.seLinuxChangePolicy"}};
  CheckValueRows(rows, check);
}

// TestIsValidSysctlName, TestValidateSysctls.
TEST_CASE("groups: names of sysctls", "[groups]") {
  const std::string long_name(256, 'a');
  const char* const valid[] = {"a.b.c.d",
                               "a",
                               "a_b",
                               "a-b",
                               "abc",
                               "abc.def",
                               "a/b/c/d",
                               "a/b.c",
                               "kernel.shmmax",
                               "kernel.shmmax1",
                               "net.ipv4.conf.enp3s0/200.forwarding",
                               "net/ipv4/conf/enp3s0.200/forwarding"};
  const char* const invalid[] = {"",    "*",   "ä",  "a_", "_",    "__",   "_a",  "_a._b",
                                 "-",   ".",   "a.", ".a", "a.b.", "a*.b", "a*b", "*a",
                                 "a.*", "*.a", "/",  "a/", "/a",   "a*",   "A",   "kernel..x"};
  const auto found = [](const std::string& name) {
    runtime::Arena arena;
    const std::string json = R"({"securityContext":{"sysctls":[{"name":")" + name + R"("}]}})";
    const auto spec = codec::ParseJson(json, arena);
    field::ErrorList errors;
    CheckOfPod(spec.value(), field::Path("f"), errors);
    return testing::FindingsText(errors);
  };
  for (const char* name : valid) {
    INFO(name);
    CHECK(found(name).empty());
  }
  for (const char* name : invalid) {
    INFO(name);
    CHECK(found(name) == std::string(*name == '\0' ? "Required" : "Invalid") +
                             " f.securityContext.sysctls[0].name");
  }
  CHECK(found(long_name) == "Invalid f.securityContext.sysctls[0].name");
  CHECK(found(long_name.substr(3)).empty());
}

TEST_CASE("groups: sysctls of what a pod shares with its host", "[groups]") {
  const ValueRow rows[] = {
      {"twice the same",
       R"({"securityContext":{"sysctls":[{"name":"kernel.msgmax"},{"name":"kernel.msgmax"}]}})",
       "Duplicate f.securityContext.sysctls[1].name"},
      {"of the network, shared",
       R"({"hostNetwork":true,"securityContext":{"sysctls":[{"name":"net.ipv4.ip_local_port_range"},
           {"name":"net/ipv4/tcp_syncookies"},{"name":"kernel.msgmax"}]}})",
       "Invalid f.securityContext.sysctls[0].name, Invalid f.securityContext.sysctls[1].name"},
      {"of the network, its own",
       R"({"hostIPC":true,"securityContext":{"sysctls":[{"name":"net.core.somaxconn"}]}})"},
      {"of memory, shared",
       R"({"hostIPC":true,"securityContext":{"sysctls":[{"name":"kernel.shm_rmid_forced"},
           {"name":"fs.mqueue.msg_max"},{"name":"kernel/sem"},{"name":"kernel.shmfoo"}]}})",
       "Invalid f.securityContext.sysctls[0].name, Invalid f.securityContext.sysctls[1].name, "
       "Invalid f.securityContext.sysctls[2].name"},
      {"of memory, its own",
       R"({"hostNetwork":true,"securityContext":{"sysctls":[{"name":"kernel.shmmax"}]}})"}};
  CheckValueRows(rows, &CheckOfPod);
}

// TestValidateHostUsers.
TEST_CASE("groups: a pod with users of its own shares no namespace of its host", "[groups]") {
  const ValueRow rows[] = {
      {"nothing said", R"({"hostNetwork":true,"hostPID":true})"},
      {"hostUsers unset", "{}"},
      {"hostUsers=false & stateful volume",
       R"({"hostUsers":false,"volumes":[{"name":"foo","hostPath":{"path":"/"}}]})"},
      {"hostUsers=true & hostNetwork", R"({"hostUsers":true,"hostNetwork":true})"},
      {"hostUsers=false & hostNetwork", R"({"hostUsers":false,"hostNetwork":true})",
       "Forbidden f.hostNetwork"},
      {"hostUsers=false & hostPID", R"({"hostUsers":false,"hostPID":true})", "Forbidden f.HostPID"},
      {"hostUsers=false & hostIPC", R"({"hostUsers":false,"hostIPC":true})", "Forbidden f.HostIPC"},
      {"hostUsers=false & devices of volumes",
       R"({"hostUsers":false,"containers":[{"name":"a"},{"name":"b","volumeDevices":[{"name":"d",
           "devicePath":"/d"}]}],"initContainers":[{"volumeDevices":[{"name":"d"}]}]})",
       "Forbidden f.initContainers[0].volumeDevices, Forbidden f.containers[1].volumeDevices"}};
  CheckValueRows(rows, &groups::core::CheckHostUsers);
}

// TestValidateOS, TestValidateOSFields, TestValidateWindowsPodSecurityContext,
// TestValidateLinuxPodSecurityContext.
TEST_CASE("groups: a pod has what its operating system has", "[groups]") {
  const ValueRow rows[] = {
      {"no OS", R"({"securityContext":{"windowsOptions":{},"runAsUser":1}})"},
      {"OS not set", R"({"os":{}})", "Required f.os.name"},
      {"unknown OS", R"({"os":{"name":"dummyOS"}})", "NotSupported f.os"},
      {"linux with what linux has",
       R"({"os":{"name":"linux"},"hostPID":true,"securityContext":{"runAsUser":1,"fsGroup":1},
           "containers":[{"securityContext":{"privileged":true}}]})"},
      {"linux with options of windows",
       R"({"os":{"name":"linux"},"securityContext":{"windowsOptions":{"runAsUserName":"dummy"}},
           "containers":[{},{"securityContext":{"windowsOptions":{}}}]})",
       "Forbidden f.securityContext.windowsOptions, "
       "Forbidden f.containers[1].securityContext.windowsOptions"},
      {"windows with what windows has",
       R"({"os":{"name":"windows"},"hostNetwork":true,"hostPID":false,
           "securityContext":{"windowsOptions":{"hostProcess":true},"runAsNonRoot":true},
           "containers":[{"securityContext":{"windowsOptions":{},"runAsNonRoot":true}}]})"},
      {"windows with namespaces of linux",
       R"({"os":{"name":"windows"},"hostUsers":false,"hostPID":true,"hostIPC":true,
           "shareProcessNamespace":false})",
       "Forbidden f.hostUsers, Forbidden f.hostPID, Forbidden f.hostIPC, "
       "Forbidden f.shareProcessNamespace"},
      {"windows with a context of linux",
       R"({"os":{"name":"windows"},"securityContext":{"appArmorProfile":{},"seLinuxOptions":{},
           "seccompProfile":{},"fsGroup":1,"fsGroupChangePolicy":"Always","sysctls":[{}],
           "runAsUser":1,"runAsGroup":1,"supplementalGroups":[1],
           "supplementalGroupsPolicy":"Merge","seLinuxChangePolicy":"Recursive"}})",
       "Forbidden f.securityContext.appArmorProfile, Forbidden f.securityContext.seLinuxOptions, "
       "Forbidden f.securityContext.seccompProfile, Forbidden f.securityContext.fsGroup, "
       "Forbidden f.securityContext.fsGroupChangePolicy, Forbidden f.securityContext.sysctls, "
       "Forbidden f.securityContext.runAsUser, Forbidden f.securityContext.runAsGroup, "
       "Forbidden f.securityContext.supplementalGroups, "
       "Forbidden f.securityContext.supplementalGroupsPolicy, "
       "Forbidden f.securityContext.seLinuxChangePolicy"},
      {"windows with containers of linux",
       R"({"os":{"name":"windows"},"initContainers":[{"securityContext":{"privileged":false}}],
           "containers":[{"securityContext":{"capabilities":{},"readOnlyRootFilesystem":true,
           "allowPrivilegeEscalation":false,"procMount":"Default","runAsUser":1,
           "runAsGroup":1}}]})",
       "Forbidden f.initContainers[0].securityContext.privileged, "
       "Forbidden f.containers[0].securityContext.capabilities, "
       "Forbidden f.containers[0].securityContext.readOnlyRootFilesystem, "
       "Forbidden f.containers[0].securityContext.allowPrivilegeEscalation, "
       "Forbidden f.containers[0].securityContext.procMount, "
       "Forbidden f.containers[0].securityContext.runAsUser, "
       "Forbidden f.containers[0].securityContext.runAsGroup"}};
  CheckValueRows(rows, &groups::core::CheckOs);
}

}  // namespace security_rows_test
