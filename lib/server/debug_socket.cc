#include "server/debug_socket.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "apiserver/response/response.h"
#include "server/filters/filters.h"
#include "server/page_not_found.h"

namespace apiserver::v0::server {

namespace {

// Few connections: the socket is for one administrator at a time.
constexpr std::size_t kConnectionsMax = 16;

// A socket of an earlier process may be left over; a file of another type is kept.
Status RemoveSocket(const std::string& path) {
  std::error_code error;
  const auto found = std::filesystem::symlink_status(path, error);
  if (found.type() == std::filesystem::file_type::not_found) return {};
  if (found.type() != std::filesystem::file_type::socket) {
    return {Reason::kConflict, path + " exists and is no socket"};
  }
  return RealFileSystem().Remove(path);
}

}  // namespace

// The debug paths have neither authentication nor flow control: access is up to the permissions of
// the socket's file.
DebugSocket::DebugSocket(const Needs& needs) {
  service_.filters.push_back(NewBody(needs.body_bytes_max));
  service_.handler = [this](http::Exchange& exchange) {
    const auto handler = mux_.Find(exchange.request().path).handler;
    return handler ? (*handler)(exchange) : PageNotFound(exchange);
  };
  service_.write_error = [](http::Exchange& exchange, const Status& status) {
    response::WriteStatus(exchange, status);
  };
  service_.pool = &needs.pool;
  service_.memory = needs.memory;
  service_.log = &needs.log;
}

Status DebugSocket::Listen(const std::string& path) {
  const auto explain = [](const Status& status) {
    return Status(status.reason(), "--debug-socket-path: " + std::string(status.message()));
  };
  if (const Status removed = RemoveSocket(path); !removed.ok()) return explain(removed);
  auto listener = http::Listen(
      {.address = "unix:" + path, .connections_max = kConnectionsMax, .log = service_.log},
      service_);
  if (!listener.ok()) return explain(listener.status());
  listener_ = *std::move(listener);
  path_ = path;
  return {};
}

void DebugSocket::Stop() {
  if (!listener_ || path_.empty()) return;
  listener_->Stop(std::chrono::milliseconds(0));
  (void)RemoveSocket(std::exchange(path_, ""));
}

}  // namespace apiserver::v0::server
