#include <utility>
#include <vector>

#include "apiserver/base/reload.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/pooled_client.h"
#include "base/status_macros.h"
#include "text/base64.h"

namespace apiserver::v0::client {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// The credentials that calls use now.
struct Identity {
  std::shared_ptr<HttpClient> client;
  std::string authorization;  // The header; empty: none.
};

class FollowedClient final : public HttpClient {
 public:
  FollowedClient(const ClientConfig& config, FollowedClientDeps deps)
      : config_(config), deps_(std::move(deps)) {}

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
    const Identity now = *identity_.Lock();
    if (!now.authorization.empty() && !request.headers.Has("Authorization")) {
      request.headers.Add("Authorization", now.authorization);
    }
    now.client->Start(ctx, std::move(request), std::move(done));
  }

 private:
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
    Identity identity{.authorization = AuthorizationOf(token)};
    auto made = deps_.new_client(options);
    if (!made.ok()) return OfFiles(made.status());
    identity.client = *std::move(made);
    // Calls in progress keep the client with which they began.
    std::swap(*identity_.Lock(), identity);
    return Status::Ok();
  }

  const ClientConfig config_;
  const FollowedClientDeps deps_;
  Guarded<Identity> identity_;
  std::unique_ptr<WatchedFiles> watched_;  // Last: its callback uses the rest.
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
