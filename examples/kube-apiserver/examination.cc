#include "examination.h"

#include <utility>

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
  if (!file.empty()) AddFinding(flag, file, Load(files), findings);
}

void AddFinding(const std::string& flag, const std::string& file, const Status& loaded,
                std::vector<Finding>& findings) {
  Finding finding{.check = flag, .text = "can be used", .subject = file};
  if (!loaded.ok()) {
    finding.level = Finding::Level::kProblem;
    finding.text = loaded.message();
    finding.remedy = "Correct the file, or the flag --" + flag + ".";
  }
  findings.push_back(std::move(finding));
}

}  // namespace kube
