// The sample-apiserver's group in a host's cpprestsdk listener, over TLS: what
// docs/cpprest-listener.md describes, for the scripts of this folder. Of their flags it heeds
// --data-dir=FOLDER, where it writes a kubeconfig.

#include <cpprest/http_listener.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/client/kubeconfig.h"
#include "apiserver/cpprest/mount.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "free_port.h"
#include "wardle/install.h"

namespace {

using apiserver::Result;
using apiserver::Status;
namespace cpprest = apiserver::cpprest;
namespace http = apiserver::http;
namespace program = apiserver::program;
namespace server = apiserver::server;
using web::http::experimental::listener::http_listener;
using web::http::experimental::listener::http_listener_config;

http_listener_config Over(const http::KeyPair& pair) {
  http_listener_config config;
  config.set_ssl_context_callback([pair](boost::asio::ssl::context& context) {
    context.use_certificate_chain(boost::asio::buffer(pair.certificate_pem));
    context.use_private_key(boost::asio::buffer(pair.key_pem), boost::asio::ssl::context::pem);
  });
  return config;
}

Result<std::unique_ptr<server::GenericAPIServer>> NewServer(
    const server::Standalone& standalone, apiserver::storage::kv::Engine& engine,
    const std::shared_ptr<wardle::BanFlunder>& ban_flunder) {
  server::Config config;
  config.name = "cpprest-host";
  config.authenticator = standalone.authenticator;
  config.admission = {ban_flunder};
  auto completed = std::move(config).Complete();
  if (!completed.ok()) return completed.status();
  auto api = std::move(*completed).New();
  if (!api.ok()) return api.status();
  Status status = wardle::Install(**api,
                                  {.engine = &engine,
                                   .executor = &(*api)->pool(),
                                   .memory = (*api)->memory(),
                                   .metrics = (*api)->metrics()},
                                  *ban_flunder);
  if (status.ok()) status = apiserver::groups::authorization::Install(**api, nullptr);
  if (status.ok()) status = (*api)->PrepareRun();
  if (!status.ok()) return status;
  return api;
}

int Run(const std::string& folder) {
  const auto standalone = server::NewStandalone({.data_dir = folder});
  if (!standalone.ok()) return program::Fail(standalone.status());
  const auto authority = http::NewCertificateAuthority("host-ca", apiserver::RealClock());
  if (!authority.ok()) return program::Fail(authority.status());
  const auto pair =
      http::NewCertificate(*authority, {.common_name = "localhost", .ip_addresses = {"127.0.0.1"}},
                           apiserver::RealClock());
  if (!pair.ok()) return program::Fail(pair.status());
  const auto engine = apiserver::storage::memory::NewEngine();
  const auto api = NewServer(*standalone, *engine, std::make_shared<wardle::BanFlunder>());
  if (!api.ok()) return program::Fail(api.status());

  const int port = FreePort();
  const std::string url = "https://127.0.0.1:" + std::to_string(port);
  // [mount]
  http_listener listener(web::uri(url + "/"), Over(*pair));
  const auto mount = cpprest::MountOn(listener, (*api)->service());
  const int code = program::RunUntilSignal(**api, [&] {
    listener.open().get();
    (void)apiserver::client::WriteKubeconfigFile(
        apiserver::RealFileSystem(), folder + "/kubeconfig",
        {.server = url, .ca_pem = authority->certificate_pem, .token = standalone->token});
  });
  mount->Stop();
  listener.close().get();
  // [/mount]
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  program::BlockSignals();
  std::string folder = ".";
  constexpr std::string_view kFolder = "--data-dir=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag.starts_with(kFolder)) folder = flag.substr(kFolder.size());
  }
  try {
    return Run(folder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
