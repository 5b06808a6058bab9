#pragma once

#include <string>
#include <vector>

#include "apiserver/options/flag_set.h"
#include "apiserver/server/certificate_files.h"
#include "apiserver/server/server.h"
#include "apiserver/server/standalone.h"

// k8s.io/apiserver/pkg/server/options/serving.go.
namespace apiserver::inline v0::options {

// The address and the certificates of a server.
struct SecureServingOptions {
  std::string bind_address = "127.0.0.1";  // --bind-address: an IP. Upstream's default is 0.0.0.0.
  // --secure-port: 0 picks a free one. Upstream's default is 443, kube-apiserver's 6443.
  int secure_port = 6443;
  // --cert-dir: where an authority and keys of the server's own live. Empty: in memory, or where
  // the program puts them.
  std::string cert_dir = {};
  // --tls-cert-file and --tls-private-key-file: PEM, both or none.
  std::string tls_cert_file = {};
  std::string tls_private_key_file = {};
  // Further names and addresses of a certificate that the server makes itself; no flag sets them.
  std::vector<std::string> alternate_names = {};
  std::vector<std::string> alternate_ips = {};
  // --tls-sni-cert-key: certificates for some names.
  std::vector<server::SniCertificateFiles> tls_sni_cert_keys = {};
  std::vector<std::string> tls_cipher_suites = {};  // --tls-cipher-suites; empty: all safe ones.
  std::string tls_min_version = {};                 // --tls-min-version; empty: VersionTLS12.
  // --http2-max-streams-per-connection: requests at once on a connection. The default is that of
  // upstream's RecommendedOptions: an aggregator sends all it has over one.
  int http2_max_streams_per_connection = 1000;

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Sets all but the number of streams; what is wrong with files server::NewStandalone says.
  void ApplyTo(server::StandaloneOptions& standalone) const;
  // Sets the number of streams of config.serving, if the server listens.
  void ApplyTo(server::Config& config) const;
};

}  // namespace apiserver::inline v0::options
