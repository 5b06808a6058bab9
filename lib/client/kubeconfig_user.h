#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"
#include "apiserver/runtime/value.h"

// Helpers that the readers of kubeconfigs share.
namespace apiserver::inline v0::client {

Status BadKubeconfig(const std::string& what);

// A field that is refused, and the reason.
using RefusedField = std::pair<std::string_view, std::string_view>;
template <std::size_t N>
Status RefuseFields(runtime::Value map, const std::array<RefusedField, N>& fields);

// Reads `field` of `map` as the name of a file, and "<field>-data" as its content, which wins.
Status TakeFile(runtime::Value map, const std::string& field, const std::string& folder,
                std::string& file, std::string& data);

// Reads the credentials of a user's entry into `config`, except for its plug-in.
Status TakeUser(runtime::Value user, const std::string& folder, ClientConfig& config);

// The entries of a context that a plug-in is read from.
struct ExecEntries {
  runtime::Value user;
  std::string_view user_name;
  runtime::Value cluster;
};
// Reads the plug-in of a user, if there is one, into `config`.
Status TakeExec(const ExecEntries& entries, const std::string& folder, ClientConfig& config);

std::string FolderOf(const std::string& path);

// True if it is present, and neither empty nor false.
bool IsSetField(runtime::Value value);

template <std::size_t N>
Status RefuseFields(runtime::Value map, const std::array<RefusedField, N>& fields) {
  for (const auto& [field, why] : fields) {
    if (IsSetField(map[field])) return BadKubeconfig(std::string(field) + ": " + std::string(why));
  }
  return Status::Ok();
}

}  // namespace apiserver::inline v0::client
