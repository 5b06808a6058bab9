#include "apiserver/delegation/cluster_client.h"

#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::delegation {

namespace {

// Returns the file's contents, unless the text itself is given.
Result<std::string> TextOrFile(const std::string& text, const std::string& file,
                               const FileSystem& files) {
  if (!text.empty() || file.empty()) return text;
  return files.Read(file);
}

// Token files usually end in a newline, which would make the header invalid.
std::string WithoutNewline(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

// Reads the files anew for each connection, so that rotated certificates need no restart.
Result<http::DialOptions> DialOptionsNow(const client::ClientConfig& config,
                                         const FileSystem& files) {
  client::Kubeconfig now{.server = config.server};
  while (now.server.ends_with('/')) now.server.pop_back();
  ASSIGN_OR_RETURN(now.ca_pem, TextOrFile(config.ca_pem, config.ca_file, files));
  ASSIGN_OR_RETURN(now.client_certificate_pem,
                   TextOrFile(config.certificate_pem, config.certificate_file, files));
  ASSIGN_OR_RETURN(now.client_key_pem, TextOrFile(config.key_pem, config.key_file, files));
  ASSIGN_OR_RETURN(http::DialOptions options, client::DialOptionsFor(now));
  // The dialer would take a missing authority for "any authority".
  if (options.tls && options.tls->ca_pem.empty()) {
    return Status(Reason::kInvalid, "there is no certificate-authority to verify the cluster with");
  }
  if (options.tls && !config.server_name.empty()) options.tls->server_name = config.server_name;
  return options;
}

// Sends each request with the token's present value.
class BearerConnection final : public http::Connection {
 public:
  BearerConnection(std::unique_ptr<http::Connection> inner, const client::ClientConfig& config,
                   const FileSystem& files)
      : inner_(std::move(inner)),
        token_(config.token),
        token_file_(config.token_file),
        files_(files) {}

  Result<http::ClientResponse> Call(const Context& ctx,
                                    const http::ClientRequest& request) override {
    ASSIGN_OR_RETURN(const http::ClientRequest sent, WithToken(request));
    return inner_->Call(ctx, sent);
  }
  Result<std::unique_ptr<http::ClientStream>> Open(const http::ClientRequest& request) override {
    ASSIGN_OR_RETURN(const http::ClientRequest sent, WithToken(request));
    return inner_->Open(sent);
  }
  bool closed() const override { return inner_->closed(); }

 private:
  Result<http::ClientRequest> WithToken(http::ClientRequest request) const {
    ASSIGN_OR_RETURN(const std::string token, TextOrFile(token_, token_file_, files_));
    if (!token.empty()) request.headers.Set("Authorization", "Bearer " + WithoutNewline(token));
    return request;
  }

  const std::unique_ptr<http::Connection> inner_;
  const std::string token_;
  const std::string token_file_;
  const FileSystem& files_;
};

}  // namespace

// Fails at once if the files cannot be used now; later failures are those of single requests.
Result<std::unique_ptr<client::Client>> NewClusterClient(const client::ClientConfig& config,
                                                         http::Dialer& dialer,
                                                         const FileSystem& files,
                                                         const runtime::Scheme* scheme) {
  RETURN_IF_ERROR(DialOptionsNow(config, files).status());
  const auto connect = [config, &dialer,
                        &files](const Context& ctx) -> Result<std::shared_ptr<http::Connection>> {
    ASSIGN_OR_RETURN(const http::DialOptions options, DialOptionsNow(config, files));
    ASSIGN_OR_RETURN(auto connection, dialer.Dial(ctx, options));
    return std::make_shared<BearerConnection>(std::move(connection), config, files);
  };
  return client::NewClient({.connect = connect, .scheme = scheme});
}

}  // namespace apiserver::v0::delegation
