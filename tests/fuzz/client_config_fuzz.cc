#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/client/client_config.h"
#include "apiserver/client/webhook_config.h"
#include "apiserver/client/webhook_users.h"
#include "require.h"

// A kubeconfig is refused with a message, or names a server over https; its users are found by the
// server that they are for; a webhook's URL and service path are judged.
namespace {

namespace client = apiserver::client;
namespace field = apiserver::field;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto config = client::ReadClientConfig(text, "/etc");
  if (config.ok()) {
    Require(config->server.starts_with("https://"));
    Require(config->token.empty() || config->token_file.empty());
  } else {
    Require(config.status().reason() == apiserver::Reason::kInvalid);
    Require(config.status().message().starts_with("kubeconfig: "));
  }
  const auto users = client::WebhookUsers::Read(text, "/etc");
  if (users.ok()) {
    const client::ClientConfig* const user = users->For("a.test:443");
    Require(user == nullptr || user->token.empty() || user->username.empty());
  } else {
    Require(users.status().reason() == apiserver::Reason::kInvalid);
    Require(users.status().message().starts_with("kubeconfig: "));
  }
  const auto url = client::ValidateWebhookURL(field::Path("url"), text);
  if (url.empty()) Require(text.find('@') == std::string::npos || text.find('/') < text.find('@'));
  const auto path = client::ValidateWebhookService(field::Path("s"), "ns", "n", text, 443);
  Require(!path.empty() || text.empty() || text.starts_with('/'));
  return 0;
}
