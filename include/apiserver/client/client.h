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
#include "apiserver/runtime/scheme.h"

// A client of any Kubernetes-style server that needs no kinds beforehand: JSON over
// http::Connection, in process or dialled. For controllers, informers and tests.
namespace apiserver::inline v0::client {

// The resource and object of a call.
struct Target {
  runtime::GroupVersionResource resource;  // Required.
  std::string namespace_ = "";             // Empty: cluster-scoped, or all namespaces.
  std::string name = "";                   // Empty: the collection.
  std::string subresource = "";

  // Returns the path: "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders/x/status".
  std::string Path() const;
};

// Makes a connection. Called on the thread of a request that needs one, perhaps on several at once;
// may block until `ctx` is done.
using Connector = std::function<Result<std::shared_ptr<http::Connection>>(const Context& ctx)>;

// Options of a Client.
struct ClientOptions {
  // Required. Called for the first request, and again when the connection has closed.
  Connector connect;
  std::string token = "";  // Sent as bearer token; empty: none.
  std::string user_agent = "libapiserver";
  // The kinds that returned objects are of where it knows them, in the version that the server
  // sends; k8s.io/client-go's scheme.Scheme. Looked into with each response, so that kinds may be
  // added later. Outlives the client. Null: every object is of an untyped kind.
  const runtime::Scheme* scheme = nullptr;
};

// A running watch whose events are read as they arrive. Used by one thread at a time, except for
// Cancel().
class WatchStream {
 public:
  virtual ~WatchStream() = default;  // Cancels.
  // Waits for the next event. nullopt: the server has ended the watch. An event of type kError has
  // its reason in `error`, and nothing follows it. kTimeout: `ctx` was done first;
  // kServiceUnavailable: connection lost; kInternalError: not a watch event.
  virtual Result<std::optional<watch::Event>> Next(const Context& ctx) = 0;
  // Ends the watch and wakes Next(). Any thread.
  virtual void Cancel() = 0;
};

// Reads and writes objects of a server. Methods may be called from any thread that may block, so
// never on a loop. A response of 400 and more becomes the Status that the server sent, or
// meta::NewGenericServerResponse if it sent none; kServiceUnavailable also means a lost connection,
// kTimeout that `ctx` was done first. A request that the server had certainly not begun to work on
// when the connection ended is made once more, on another connection.
//
// Returned objects are of the kind that ClientOptions::scheme has, so that codec::ToMessage reads
// them; of an untyped Kind, named as in the response, if it has none. Either way the content is
// what the server sent: members that the kind's schema does not declare stay, so that no update
// drops them, and no defaults are added.
class Client {
 public:
  using ObjectResult = Result<std::unique_ptr<runtime::Object>>;
  virtual ~Client() = default;

  // Returns the object `target.name`.
  virtual ObjectResult Get(const Context& ctx, const Target& target,
                           const meta::GetOptions& options) = 0;
  ObjectResult Get(const Context& ctx, const Target& target) { return Get(ctx, target, {}); }
  // Returns the collection, or one page of it if `options` has a limit.
  virtual Result<runtime::List> List(const Context& ctx, const Target& target,
                                     const meta::ListOptions& options) = 0;
  Result<runtime::List> List(const Context& ctx, const Target& target) {
    return List(ctx, target, {});
  }
  // Creates `object`; `target` is the collection.
  virtual ObjectResult Create(const Context& ctx, const Target& target,
                              const runtime::Object& object,
                              const meta::CreateOptions& options) = 0;
  ObjectResult Create(const Context& ctx, const Target& target, const runtime::Object& object) {
    return Create(ctx, target, object, {});
  }
  // Replaces the object `target.name`, or its subresource.
  virtual ObjectResult Update(const Context& ctx, const Target& target,
                              const runtime::Object& object,
                              const meta::UpdateOptions& options) = 0;
  ObjectResult Update(const Context& ctx, const Target& target, const runtime::Object& object) {
    return Update(ctx, target, object, {});
  }

  // A patch in one of the forms that Kubernetes knows.
  struct PatchBody {
    std::string media_type;  // "application/merge-patch+json".
    std::string text;
  };
  // Patches the object `target.name`, or its subresource.
  virtual ObjectResult Patch(const Context& ctx, const Target& target, const PatchBody& patch,
                             const meta::PatchOptions& options) = 0;
  ObjectResult Patch(const Context& ctx, const Target& target, const PatchBody& patch) {
    return Patch(ctx, target, patch, {});
  }
  // Returns the object while it is being deleted, or a Status of success. Without a name it deletes
  // the collection, limited by `selection`.
  virtual ObjectResult Delete(const Context& ctx, const Target& target,
                              const meta::DeleteOptions& options,
                              const meta::ListOptions& selection) = 0;
  ObjectResult Delete(const Context& ctx, const Target& target,
                      const meta::DeleteOptions& options = {}) {
    return Delete(ctx, target, options, {});
  }
  // Starts a watch and returns once the server has accepted it. `options.watch` is implied.
  virtual Result<std::unique_ptr<WatchStream>> Watch(const Context& ctx, const Target& target,
                                                     const meta::ListOptions& options) = 0;

  // Sends any request, with the client's credentials added. Returns every response, whatever its
  // code.
  virtual Result<http::ClientResponse> Call(const Context& ctx, http::ClientRequest request) = 0;
};

// Connects with the first call.
std::unique_ptr<Client> NewClient(ClientOptions options);
// A client over a connection that exists already. `scheme` is that of ClientOptions.
std::unique_ptr<Client> NewClient(std::shared_ptr<http::Connection> connection,
                                  std::string token = "", const runtime::Scheme* scheme = nullptr);
// A client of the server of a kubeconfig. `dialer` must outlive it. `scheme` is that of
// ClientOptions.
Result<std::unique_ptr<Client>> NewClient(const Kubeconfig& config, http::Dialer& dialer,
                                          const runtime::Scheme* scheme = nullptr);

// Returns the dial options for the server of a kubeconfig. kInvalid: its URL is not
// http(s)://host[:port].
Result<http::DialOptions> DialOptionsFor(const Kubeconfig& config);

}  // namespace apiserver::inline v0::client
