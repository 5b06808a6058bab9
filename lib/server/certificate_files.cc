#include "apiserver/server/certificate_files.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "server/certificates.h"

namespace apiserver::v0::server {

namespace {

std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    if (!name.empty()) names.emplace_back(name);
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  return names;
}

// Returns the error of a pair, with its flag and files.
Status OfFiles(const Status& why, const std::string& flag, const std::string& cert_file,
               const std::string& key_file) {
  return why.WithMessage(flag + ": " + cert_file + ", " + key_file + ": " +
                         std::string(why.message()));
}

}  // namespace

Result<SniCertificateFiles> ParseSniCertificateFiles(const std::string& text) {
  // A path may contain a colon; names never contain a slash.
  const std::size_t colon = text.rfind(':');
  const std::string files = text.substr(0, colon);
  const std::size_t comma = files.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == files.size() ||
      files.find(',', comma + 1) != std::string::npos) {
    return Status(Reason::kInvalid, "\"" + text +
                                        "\" is no pair of files; expected "
                                        "certificate,key or certificate,key:name,name");
  }
  SniCertificateFiles parsed{.cert_file = files.substr(0, comma),
                             .key_file = files.substr(comma + 1)};
  if (colon == std::string::npos) return parsed;
  parsed.names = SplitNames(std::string_view(text).substr(colon + 1));
  if (parsed.names.empty()) {
    return Status(Reason::kInvalid, "\"" + text + "\" has no names after the colon");
  }
  return parsed;
}

std::vector<std::string> CertificateFiles::Paths() const {
  std::vector<std::string> paths;
  if (!cert_file.empty()) paths = {cert_file, key_file};
  for (const SniCertificateFiles& each : sni) {
    paths.push_back(each.cert_file);
    paths.push_back(each.key_file);
  }
  return paths;
}

Result<std::shared_ptr<http::ServerTls>> CertificateFiles::Load(
    const http::ServerTlsOptions& options) const {
  if (cert_file.empty() != key_file.empty()) {
    // Half a pair is a mistake in the flags, so the message names both.
    return Status(Reason::kInvalid,
                  "--tls-cert-file and --tls-private-key-file go together: give both or none");
  }
  // Clients that ask for no name, or for another one, need a certificate too.
  if (cert_file.empty()) {
    return Status(Reason::kInvalid, "--tls-sni-cert-key needs --tls-cert-file, for other names");
  }
  std::vector<std::string> contents;
  for (const std::string& path : Paths()) {
    auto read = file_system->Read(path);
    if (!read.ok()) {
      const char* flag = "--tls-sni-cert-key: ";
      if (path == cert_file) flag = "--tls-cert-file: ";
      if (path == key_file) flag = "--tls-private-key-file: ";
      return read.status().WithMessage(flag + std::string(read.status().message()));
    }
    contents.push_back(*std::move(read));
  }
  CertificatePairs pairs = PairsOf(*this, contents);
  // The pairs are loaded one by one, so that the message names the wrong one.
  if (const Status fits = http::NewServerTls(pairs.pair).status(); !fits.ok()) {
    return OfFiles(fits, "--tls-cert-file", cert_file, key_file);
  }
  auto tls = http::NewServerTls(pairs.pair, options);
  if (!tls.ok()) {
    return tls.status().WithMessage("--tls-cipher-suites, --tls-min-version: " +
                                    std::string(tls.status().message()));
  }
  for (std::size_t i = 0; i < sni.size(); ++i) {
    const Status fits = (*tls)->ReplaceAll(pairs.pair, {pairs.sni[i]});
    if (!fits.ok()) {
      return OfFiles(fits, "--tls-sni-cert-key", sni[i].cert_file, sni[i].key_file);
    }
  }
  RETURN_IF_ERROR((*tls)->ReplaceAll(pairs.pair, pairs.sni));
  return tls;
}

CertificatePairs PairsOf(const CertificateFiles& files, const std::vector<std::string>& contents) {
  CertificatePairs pairs;
  std::size_t next = 0;
  const auto take = [&] {
    http::KeyPair pair{.certificate_pem = contents.at(next), .key_pem = contents.at(next + 1)};
    next += 2;
    return pair;
  };
  if (!files.cert_file.empty()) pairs.pair = take();
  for (const SniCertificateFiles& each : files.sni) {
    pairs.sni.push_back({.pair = take(), .names = each.names});
  }
  return pairs;
}

}  // namespace apiserver::v0::server
