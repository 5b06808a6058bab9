#pragma once

#include <string>

#include "options.h"

namespace sample {

// `sample-apiserver doctor`: looks at what the server would need of its cluster, prints what is
// wrong and what to apply. 0: nothing is wrong; 1: something is, or it could not look.
struct DoctorFlags {
  std::string authentication_kubeconfig;  // Empty: the pod's.
  // Empty: the pod's; outside of a pod authentication's.
  std::string authorization_kubeconfig;
  std::string service_name = "";
  std::string service_namespace = "wardle";
  std::string tls_cert_file = "";
};
int Doctor(const DoctorFlags& flags);

// Reads the command line after `doctor`: the server's, of which it needs little, and its own. What
// a server behind an aggregator would refuse it refuses too.
int DoctorMain(int argc, char** argv);

}  // namespace sample
