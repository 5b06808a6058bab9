#pragma once

#include <vector>

#include "apiserver/cel/environment.h"

namespace cel_test {

// The variables that expressions of admission policies have besides object and oldObject.
struct AdmissionVariables {
  bool params = false;
  bool authorizer = false;
};

// Adds the variables of admission policies to an environment: createEnvForOpts of
// k8s.io/apiserver/pkg/admission/plugin/cel/compile.go.
apiserver::cel::Environment WithAdmissionVariables(const apiserver::cel::Environment& environment,
                                                   AdmissionVariables which);

// Adds the types Object and JSONPatch and the function of mutating policies: hasPatchTypes.
apiserver::cel::Environment WithPatchTypes(const apiserver::cel::Environment& environment);

}  // namespace cel_test
