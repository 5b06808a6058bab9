#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "apiserver/runtime/object.h"

// The namespaces that admission looks up: the lister and the client of Go's plugins.
namespace apiserver::inline v0::admission {

// A source of namespaces. Any thread may call its methods.
class Namespaces {
 public:
  virtual ~Namespaces() = default;
  // Waits until the namespaces have been listed once. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // Returns a namespace from memory. Null: there is none there.
  virtual runtime::ObjectPtr Get(std::string_view name) const = 0;
  // Returns a namespace as it is stored now; may block. kNotFound: there is none.
  virtual Result<runtime::ObjectPtr> GetLive(const Context& ctx, std::string_view name) const = 0;
};

// The namespaces of a server, followed by an informer. Before Start() none is known, and nothing is
// in sync.
class InformedNamespaces final : public Namespaces {
 public:
  // `log`, which must outlive it, gets the informer's errors.
  explicit InformedNamespaces(LogSink& log = NullLogSink()) : log_(log) {}
  ~InformedNamespaces() override;

  // Begins to follow the server of `client`: in a post-start hook with a loopback client, or at any
  // time with the client of another server. Called once.
  void Start(std::shared_ptr<client::Client> client);
  // Stops following. Idempotent. Known namespaces stay known.
  void Stop();

  bool WaitForSync(std::chrono::milliseconds timeout) const override;
  runtime::ObjectPtr Get(std::string_view name) const override;
  Result<runtime::ObjectPtr> GetLive(const Context& ctx, std::string_view name) const override;

 private:
  struct Followed {
    std::shared_ptr<client::Client> client;
    std::shared_ptr<client::Informer> informer;
  };
  Followed followed() const { return *followed_.Lock(); }

  LogSink& log_;
  Guarded<Followed> followed_;
  Notification started_;
};

}  // namespace apiserver::inline v0::admission
