#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "apiserver/client/client_config.h"

namespace apiserver::inline v0::testing {

// A credential plug-in: a shell script in a folder of its own, which counts its runs.
class ScriptedPlugIn {
 public:
  explicit ScriptedPlugIn(const std::string& body) {
    std::string name = (std::filesystem::temp_directory_path() / "exec.XXXXXX").string();
    folder_ = mkdtemp(name.data());
    Write("credentials.runs", "");
    Become(body);
  }
  ~ScriptedPlugIn() { std::filesystem::remove_all(folder_); }
  ScriptedPlugIn(const ScriptedPlugIn&) = delete;
  ScriptedPlugIn& operator=(const ScriptedPlugIn&) = delete;

  // The script's next runs do this.
  void Become(const std::string& body) const {
    // Not written in place: the script may be running.
    Write("new", "#!/bin/sh\necho run >>\"$0.runs\"\n" + body + "\n");
    std::filesystem::permissions(folder_ + "/new", std::filesystem::perms::owner_all);
    std::filesystem::rename(folder_ + "/new", path());
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  auto runs() const {
    const std::string lines = Read("credentials.runs");
    return std::count(lines.begin(), lines.end(), '\n');
  }
  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + "/credentials"; }
  client::ClientConfig config() const {
    return {.server = "https://a.test",
            .exec = client::ExecConfig{.command = path(),
                                       .api_version = "client.authentication.k8s.io/v1"}};
  }

  // A script that prints these members of the status.
  static std::string Printing(const std::string& members) {
    return R"(printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
           R"("status":{%s}}' ')" +
           members + "'";
  }

 private:
  std::string folder_;
};

}  // namespace apiserver::inline v0::testing
