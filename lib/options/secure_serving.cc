#include "apiserver/options/secure_serving.h"

#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::options {

namespace {

void AddTlsFlags(SecureServingOptions& options, FlagSet& flags) {
  flags.Add({.name = "--tls-cert-file",
             .value = &options.tls_cert_file,
             .help = "PEM file of a serving certificate"});
  flags.Add({.name = "--tls-private-key-file",
             .value = &options.tls_private_key_file,
             .help = "PEM file of the serving certificate's key"});
  const auto read_pairs =
      [&pairs = options.tls_sni_cert_keys](const std::vector<std::string>& texts) -> Status {
    for (const std::string& text : texts) {
      ASSIGN_OR_RETURN(auto pair, server::ParseSniCertificateFiles(text));
      pairs.push_back(std::move(pair));
    }
    return {};
  };
  flags.Add({.name = "--tls-sni-cert-key",
             .value = read_pairs,
             .help = "PEM files of a certificate and its key for some names, e.g. foo.crt,foo.key "
                     "or foo.crt,foo.key:*.foo.com,foo.com; may be repeated",
             .type_name = "FILES"});
  flags.Add({.name = "--tls-cipher-suites",
             .value = &options.tls_cipher_suites,
             .help = "Suites of TLS 1.2 by IANA's names, separated by commas (default: all safe "
                     "ones)",
             .comma_separated = true});
  flags.Add({.name = "--tls-min-version",
             .value = &options.tls_min_version,
             .help = "VersionTLS12 or VersionTLS13 (default: VersionTLS12)"});
}

}  // namespace

void SecureServingOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Secure serving");
  flags.Add({.name = "--secure-port",
             .value = &secure_port,
             .help = "The port to serve HTTPS on; 0 picks a free one",
             .show_default = true,
             .range = FlagRange{.min = 0, .max = 65535}});
  flags.Add({.name = "--bind-address",
             .value = &bind_address,
             .help = "The IP address to listen on",
             .show_default = true});
  flags.Add({.name = "--cert-dir",
             .value = &cert_dir,
             .help = "Where the certificate authority and the keys live (default: the data "
                     "directory)"});
  AddTlsFlags(*this, flags);
  flags.Add({.name = "--http2-max-streams-per-connection",
             .value = &http2_max_streams_per_connection,
             .help = "Concurrent requests on one HTTP/2 connection",
             .show_default = true,
             .range = FlagRange{.min = 1, .max = 100'000}});
}

void SecureServingOptions::ApplyTo(server::StandaloneOptions& standalone) const {
  standalone.data_dir = cert_dir;
  standalone.address = bind_address;
  standalone.port = secure_port;
  standalone.tls_cert_file = tls_cert_file;
  standalone.tls_key_file = tls_private_key_file;
  standalone.alternate_names = alternate_names;
  standalone.alternate_ips = alternate_ips;
  standalone.sni = tls_sni_cert_keys;
  standalone.tls = {tls_cipher_suites, tls_min_version};
}

void SecureServingOptions::ApplyTo(server::Config& config) const {
  if (!config.serving) return;
  config.serving->streams_max = static_cast<std::size_t>(http2_max_streams_per_connection);
}

}  // namespace apiserver::v0::options
