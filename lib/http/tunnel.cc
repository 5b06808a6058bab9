#include "http/tunnel.h"

#include <utility>

namespace apiserver::inline v0::http {
namespace {

class LinkedTunnel final : public Tunnel {
 public:
  explicit LinkedTunnel(std::shared_ptr<TunnelLink> link) : link_(std::move(link)) {}
  ~LinkedTunnel() override { Close(); }

  void Start(UniqueFunction<void(std::string_view)> on_data) override {
    link_->loop->Post([link = link_, on_data = std::move(on_data)]() mutable {
      if (link->end == nullptr) {
        on_data({});
        return;
      }
      link->on_data = std::move(on_data);
      link->end->OnTunnelStart();
    });
  }

  void Write(std::string bytes) override {
    link_->loop->Post([link = link_, bytes = std::move(bytes)]() mutable {
      if (link->end != nullptr) link->end->OnTunnelWrite(std::move(bytes));
    });
  }

  void Pour(std::unique_ptr<BodySource> body) override {
    link_->loop->Post([link = link_, body = std::move(body)]() mutable {
      if (link->end != nullptr) link->end->OnTunnelPour(std::move(body));
    });
  }

  void Close() override {
    link_->loop->Post([link = link_] {
      if (link->end != nullptr) link->end->OnTunnelClose();
    });
  }

 private:
  std::shared_ptr<TunnelLink> link_;
};

}  // namespace

std::unique_ptr<Tunnel> NewTunnel(std::shared_ptr<TunnelLink> link) {
  return std::make_unique<LinkedTunnel>(std::move(link));
}

}  // namespace apiserver::inline v0::http
