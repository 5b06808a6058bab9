#include "examination.h"

#include "apiserver/base/file_system.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/http/tls.h"

namespace kube {

namespace {

using apiserver::Result;
using apiserver::Status;
using apiserver::delegation::Finding;

// Returns a file's text; empty for no path.
Result<std::string> TextOf(const std::string& path) {
  if (path.empty()) return std::string();
  return apiserver::RealFileSystem().Read(path);
}

Status Load(const ClientFiles& files) {
  apiserver::http::ClientTls tls;
  APISERVER_ASSIGN_OR_RETURN(tls.client.certificate_pem, TextOf(files.certificate));
  APISERVER_ASSIGN_OR_RETURN(tls.client.key_pem, TextOf(files.key));
  APISERVER_ASSIGN_OR_RETURN(tls.ca_pem, TextOf(files.authorities));
  return apiserver::http::CheckClientTls(tls);
}

}  // namespace

void ExamineClientFiles(const std::string& flag, const ClientFiles& files,
                        std::vector<Finding>& findings) {
  const std::string& file = files.authorities.empty() ? files.certificate : files.authorities;
  if (file.empty()) return;
  findings.push_back(apiserver::delegation::FindingOfFile(flag, file, Load(files)));
}

}  // namespace kube
