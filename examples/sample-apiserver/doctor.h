#pragma once

#include <string>

#include "options.h"

namespace sample {

// `sample-apiserver doctor`: looks at what the server would need of its cluster, prints what is
// wrong and what to apply. 0: nothing is wrong; 1: something is, or it could not look.
struct DoctorFlags {
  std::string kubeconfig;  // --authentication-kubeconfig; empty: the pod's.
  std::string service_name = "";
  std::string service_namespace = "wardle";
  std::string tls_cert_file = "";
};
int Doctor(const DoctorFlags& flags);

// Reads the command line after `doctor`; flags of the server that it does not need are accepted.
int DoctorMain(int argc, char** argv);

}  // namespace sample
