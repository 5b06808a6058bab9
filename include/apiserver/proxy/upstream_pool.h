#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/tls.h"
#include "apiserver/proxy/location.h"

// Connections to backends that are kept for the next request: the counterpart of Go's
// http.Transport.
namespace apiserver::inline v0::proxy {

// The address of a backend.
struct Endpoint {
  bool tls = false;
  std::string host = {};  // An IP address without brackets, or a name, which is looked up.
  int port = 0;
  // The name that the backend's certificate must have. Empty: ClientTls::server_name of the pool,
  // or else `host`.
  std::string server_name = {};
};
// Returns the address that `location` names; without a port, that of its scheme. kInvalid: it names
// none.
Result<Endpoint> EndpointOf(const Location& location);

// Options of a pool. The times are client-go's.
struct UpstreamPoolOptions {
  // Required. Dials on its loop, on which the pool works, and for On() on others. It must outlive
  // the servers that send requests through the pool; the upgrades that those leave end with it.
  http::Dialer* dialer = nullptr;
  // TLS for backends that have it: the authorities that are trusted, and the certificate that is
  // shown. Without authorities a backend is not verified.
  http::ClientTls tls = {};
  // Uses HTTP/2 with backends that offer it under TLS.
  bool http2 = true;
  // The limit for one connection: name, TCP and TLS together.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(30);
  // A connection without requests is closed after this time.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(90);
  // The most connections of HTTP/1.1 to one backend that are kept without requests, on each loop.
  // More are closed.
  std::size_t idle_per_endpoint_max = 25;
  // The most requests at a time on a connection of HTTP/2. More make another connection, so that
  // watches do not hold up each other when a backend takes no more streams.
  std::size_t requests_per_connection_max = 100;
  // See http::DialOptions.
  std::chrono::milliseconds ping_interval = std::chrono::seconds(30);
  std::chrono::milliseconds ping_timeout = std::chrono::seconds(15);
  std::chrono::milliseconds write_stall_timeout = std::chrono::seconds(60);
  std::shared_ptr<MemoryBudget> memory = nullptr;
};

// A connection that is lent for one request. Used on the pool's loop, where no method blocks; may
// be destroyed on any thread.
class Lease {
 public:
  // Closes a connection of HTTP/1.1 unless GiveBack() was called.
  virtual ~Lease() = default;
  virtual http::Connection& connection() = 0;
  // Returns whether the connection has served a request before, so that its backend may have closed
  // it without this side knowing yet.
  virtual bool reused() const = 0;
  // Tells that the request and its answer are complete: the connection may serve another one.
  virtual void GiveBack() = 0;
};

// Connections to backends that are trusted by the same rules and shown the same certificate: a
// change of either is a new pool, and requests in progress keep the old one. Thread-safe; no method
// blocks.
class UpstreamPool {
 public:
  virtual ~UpstreamPool() = default;
  // Receives a connection. kServiceUnavailable, kTimeout: none could be made, in Go's words. Called
  // once, on the loop, where it must not block; before Lend() returns, if that is called there,
  // too. Not called at all if it was cancelled before.
  using Lent = UniqueFunction<void(Result<std::unique_ptr<Lease>>)>;
  // Lends a connection to `endpoint`: a kept one, or a new one if there is none or if `fresh`.
  // Calling the returned function gives the wait up.
  virtual Executor::Cancel Lend(const Endpoint& endpoint, bool fresh, Lent done) = 0;
  // Dials a connection over HTTP/1.1 that belongs to the caller, for an upgrade. Done and the
  // returned function are those of http::Dialer::DialLater.
  virtual Executor::Cancel DialForUpgrade(const Endpoint& endpoint, http::Dialer::Dialed done) = 0;
  // The loop on which connections live and callbacks are called.
  virtual Executor& loop() = 0;
  // Returns a pool by the same rules whose connections live on `loop`, that of an exchange
  // (Exchange::shared_loop()): a request that is forwarded through it needs no second thread. This
  // pool itself, if its dialer has only its own loop.
  virtual std::shared_ptr<UpstreamPool> On(const std::shared_ptr<http::Loop>& loop) = 0;
};

// Makes a pool without connections. kInvalid: the TLS material cannot be read.
Result<std::shared_ptr<UpstreamPool>> NewUpstreamPool(UpstreamPoolOptions options);

}  // namespace apiserver::inline v0::proxy
