#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/base/reload.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/http/tls.h"

namespace apiserver::inline v0::server {

// A pair of files for clients that ask for one of these names: --tls-sni-cert-key.
struct SniCertificateFiles {
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> names = {};  // As of http::SniKeyPair.
};

// "foo.crt,foo.key" or "foo.crt,foo.key:*.foo.com,foo.com". kInvalid: it says what is missing.
Result<SniCertificateFiles> ParseSniCertificateFiles(const std::string& text);

// The files a server's certificates come from. They may be replaced while it runs; what cannot be
// used (half written, a key that does not match) is logged and the old ones stay.
// k8s.io/apiserver/pkg/server/dynamiccertificates.
struct CertificateFiles {
  std::string cert_file = {};  // --tls-cert-file; empty: no files.
  std::string key_file = {};   // --tls-private-key-file.
  std::vector<SniCertificateFiles> sni = {};
  // How often they are looked at.
  std::chrono::milliseconds period = std::chrono::seconds(1);
  FileSystem* file_system = &RealFileSystem();

  bool empty() const { return cert_file.empty() && sni.empty(); }
  // All paths: certificate and key, then those of `sni` in order.
  std::vector<std::string> Paths() const;
  // What they hold now. kInvalid or kNotFound: names flag and file.
  Result<std::shared_ptr<http::ServerTls>> Load(const http::ServerTlsOptions& options) const;
};

// Keeps `bundle` at what `path` holds, after `always` (PEM, may be empty), as long as the result
// lives: --client-ca-file. What is no bundle of certificates is logged and changes nothing.
// kInvalid or kNotFound: the file is no bundle now; names flag and file.
Result<std::unique_ptr<WatchedFiles>> FollowClientCa(const std::string& path, std::string always,
                                                     std::chrono::milliseconds period,
                                                     std::shared_ptr<Variable<std::string>> bundle,
                                                     const WatchedFilesDeps& deps);

}  // namespace apiserver::inline v0::server
