#include "apiserver/codec/json.h"
#include "apiserver/response/response.h"
#include "apiserver/rest/storage.h"
#include "server/filters/filters.h"
#include "server/filters/seat.h"

namespace apiserver::v0::server {

namespace {

bool IsRead(const http::Exchange& exchange) {
  const std::string_view method = exchange.request().method;
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

class Body final : public http::Filter {
 public:
  explicit Body(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::string_view name() const override { return "body"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (IsRead(exchange) || !exchange.has_body()) return http::Step::Next();
    if (exchange.Find<rest::StreamedBody>()) return http::Step::Next();
    const auto* const taken = exchange.Find<SeatTaken>();
    if (taken && !exchange.body_arrived()) taken->seat->GiveUp(exchange);
    return exchange.CollectBody(bytes_max_);
  }

 private:
  std::size_t bytes_max_;
};

class SeatAgain final : public http::Filter {
 public:
  std::string_view name() const override { return "seat-again"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const auto* const taken = exchange.Find<SeatTaken>();
    return taken ? taken->seat->TakeAgain(exchange) : http::Step::Next();
  }
};

class DecodingRoom final : public http::Filter {
 public:
  std::string_view name() const override { return "decoding-room"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (IsRead(exchange)) return http::Step::Next();
    // The answer to a write is never refused, so the write does not begin while its tenant reads
    // none.
    if (exchange.OutputOver()) return response::NoRoomToAnswer();
    if (exchange.body_bytes() == 0) return http::Step::Next();
    return exchange.ReserveDecoding(codec::DecodedBytesMax(exchange.body_bytes()));
  }
};

}  // namespace

FilterPtr NewBody(std::size_t bytes_max) { return std::make_unique<Body>(bytes_max); }
FilterPtr NewSeatAgain() { return std::make_unique<SeatAgain>(); }
FilterPtr NewDecodingRoom() { return std::make_unique<DecodingRoom>(); }

}  // namespace apiserver::v0::server
