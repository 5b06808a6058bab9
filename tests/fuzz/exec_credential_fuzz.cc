#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/exec_credential.h"
#include "require.h"

// Whatever a credential plug-in prints is refused with a message, or is a token that can be sent,
// or a certificate with its key.
namespace {

namespace client = apiserver::client;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* const version :
       {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const auto read = client::ReadExecCredential(text, {.api_version = version});
    if (!read.ok()) {
      Require(read.status().reason() == apiserver::Reason::kInvalid);
      Require(!read.status().message().empty());
      continue;
    }
    Require(std::none_of(read->token.begin(), read->token.end(),
                         [](char c) { return c == '\r' || c == '\n' || c == '\0'; }));
    const bool pair = !read->certificate.certificate_pem.empty();
    Require(pair == !read->certificate.key_pem.empty());
    Require(pair || !read->token.empty());
  }
  return 0;
}
