#include "apiserver/client/client.h"

#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "client/answer.h"
#include "client/query.h"
#include "client/watch_stream.h"
#include "http/causes.h"

namespace apiserver::v0::client {
namespace {

constexpr std::string_view kJson = "application/json";

class RestClient final : public Client {
 public:
  explicit RestClient(ClientOptions options) : options_(std::move(options)) {}

  ObjectResult Get(const Context& ctx, const Target& target,
                   const meta::GetOptions& options) override {
    QueryBuilder query;
    query.Add("resourceVersion", options.resource_version);
    return CallForObject(ctx, target, Request("GET", target, query));
  }

  Result<runtime::List> List(const Context& ctx, const Target& target,
                             const meta::ListOptions& options) override {
    QueryBuilder query;
    query.Add(options);
    ASSIGN_OR_RETURN(std::string body, CallForBody(ctx, target, Request("GET", target, query)));
    return ListOf(std::move(body), options_.scheme);
  }

  ObjectResult Create(const Context& ctx, const Target& target, const runtime::Object& object,
                      const meta::CreateOptions& options) override {
    return Send(ctx, "POST", target, object, options);
  }

  ObjectResult Update(const Context& ctx, const Target& target, const runtime::Object& object,
                      const meta::UpdateOptions& options) override {
    return Send(ctx, "PUT", target, object, options);
  }

  ObjectResult Patch(const Context& ctx, const Target& target, const PatchBody& patch,
                     const meta::PatchOptions& options) override {
    QueryBuilder query;
    query.Add(options);
    http::ClientRequest request = Request("PATCH", target, query);
    SetBody(request, patch.text, patch.media_type);
    return CallForObject(ctx, target, std::move(request));
  }

  ObjectResult Delete(const Context& ctx, const Target& target, const meta::DeleteOptions& options,
                      const meta::ListOptions& selection) override {
    QueryBuilder query;
    // A delete without a name is for a collection, which alone is selected from.
    if (target.name.empty()) query.Add(selection);
    http::ClientRequest request = Request("DELETE", target, query);
    SetBody(request, DeleteBody(options), kJson);
    return CallForObject(ctx, target, std::move(request));
  }

  Result<std::unique_ptr<WatchStream>> Watch(const Context& ctx, const Target& target,
                                             const meta::ListOptions& options) override {
    meta::ListOptions watching = options;
    watching.watch = true;
    QueryBuilder query;
    query.Add(watching);
    http::ClientRequest request = Request("GET", target, query);
    AddCredentials(request);
    ASSIGN_OR_RETURN(Opened opened, OnceMore([&] { return Open(ctx, request); }));
    // A refusal is not a stream of events but one Status, which ErrorOf() reads.
    if (opened.head.code < 300) return NewWatchStream(std::move(opened.stream), options_.scheme);
    http::ClientResponse refusal{.code = opened.head.code,
                                 .headers = std::move(opened.head.headers)};
    while (true) {
      ASSIGN_OR_RETURN(const std::string bytes, opened.stream->Read(ctx));
      if (bytes.empty()) break;
      refusal.body += bytes;
    }
    return ErrorOf("GET", target, refusal);
  }

  Result<http::ClientResponse> Call(const Context& ctx, http::ClientRequest request) override {
    AddCredentials(request);
    return OnceMore([&]() -> Result<http::ClientResponse> {
      ASSIGN_OR_RETURN(const auto connection, Connection(ctx));
      return connection->Call(ctx, request);
    });
  }

 private:
  struct Opened {
    std::unique_ptr<http::ClientStream> stream;
    http::ResponseHead head;
  };
  Result<Opened> Open(const Context& ctx, const http::ClientRequest& request) {
    ASSIGN_OR_RETURN(const auto connection, Connection(ctx));
    ASSIGN_OR_RETURN(auto stream, connection->Open(request));
    ASSIGN_OR_RETURN(http::ResponseHead head, stream->Head(ctx));
    return Opened{std::move(stream), std::move(head)};
  }

  // Makes a call, and makes it once more if its server closed the connection before it had begun to
  // work on it: a server may do so at any time, as after a refused user. Go's http2.Transport does
  // it, too.
  template <class Attempt>
  static auto OnceMore(const Attempt& attempt) -> decltype(attempt()) {
    auto result = attempt();
    if (!result.ok() && http::HasNotBegun(result.status())) return attempt();
    return result;
  }

  static http::ClientRequest Request(std::string method, const Target& target,
                                     const QueryBuilder& query) {
    http::ClientRequest request;
    request.method = std::move(method);
    request.target = target.Path() + query.text();
    request.headers.Add("Accept", std::string(kJson));
    return request;
  }

  static void SetBody(http::ClientRequest& request, std::string body, std::string_view media_type) {
    request.body = std::move(body);
    request.headers.Set("Content-Type", std::string(media_type));
  }

  void AddCredentials(http::ClientRequest& request) const {
    if (!options_.token.empty()) {
      request.headers.Set("Authorization", "Bearer " + options_.token);
    }
    // A request of Call() may have one of its own.
    if (!request.headers.Has("User-Agent")) {
      request.headers.Add("User-Agent", options_.user_agent);
    }
  }

  // Two callers that find the connection closed may both make one; the later stays.
  Result<std::shared_ptr<http::Connection>> Connection(const Context& ctx) {
    if (auto connection = *connection_.Lock(); connection != nullptr && !connection->closed()) {
      return connection;
    }
    ASSIGN_OR_RETURN(std::shared_ptr<http::Connection> made, options_.connect(ctx));
    // Let go outside the lock: closing may wait.
    std::shared_ptr<http::Connection> old = made;
    old.swap(*connection_.Lock());
    return made;
  }

  Result<std::string> CallForBody(const Context& ctx, const Target& target,
                                  http::ClientRequest request) {
    const std::string method = request.method;
    ASSIGN_OR_RETURN(http::ClientResponse answer, Call(ctx, std::move(request)));
    if (answer.code >= 300) return ErrorOf(method, target, answer);
    return std::move(answer.body);
  }

  ObjectResult CallForObject(const Context& ctx, const Target& target,
                             http::ClientRequest request) {
    ASSIGN_OR_RETURN(std::string body, CallForBody(ctx, target, std::move(request)));
    return ObjectOf(std::move(body), options_.scheme);
  }

  ObjectResult Send(const Context& ctx, std::string method, const Target& target,
                    const runtime::Object& object, const meta::CreateOptions& options) {
    QueryBuilder query;
    query.Add(options);
    http::ClientRequest request = Request(std::move(method), target, query);
    SetBody(request, JsonOf(object), kJson);
    return CallForObject(ctx, target, std::move(request));
  }

  const ClientOptions options_;
  Guarded<std::shared_ptr<http::Connection>> connection_;
};

}  // namespace

std::unique_ptr<Client> NewClient(ClientOptions options) {
  return std::make_unique<RestClient>(std::move(options));
}

std::unique_ptr<Client> NewClient(std::shared_ptr<http::Connection> connection, std::string token,
                                  const runtime::Scheme* scheme) {
  ClientOptions options;
  options.connect = [connection = std::move(connection)](const Context&) {
    return Result<std::shared_ptr<http::Connection>>(connection);
  };
  options.token = std::move(token);
  options.scheme = scheme;
  return NewClient(std::move(options));
}

Result<std::unique_ptr<Client>> NewClient(const Kubeconfig& config, http::Dialer& dialer,
                                          const runtime::Scheme* scheme) {
  ASSIGN_OR_RETURN(http::DialOptions dial, DialOptionsFor(config));
  ClientOptions options;
  options.connect = [dial = std::move(dial),
                     &dialer](const Context& ctx) -> Result<std::shared_ptr<http::Connection>> {
    ASSIGN_OR_RETURN(std::unique_ptr<http::Connection> connection, dialer.Dial(ctx, dial));
    return std::shared_ptr<http::Connection>(std::move(connection));
  };
  options.token = config.token;
  options.scheme = scheme;
  return NewClient(std::move(options));
}

}  // namespace apiserver::v0::client
