#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/base/reload.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/pooled_client.h"
#include "base/status_macros.h"
#include "client/exec_authenticator.h"
#include "text/base64.h"

namespace apiserver::v0::client {
namespace {

using std::chrono::milliseconds;

constexpr int kUnauthorized = 401;
constexpr std::string_view kSpaces = " \t\r\n";

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// The credentials that calls use now.
struct Identity {
  HttpClientOptions options;  // With the contents of the files, without the plug-in's certificate.
  http::KeyPair plug_in_pair;
  std::shared_ptr<HttpClient> client;  // Made of these.
  std::string authorization;           // The header; empty: none.
  std::uint64_t number = 0;            // Counts the changes.
};

class FollowedClient final : public HttpClient {
 public:
  FollowedClient(const ClientConfig& config, FollowedClientDeps deps)
      : config_(config), deps_(std::move(deps)) {
    if (!UsesExec(config_)) return;
    plug_in_.emplace(config_, ExecPlugInDeps{deps_.files, deps_.clock, deps_.log});
  }

  Status Begin() {
    std::vector<std::string> paths;
    for (const auto* path :
         {&config_.ca_file, &config_.certificate_file, &config_.key_file, &config_.token_file}) {
      if (!path->empty()) paths.push_back(*path);
    }
    if (paths.empty()) return Use({});
    ASSIGN_OR_RETURN(
        watched_,
        WatchFiles(paths, deps_.period, {*deps_.files, *deps_.executor, *deps_.clock, *deps_.log},
                   [this](const std::vector<std::string>& contents) { return Use(contents); }));
    return Status::Ok();
  }

  void Start(const Context& ctx, HttpRequest request, Done done) override {
    if (!OfServer(request.url)) {
      return done(Status(Reason::kInvalid,
                         "this client is for " + config_.server + ", not for " + request.url));
    }
    const bool has_credentials = request.headers.Has("Authorization");
    if (plug_in_ && !has_credentials) return Ask(ctx, std::move(request), std::move(done));
    const Identity now = *identity_.Lock();
    if (!now.authorization.empty() && !has_credentials) {
      request.headers.Add("Authorization", now.authorization);
    }
    now.client->Start(ctx, std::move(request), std::move(done));
  }

 private:
  // Starts the call with the credentials of the plug-in, which may have to run before.
  void Ask(const Context& ctx, HttpRequest request, Done done) {
    if (const auto cached = (*plug_in_)->Cached()) {
      return Send(ctx, cached, std::move(request), std::move(done));
    }
    const Clock::Monotonic begun = deps_.clock->Now();
    const Context waiting = Context::Child(ctx);
    std::chrono::nanoseconds left = request.timeout;
    if (const auto deadline = ctx.deadline()) left = std::min(left, *deadline - begun);
    // The timer is left to fire: cancelling what has ended does nothing.
    (void)deps_.executor->PostAfter(
        left, [waiting] { waiting.Cancel(Status(Reason::kTimeout, "context deadline exceeded")); });
    auto got = [this, ctx, begun, request = std::move(request), done = std::move(done)](
                   Result<ExecAuthenticator::Credentials> credentials) mutable {
      // `this` may be gone if there are none.
      if (!credentials.ok()) return done(credentials.status());
      const auto waited = std::chrono::floor<milliseconds>(deps_.clock->Now() - begun);
      request.timeout = std::max(request.timeout - waited, milliseconds(1));
      Send(ctx, *credentials, std::move(request), std::move(done));
    };
    (*plug_in_)->Start(waiting, std::move(got));
  }

  void Send(const Context& ctx, const ExecAuthenticator::Credentials& credentials,
            HttpRequest request, Done done) {
    auto client = ClientWith(credentials->certificate);
    if (!client.ok()) return done(client.status());
    if (!credentials->token.empty()) {
      request.headers.Add("Authorization", "Bearer " + credentials->token);
    }
    (*client)->Start(ctx, std::move(request),
                     [plug_in = plug_in_->shared(), credentials,
                      done = std::move(done)](Result<http::ClientResponse> answer) mutable {
                       if (answer.ok() && answer->code == kUnauthorized) {
                         plug_in->Refuse(credentials);
                       }
                       done(std::move(answer));
                     });
  }

  // Returns the client that shows this certificate; both empty: none.
  Result<std::shared_ptr<HttpClient>> ClientWith(const http::KeyPair& pair) {
    return Changed([&](Identity& identity) {
      const bool other = identity.plug_in_pair != pair;
      identity.plug_in_pair = pair;
      return other;
    });
  }

  // Makes the client anew if `change` has changed the identity, and returns it. Calls in progress
  // keep the client with which they began.
  template <class Change>
  Result<std::shared_ptr<HttpClient>> Changed(const Change& change) {
    while (true) {
      Identity identity = *identity_.Lock();
      if (!change(identity)) return identity.client;
      HttpClientOptions options = identity.options;
      if (!identity.plug_in_pair.certificate_pem.empty()) {
        options.tls.client = identity.plug_in_pair;
      }
      ASSIGN_OR_RETURN(identity.client, deps_.new_client(options));
      std::shared_ptr<HttpClient> client = identity.client;
      const auto now = identity_.Lock();
      if (now->number != identity.number) continue;
      ++identity.number;
      std::swap(*now, identity);
      return client;
    }
  }

  // Credentials must not go to a host whose name only begins like this server's.
  bool OfServer(const std::string& url) const {
    std::string_view server = config_.server;
    while (server.ends_with('/')) server.remove_suffix(1);
    if (!url.starts_with(server)) return false;
    return url.size() == server.size() || url[server.size()] == '/' || url[server.size()] == '?';
  }

  std::string AuthorizationOf(const std::string& token) const {
    if (!token.empty()) return "Bearer " + token;
    if (config_.username.empty() && config_.password.empty()) return "";
    std::string header = "Basic ";
    text::AppendBase64(config_.username + ":" + config_.password, header);
    return header;
  }

  // Adds the names of the files to an error.
  Status OfFiles(const Status& why) const {
    std::string files;
    for (const auto* path : {&config_.ca_file, &config_.certificate_file, &config_.key_file}) {
      if (!path->empty()) files += (files.empty() ? "" : ", ") + *path;
    }
    return files.empty() ? why : why.WithMessage(files + ": " + std::string(why.message()));
  }

  // Uses `contents`: those of the configured files, in the order of Begin().
  Status Use(const std::vector<std::string>& contents) {
    std::size_t next = 0;
    const auto text = [&](const std::string& file, const std::string& given) {
      return file.empty() ? given : contents[next++];
    };
    HttpClientOptions options;
    options.tls.server_name = config_.server_name;
    options.tls.ca_pem = text(config_.ca_file, config_.ca_pem);
    options.tls.client.certificate_pem = text(config_.certificate_file, config_.certificate_pem);
    options.tls.client.key_pem = text(config_.key_file, config_.key_pem);
    const std::string token = Trimmed(text(config_.token_file, config_.token));
    if (token.empty() && !config_.token_file.empty()) {
      return Status(Reason::kInvalid, config_.token_file + ": the token is empty");
    }
    const auto used = Changed([&](Identity& identity) {
      identity.options = options;
      identity.authorization = AuthorizationOf(token);
      return true;
    });
    return used.ok() ? Status::Ok() : OfFiles(used.status());
  }

  const ClientConfig config_;
  const FollowedClientDeps deps_;
  Guarded<Identity> identity_;
  // These are last: their callbacks use the rest.
  std::optional<OwnedExecAuthenticator> plug_in_;
  std::unique_ptr<WatchedFiles> watched_;
};

}  // namespace

Result<std::shared_ptr<HttpClient>> NewFollowedClient(const ClientConfig& config,
                                                      const FollowedClientDeps& deps) {
  FollowedClientDeps all = deps;
  if (!all.new_client) all.new_client = NewHttpClientFactory();
  auto client = std::make_shared<FollowedClient>(config, std::move(all));
  if (const Status begun = client->Begin(); !begun.ok()) {
    if (config.origin.empty()) return begun;
    return begun.WithMessage(config.origin + ": " + std::string(begun.message()));
  }
  return std::shared_ptr<HttpClient>(std::move(client));
}

}  // namespace apiserver::v0::client
