#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/server/certificate_files.h"
#include "part.h"

namespace sample {

// The command line's part that everything else needs; kube-apiserver's names where it has one. The
// rest belongs to the parts.
struct Options {
  int secure_port = 6443;  // Zero picks a free one.
  std::string bind_address = "127.0.0.1";
  std::string cert_dir;  // Empty: <data_dir>. The authority and keys live in its folder "pki".
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::vector<apiserver::server::SniCertificateFiles> tls_sni_cert_keys;
  std::vector<std::string> tls_cipher_suites;
  std::string tls_min_version;
  std::string client_ca_file;  // Besides our own authority.
  int http2_max_streams = 1000;

  std::string storage;   // "memory", "rocks" or "etcd"; "rocks" if nothing says otherwise.
  std::string data_dir;  // Empty: $XDG_DATA_HOME or ~/.local/share, /sample-apiserver.
  bool watch_cache = true;
  std::size_t delete_collection_workers = 1;
  bool enable_garbage_collector = true;
  // Path of an EncryptionConfiguration; empty: objects are stored as they are.
  std::string encryption_provider_config;
  bool encryption_provider_config_automatic_reload = false;
  std::string kubeconfig_out;  // Empty: <data_dir>/kubeconfig.

  std::vector<std::string> etcd_servers;
  std::string etcd_prefix = "/registry/wardle.example.com";
  std::string etcd_cafile;
  std::string etcd_certfile;
  std::string etcd_keyfile;
  std::chrono::milliseconds etcd_compaction_interval = std::chrono::minutes(5);
  std::chrono::milliseconds etcd_healthcheck_timeout = std::chrono::seconds(2);

  bool standalone = true;
  std::uint32_t v = 0;  // Verbosity; from 4 on debug lines are logged.
};

// Adds the flags of the server and its parts, which must outlive `flags`.
void AddServerFlags(examples::CliFlags& flags, Options& options, const Parts& parts);
// Once `flags` has read the command line, and as long as it lives: sets what depends on several
// flags; then one line that says what is wrong with them, and what to do. Empty: nothing.
std::string FinishFlags(Options& options, const Parts& parts);

// What to do after reading the command line.
struct Parsed {
  Options options;
  Parts parts;
  bool exit = false;  // Help was printed, or the command line is wrong.
  int exit_code = 0;
};
Parsed ParseCommandLine(int argc, const char* const* argv);

}  // namespace sample
