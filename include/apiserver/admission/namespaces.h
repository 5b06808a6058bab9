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

// Where admission learns of namespaces: the lister and the client of Go's plugins.
namespace apiserver::inline v0::admission {

// Any thread.
class Namespaces {
 public:
  virtual ~Namespaces() = default;
  // Waits until the namespaces have been seen once; false: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // As far as is known here; null: none.
  virtual runtime::ObjectPtr Get(std::string_view name) const = 0;
  // As it is stored now; may wait. kNotFound: there is none.
  virtual Result<runtime::ObjectPtr> GetLive(const Context& ctx, std::string_view name) const = 0;
};

// The namespaces of a server, followed by an informer. Until it is started nothing is known, and
// nothing is in sync.
class InformedNamespaces final : public Namespaces {
 public:
  explicit InformedNamespaces(LogSink& log = NullLogSink()) : log_(log) {}
  ~InformedNamespaces() override;

  // Begins to follow the server of `client`: in a post-start hook with a loopback client, or any
  // time with the client of another server. Once.
  void Start(std::shared_ptr<client::Client> client);
  // Idempotent. What was known stays known.
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
