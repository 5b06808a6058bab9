#include "apiserver/delegation/cluster_client.h"

#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "client/exec_authenticator.h"

namespace apiserver::v0::delegation {

namespace {

constexpr int kUnauthorized = 401;

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

// The plug-in of a client, and the connection that it was last used for.
struct PlugIn {
  struct Last {
    std::shared_ptr<http::Connection> connection;
    http::KeyPair pair;
  };

  PlugIn(const client::ClientConfig& config, const FileSystem& files, LogSink& log)
      : authenticator(config, client::ExecPlugInDeps{.files = &files, .log = &log}) {}

  Guarded<Last> last;
  client::OwnedExecAuthenticator authenticator;
};

// Tells the plug-in of a refused watch.
class ExecStream final : public http::ClientStream {
 public:
  ExecStream(std::unique_ptr<http::ClientStream> inner, std::shared_ptr<PlugIn> plug_in,
             client::ExecAuthenticator::Credentials credentials)
      : inner_(std::move(inner)),
        plug_in_(std::move(plug_in)),
        credentials_(std::move(credentials)) {}

  Result<http::ResponseHead> Head(const Context& ctx) override {
    auto head = inner_->Head(ctx);
    if (head.ok() && head->code == kUnauthorized) plug_in_->authenticator->Refuse(credentials_);
    return head;
  }
  Result<std::string> Read(const Context& ctx) override { return inner_->Read(ctx); }
  Status Write(std::string_view bytes) override { return inner_->Write(bytes); }
  void Cancel() override { inner_->Cancel(); }

 private:
  const std::unique_ptr<http::ClientStream> inner_;
  const std::shared_ptr<PlugIn> plug_in_;
  const client::ExecAuthenticator::Credentials credentials_;
};

// Sends requests with credentials of a plug-in, and is closed when those are not current any more:
// the client then asks for another connection, with a Context that may wait for the plug-in.
class ExecConnection final : public http::Connection {
 public:
  ExecConnection(std::shared_ptr<http::Connection> inner, std::shared_ptr<PlugIn> plug_in,
                 client::ExecAuthenticator::Credentials credentials)
      : inner_(std::move(inner)),
        plug_in_(std::move(plug_in)),
        credentials_(std::move(credentials)) {}

  Result<http::ClientResponse> Call(const Context& ctx,
                                    const http::ClientRequest& request) override {
    auto answer = inner_->Call(ctx, WithToken(request));
    if (answer.ok() && answer->code == kUnauthorized) plug_in_->authenticator->Refuse(credentials_);
    return answer;
  }
  Result<std::unique_ptr<http::ClientStream>> Open(const http::ClientRequest& request) override {
    ASSIGN_OR_RETURN(auto stream, inner_->Open(WithToken(request)));
    return std::make_unique<ExecStream>(std::move(stream), plug_in_, credentials_);
  }
  bool closed() const override {
    return inner_->closed() || plug_in_->authenticator->Cached() != credentials_;
  }

 private:
  http::ClientRequest WithToken(http::ClientRequest request) const {
    if (!credentials_->token.empty()) {
      request.headers.Set("Authorization", "Bearer " + credentials_->token);
    }
    return request;
  }

  const std::shared_ptr<http::Connection> inner_;
  const std::shared_ptr<PlugIn> plug_in_;
  const client::ExecAuthenticator::Credentials credentials_;
};

// Makes connections for a user with a plug-in. A new token needs no new connection; a new
// certificate does.
client::Connector NewExecConnector(const client::ClientConfig& config, http::Dialer& dialer,
                                   const FileSystem& files, LogSink& log) {
  const auto plug_in = std::make_shared<PlugIn>(config, files, log);
  return [config, plug_in, &dialer,
          &files](const Context& ctx) -> Result<std::shared_ptr<http::Connection>> {
    ASSIGN_OR_RETURN(const auto credentials, plug_in->authenticator->Get(ctx));
    PlugIn::Last last = *plug_in->last.Lock();
    const bool usable =
        last.connection && !last.connection->closed() && last.pair == credentials->certificate;
    if (!usable) {
      ASSIGN_OR_RETURN(http::DialOptions options, DialOptionsNow(config, files));
      if (options.tls) options.tls->client = credentials->certificate;
      ASSIGN_OR_RETURN(last.connection, dialer.Dial(ctx, options));
      last.pair = credentials->certificate;
      // The old one goes outside the lock: closing may wait.
      PlugIn::Last old = last;
      std::swap(*plug_in->last.Lock(), old);
    }
    return std::make_shared<ExecConnection>(std::move(last.connection), plug_in, credentials);
  };
}

}  // namespace

// Fails at once if the files cannot be used now; later failures are those of single requests.
Result<std::unique_ptr<client::Client>> NewClusterClient(const client::ClientConfig& config,
                                                         http::Dialer& dialer,
                                                         const FileSystem& files,
                                                         const ClusterClientDeps& deps) {
  RETURN_IF_ERROR(DialOptionsNow(config, files).status());
  if (client::UsesExec(config)) {
    return client::NewClient(
        {.connect = NewExecConnector(config, dialer, files, *deps.log), .scheme = deps.scheme});
  }
  const auto connect = [config, &dialer,
                        &files](const Context& ctx) -> Result<std::shared_ptr<http::Connection>> {
    ASSIGN_OR_RETURN(const http::DialOptions options, DialOptionsNow(config, files));
    ASSIGN_OR_RETURN(auto connection, dialer.Dial(ctx, options));
    return std::make_shared<BearerConnection>(std::move(connection), config, files);
  };
  return client::NewClient({.connect = connect, .scheme = deps.scheme});
}

}  // namespace apiserver::v0::delegation
