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

// The files of a certificate for clients that ask for one of these names: --tls-sni-cert-key.
struct SniCertificateFiles {
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> names = {};  // The meaning is that of http::SniKeyPair.
};

// Parses "foo.crt,foo.key" or "foo.crt,foo.key:*.foo.com,foo.com". kInvalid: a part is missing; the
// message names it.
Result<SniCertificateFiles> ParseSniCertificateFiles(const std::string& text);

// The files of a server's certificates. They may be replaced while it runs; a file that cannot be
// used (half written, a key that does not match) is logged and the old certificates stay.
// k8s.io/apiserver/pkg/server/dynamiccertificates.
struct CertificateFiles {
  std::string cert_file = {};  // --tls-cert-file; empty: no files.
  std::string key_file = {};   // --tls-private-key-file.
  std::vector<SniCertificateFiles> sni = {};
  // The interval at which the files are checked.
  std::chrono::milliseconds period = std::chrono::seconds(1);
  FileSystem* file_system = &RealFileSystem();

  bool empty() const { return cert_file.empty() && sni.empty(); }
  // Returns all paths: certificate and key, then those of `sni` in order.
  std::vector<std::string> Paths() const;
  // Loads the present contents. kInvalid or kNotFound: the message names flag and file.
  Result<std::shared_ptr<http::ServerTls>> Load(const http::ServerTlsOptions& options) const;
};

// Keeps `bundle` at the contents of `path`, after `always` (PEM, may be empty), as long as the
// result lives: --client-ca-file. A file that is no bundle of certificates is logged and changes
// nothing. kInvalid or kNotFound: the file is no bundle now; the message names flag and file.
Result<std::unique_ptr<WatchedFiles>> FollowClientCa(const std::string& path, std::string always,
                                                     std::chrono::milliseconds period,
                                                     std::shared_ptr<Variable<std::string>> bundle,
                                                     const WatchedFilesDeps& deps);

}  // namespace apiserver::inline v0::server
