#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/dialer.h"
#include "apiserver/meta/options.h"
#include "apiserver/meta/watch.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"

// A client of any Kubernetes-style server that knows no kinds beforehand: JSON over
// http::Connection, in process or dialled. For tests, benchmarks and informers.
namespace apiserver::inline v0::client {

// What a call is about.
struct Target {
  runtime::GroupVersionResource resource;  // Required.
  std::string namespace_ = "";             // Empty: cluster-scoped, or all namespaces.
  std::string name = "";                   // Empty: the collection.
  std::string subresource = "";

  // "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders/x/status".
  std::string Path() const;
};

// Makes a connection; may wait.
using Connector = std::function<Result<std::shared_ptr<http::Connection>>(const Context& ctx)>;

struct ClientOptions {
  // Required. Called for the first request, and again when the connection has closed.
  Connector connect;
  std::string token = "";  // Sent as bearer token; empty: none.
  std::string user_agent = "libapiserver";
};

// A running watch, read as it arrives. Used by one thread at a time; Cancel() from any.
class WatchStream {
 public:
  virtual ~WatchStream() = default;  // Cancels.
  // Waits for the next event; nullopt: the server has ended the watch. An event of type kError
  // carries why in `error`, and nothing follows it. kTimeout: `ctx` was done first;
  // kServiceUnavailable: connection lost; kInternalError: not a watch event.
  virtual Result<std::optional<watch::Event>> Next(const Context& ctx) = 0;
  virtual void Cancel() = 0;
};

// Methods from any thread; they wait, so never on a loop. An answer of 400 and more is the Status
// that the server sent, or meta::NewGenericServerResponse where it sent none; kServiceUnavailable
// also stands for a connection that was lost, kTimeout for a `ctx` that was done first.
//
// Objects that come back are of an untyped Kind, named as in the answer.
class Client {
 public:
  using ObjectResult = Result<std::unique_ptr<runtime::Object>>;
  virtual ~Client() = default;

  virtual ObjectResult Get(const Context& ctx, const Target& target,
                           const meta::GetOptions& options) = 0;
  ObjectResult Get(const Context& ctx, const Target& target) { return Get(ctx, target, {}); }
  // One page of it, if `options` has a limit.
  virtual Result<runtime::List> List(const Context& ctx, const Target& target,
                                     const meta::ListOptions& options) = 0;
  Result<runtime::List> List(const Context& ctx, const Target& target) {
    return List(ctx, target, {});
  }
  // `target` is the collection.
  virtual ObjectResult Create(const Context& ctx, const Target& target,
                              const runtime::Object& object,
                              const meta::CreateOptions& options) = 0;
  ObjectResult Create(const Context& ctx, const Target& target, const runtime::Object& object) {
    return Create(ctx, target, object, {});
  }
  virtual ObjectResult Update(const Context& ctx, const Target& target,
                              const runtime::Object& object,
                              const meta::UpdateOptions& options) = 0;
  ObjectResult Update(const Context& ctx, const Target& target, const runtime::Object& object) {
    return Update(ctx, target, object, {});
  }

  struct PatchBody {
    std::string media_type;  // "application/merge-patch+json".
    std::string text;
  };
  virtual ObjectResult Patch(const Context& ctx, const Target& target, const PatchBody& patch,
                             const meta::PatchOptions& options) = 0;
  ObjectResult Patch(const Context& ctx, const Target& target, const PatchBody& patch) {
    return Patch(ctx, target, patch, {});
  }
  // The answer: the object while it is being deleted, or a Status of success. Without a name: the
  // collection, as `selection` limits it.
  virtual ObjectResult Delete(const Context& ctx, const Target& target,
                              const meta::DeleteOptions& options,
                              const meta::ListOptions& selection) = 0;
  ObjectResult Delete(const Context& ctx, const Target& target,
                      const meta::DeleteOptions& options = {}) {
    return Delete(ctx, target, options, {});
  }
  // Returns once the server has accepted the watch. `options.watch` is implied.
  virtual Result<std::unique_ptr<WatchStream>> Watch(const Context& ctx, const Target& target,
                                                     const meta::ListOptions& options) = 0;

  // Any request, with the client's credentials added. Every answer is a value, whatever its code.
  virtual Result<http::ClientResponse> Call(const Context& ctx, http::ClientRequest request) = 0;
};

std::unique_ptr<Client> NewClient(ClientOptions options);
// Over one connection that exists already.
std::unique_ptr<Client> NewClient(std::shared_ptr<http::Connection> connection,
                                  std::string token = "");
// To the server of a kubeconfig. `dialer` must outlive the client.
Result<std::unique_ptr<Client>> NewClient(const Kubeconfig& config, http::Dialer& dialer);

// How to dial the server of a kubeconfig. kInvalid: its URL is not http(s)://host[:port].
Result<http::DialOptions> DialOptionsFor(const Kubeconfig& config);

}  // namespace apiserver::inline v0::client
