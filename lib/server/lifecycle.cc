// The start and the stop of a Server; shutdown.cc has the phases.

#include <utility>

#include "apiserver/base/trace.h"
#include "base/status_macros.h"
#include "server/certificates.h"
#include "server/generic_api_server.h"
#include "server/shutdown.h"

namespace apiserver::v0::server {

namespace {

constexpr std::chrono::seconds kReadinessPeriod(5);
// Limits the last flush: a collector that does not answer must not keep a server from stopping.
constexpr std::chrono::seconds kTraceFlushGrace(5);

}  // namespace

Status Server::FollowCertificates() {
  if (!config_.serving || config_.certificates.empty()) return {};
  ASSIGN_OR_RETURN(certificates_,
                   WatchCertificates(config_.certificates, config_.serving->tls, *metrics_,
                                     {.files = *config_.certificates.file_system,
                                      .executor = *pool_,
                                      .clock = *config_.clock,
                                      .log = *config_.log}));
  return {};
}

Status Server::Listen() {
  if (!config_.serving) return {};
  if (config_.client_ca) config_.serving->tls->OfferClientAuthorities(config_.client_ca);
  auto& errors = metrics_
                     ->Counters({.name = "apiserver_tls_handshake_errors_total",
                                 .help = "[ALPHA] Number of requests dropped with 'TLS handshake "
                                         "error from' error"})
                     .With({});
  config_.serving->on_handshake_error = [this, &errors](const std::string& peer,
                                                        const Status& why) {
    errors.Add();
    Log(*config_.log, LogLevel::kDebug, "TLS handshake error",
        {{"from", peer}, {"error", std::string(why.message())}});
  };
  ASSIGN_OR_RETURN(listener_, http::Listen(*config_.serving, service_));
  port_ = listener_->port();
  // Discovery contains the address, whose port is known only now.
  routes_.Touch();
  Log(*config_.log, LogLevel::kInfo, "serving",
      {{"server", config_.name}, {"address", ServerAddress()}});
  return {};
}

// Logs every few seconds what the storages wait for, until all are ready. Jobs that get on have
// lines of their own, so it is silent after new reports.
void Server::LogReadiness(std::uint64_t reports_before) {
  const Status ready = StorageReady();
  if (ready.ok()) return;
  const std::uint64_t reports = progress_->reports();
  if (reports == reports_before) {
    Log(*config_.log, LogLevel::kInfo, "not ready yet", {{"why", std::string(ready.message())}});
  }
  auto next = readiness_.Lock();
  if (signals_.shutdown_initiated.Signaled()) return;
  *next = pool_->PostAfter(kReadinessPeriod, [this, reports] { LogReadiness(reports); });
}

Status Server::Start() {
  if (!prepared_) return {Reason::kInvalid, "PrepareRun has not been called"};
  if (started_.exchange(true)) return {Reason::kInvalid, "Start was called before"};
  Status outcome = StartParts();
  start_ended_.Notify();
  return outcome;
}

Status Server::StartParts() {
  RETURN_IF_ERROR(FollowCertificates());
  if (debug_socket_) RETURN_IF_ERROR(debug_socket_->Listen(config_.debug_socket_path));
  RETURN_IF_ERROR(Listen());
  RETURN_IF_ERROR(post_start_.Run({*this, running_}, *config_.log));
  signals_.mux_and_discovery_complete.Signal();
  LogReadiness(progress_->reports());
  return {};
}

void Server::Stop() {
  auto stopped = stopped_.Lock();
  if (std::exchange(*stopped, true)) return;
  if (started_ && !start_ended_.HasBeenNotified()) {
    // Hooks may wait for what never comes, such as a storage on another machine.
    running_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
    start_ended_.Wait();
  }
  Hooks none;
  // Delay and hooks are for a server whose clients have seen it run.
  ShutDown({.delay = started_ ? config_.shutdown_delay : std::chrono::milliseconds(0),
            .grace = config_.shutdown_grace,
            .watch_grace = config_.shutdown_watch_termination_grace,
            .send_retry_after = config_.shutdown_send_retry_after},
           {.name = config_.name,
            .progress = progress_,
            .context = {*this, running_},
            .pre_shutdown_hooks = started_ ? pre_shutdown_ : none,
            .in_flight = in_flight_,
            .listener = listener_.get(),
            .in_process = in_process_,
            .flush =
                [this] {
                  if (auditing_) auditing_->Shutdown();
                }},
           signals_);
  if (debug_socket_) debug_socket_->Stop();
  certificates_ = nullptr;
  if (auto cancel = std::exchange(*readiness_.Lock(), nullptr)) cancel();
  flow_control_.Stop();
  checks_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
  // The storages go before the pool, which runs their timers. No lock is held: a storage waits for
  // its work, which may ask whether storages are ready.
  for (const OwnedStoragePtr& storage : installer_.Storages()) storage->storage().Destroy();
  pool_->Stop();
  if (config_.tracer) config_.tracer->Flush(kTraceFlushGrace);
}

Status Server::Run(const Context& ctx) {
  Notification done;
  const auto registration = ctx.OnDone([&done] { done.Notify(); });
  RETURN_IF_ERROR(Start());
  done.Wait();
  Stop();
  return {};
}

}  // namespace apiserver::v0::server
