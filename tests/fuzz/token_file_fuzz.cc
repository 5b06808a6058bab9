#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/authn/token_file.h"
#include "require.h"

// A token file is refused with file and reason, or its tokens stand for the same users when they
// are written again.
namespace {

namespace authn = apiserver::authn;
using apiserver_fuzz::Require;

std::string Quoted(std::string_view field) {
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Written(const authn::StaticToken& token) {
  std::string groups;
  for (const std::string& group : token.user.groups) {
    if (&group != &token.user.groups.front()) groups += ',';
    groups += group;
  }
  std::string line =
      Quoted(token.token) + "," + Quoted(token.user.name) + "," + Quoted(token.user.uid);
  if (!token.user.groups.empty()) line += "," + Quoted(groups);
  return line + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tokens =
      authn::ReadTokenFile("f", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!tokens.ok()) {
    Require(tokens.status().reason() == apiserver::Reason::kInvalid);
    Require(tokens.status().message().starts_with("token file 'f'"));
    return 0;
  }
  for (const authn::StaticToken& token : *tokens) {
    Require(!token.token.empty());
    // Of "\r\n" in quotes only "\n" is kept, so what has a "\r" left may read otherwise.
    if (Written(token).find('\r') != std::string::npos) continue;
    const auto again = authn::ReadTokenFile("f", Written(token));
    Require(again.ok() && again->size() == 1);
    Require(again->front().token == token.token && again->front().user == token.user);
  }
  return 0;
}
