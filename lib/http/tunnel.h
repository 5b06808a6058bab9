#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/http/exchange.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// The transport's half of a Tunnel. On the loop only.
class TunnelEnd {
 public:
  virtual void OnTunnelStart() = 0;
  virtual void OnTunnelWrite(std::string bytes) = 0;
  virtual void OnTunnelPour(std::unique_ptr<BodySource> body) = 0;
  virtual void OnTunnelClose() = 0;

 protected:
  ~TunnelEnd() = default;
};

// What a Tunnel and its connection share; each may go first.
struct TunnelLink {
  std::shared_ptr<Loop> loop;
  // Of the loop: null when the connection has gone.
  TunnelEnd* end = nullptr;
  UniqueFunction<void(std::string_view)> on_data;
};

std::unique_ptr<Tunnel> NewTunnel(std::shared_ptr<TunnelLink> link);

}  // namespace apiserver::inline v0::http
