#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/reload.h"
#include "apiserver/server/certificate_files.h"

namespace apiserver::inline v0::server {

struct CertificatePairs {
  http::KeyPair pair = {};
  std::vector<http::SniKeyPair> sni = {};
};
// Returns the pairs in `contents`, which were read from `files.Paths()`.
CertificatePairs PairsOf(const CertificateFiles& files, const std::vector<std::string>& contents);

// Keeps `tls` up to date with `files` as long as the result lives, and exports the expiry of each
// certificate as a metric. Errors as of CertificateFiles::Load.
Result<std::unique_ptr<WatchedFiles>> WatchCertificates(const CertificateFiles& files,
                                                        std::shared_ptr<http::ServerTls> tls,
                                                        metrics::Registry& metrics,
                                                        const WatchedFilesDeps& deps);

}  // namespace apiserver::inline v0::server
