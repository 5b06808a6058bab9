#include "http/preface.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace apiserver::v0::http {
namespace {

// The first bytes of every HTTP/2 connection (RFC 9113, 3.4).
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

class PrefaceSniffer final : public Protocol {
 public:
  PrefaceSniffer(Carrier& carrier, Clock::Monotonic until,
                 std::function<std::unique_ptr<Protocol>(bool)> make)
      : carrier_(carrier), until_(until), make_(std::move(make)) {}

  // Decides at the first byte that differs, so that a slow HTTP/1.1 client is not kept waiting for
  // the length of the preface.
  void Receive(std::string_view bytes) override {
    received_.append(bytes);
    const std::size_t size = std::min(received_.size(), kPreface.size());
    const bool http2 = std::string_view(received_).substr(0, size) == kPreface.substr(0, size);
    if (http2 && size < kPreface.size()) return;
    carrier_.ReplaceProtocol(make_(http2), std::move(received_));
  }
  void Produce(std::string& /*out*/, std::size_t /*limit*/) override {}
  State state() const override { return state_; }
  bool wants_read() const override { return true; }
  std::optional<Clock::Monotonic> deadline() const override { return until_; }
  void Drain() override { state_ = State::kFinished; }
  void OnClosed(const Status& /*why*/) override {}

 private:
  Carrier& carrier_;
  const Clock::Monotonic until_;
  std::function<std::unique_ptr<Protocol>(bool)> make_;
  std::string received_;
  State state_ = State::kOpen;
};

}  // namespace

std::unique_ptr<Protocol> NewPrefaceSniffer(Carrier& carrier, Clock::Monotonic deadline,
                                            std::function<std::unique_ptr<Protocol>(bool)> make) {
  return std::make_unique<PrefaceSniffer>(carrier, deadline, std::move(make));
}

}  // namespace apiserver::v0::http
