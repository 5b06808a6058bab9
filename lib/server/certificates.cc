#include "server/certificates.h"

#include <utility>

#include "apiserver/authn/x509.h"

namespace apiserver::v0::server {

namespace {

// Shows the end of the first certificate, which is the server's own.
void ShowExpiration(metrics::Family<metrics::Gauge>& shown, const std::string& file,
                    const std::string& certificate_pem) {
  const auto ends = http::ExpirationOf(certificate_pem);
  if (!ends.ok()) return;
  const std::chrono::duration<double> seconds = ends->time_since_epoch();
  shown.With({file}).Set(seconds.count());
}

}  // namespace

Result<std::unique_ptr<WatchedFiles>> WatchCertificates(const CertificateFiles& files,
                                                        std::shared_ptr<http::ServerTls> tls,
                                                        metrics::Registry& metrics,
                                                        const WatchedFilesDeps& deps) {
  auto& expires =
      metrics.Gauges({.name = "apiserver_serving_certificate_expiration_timestamp_seconds",
                      .help = "When the serving certificate of a file ends, in seconds since 1970.",
                      .labels = {"file"}});
  auto& reloads =
      metrics.Counters({.name = "apiserver_serving_certificate_reloads_total",
                        .help = "How often new serving certificates were taken from their files."});
  // All pairs change together, so that no handshake sees half of a change.
  const auto use = [files, tls = std::move(tls), &expires, &reloads,
                    &log = deps.log](const std::vector<std::string>& contents) -> Status {
    const CertificatePairs pairs = PairsOf(files, contents);
    if (Status used = tls->ReplaceAll(pairs.pair, pairs.sni); !used.ok()) return used;
    const std::vector<std::string> paths = files.Paths();
    for (std::size_t i = 0; i < paths.size(); i += 2)
      ShowExpiration(expires, paths[i], contents[i]);
    reloads.With({}).Add();
    Log(log, LogLevel::kInfo, "serving certificates are used", {{"file", files.cert_file}});
    return {};
  };
  return WatchFiles(files.Paths(), files.period, deps, use);
}

// `always` has authorities that stay, whatever the file holds.
Result<std::unique_ptr<WatchedFiles>> FollowClientCa(const std::string& path, std::string always,
                                                     std::chrono::milliseconds period,
                                                     std::shared_ptr<Variable<std::string>> bundle,
                                                     const WatchedFilesDeps& deps) {
  const auto use = [always = std::move(always), bundle = std::move(bundle), &log = deps.log,
                    path](const std::vector<std::string>& contents) -> Status {
    if (Status usable = authn::CheckCertificateBundle(contents[0]); !usable.ok()) return usable;
    bundle->Set(always + contents[0]);
    Log(log, LogLevel::kInfo, "client authorities are used", {{"file", path}});
    return {};
  };
  auto watched = WatchFiles({path}, period, deps, use);
  if (watched.ok()) return watched;
  return watched.status().WithMessage("--client-ca-file=" + path + ": " +
                                      std::string(watched.status().message()));
}

}  // namespace apiserver::v0::server
