#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Validation of security contexts, of containers and of pods.
namespace apiserver::inline v0::groups::core {

// Checks a container's securityContext; null passes. `host_users`: the pod has no users of its own.
void CheckSecurityContext(runtime::Value context, bool host_users, const field::Path& path,
                          field::ErrorList& errors);
// Checks securityContext and the host's namespaces of a PodSpec. `had_policy`: the pod before had a
// seLinuxChangePolicy; without one only Recursive may be set, as the feature gate SELinuxMount is
// off in 1.35.
void CheckPodSecurityContext(runtime::Value pod_spec, bool had_policy, const field::Path& path,
                             field::ErrorList& errors);
// Checks that a pod with `hostUsers: false` does not use the host's namespaces.
void CheckHostUsers(runtime::Value pod_spec, const field::Path& path, field::ErrorList& errors);
// Checks `os`, and that nothing is set that the operating system does not have.
void CheckOs(runtime::Value pod_spec, const field::Path& path, field::ErrorList& errors);
// Checks that annotations of seccomp and AppArmor say what the fields say, for a create.
void CheckProfileAnnotations(runtime::Value annotations, runtime::Value pod_spec,
                             const field::Path& path, field::ErrorList& errors);
// Checks the annotations of seccomp and AppArmor. `path`: metadata.annotations.
void CheckProfileAnnotationSyntax(runtime::Value annotations, runtime::Value pod_spec,
                                  const field::Path& path, field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::core
