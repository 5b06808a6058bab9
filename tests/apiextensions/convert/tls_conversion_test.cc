// A conversion webhook behind TLS: its authority is replaced, and it hangs.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/http/listener.h"
#include "apiserver/http/tls.h"
#include "conversion_fixture.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

http::KeyPair ConversionAuthority() {
  return http::NewCertificateAuthority("conversion", RealClock()).value();
}

class WholeReview final : public http::Filter {
 public:
  std::string_view name() const override { return "whole-review"; }
  http::Step Begin(http::Exchange& exchange) const override {
    return exchange.CollectBody(1 << 20);
  }
};

// The service "conv" of the namespace "ns", on a free port.
class ConversionServer final : public client::ServiceResolver {
 public:
  explicit ConversionServer(const http::KeyPair& authority)
      : pool_(NewThreadPool({.name = "convert"})) {
    service_.filters.push_back(std::make_unique<WholeReview>());
    service_.pool = pool_.get();
    service_.handler = [this](http::Exchange& exchange) { return Handle(exchange); };
    const auto pair = http::NewCertificate(
        authority, {.common_name = "conv.ns.svc", .dns_names = {"conv.ns.svc"}}, RealClock());
    listener_ = http::Listen({.tls = http::NewServerTls(*pair).value()}, service_).value();
  }
  ConversionServer(const ConversionServer&) = delete;
  ConversionServer& operator=(const ConversionServer&) = delete;
  ~ConversionServer() override {
    hanging_.Lock()->clear();
    listener_->Stop(std::chrono::milliseconds(0));
  }

  Result<std::string> ResolveEndpoint(std::string_view namespace_, std::string_view name,
                                      int port) const override {
    if (namespace_ != "ns" || name != "conv" || port != 8443) {
      return Status(Reason::kInvalid, "no such service");
    }
    return "127.0.0.1:" + std::to_string(listener_->port());
  }
  void Hang() { hangs_ = true; }
  int calls() const { return calls_; }

 private:
  http::Step Handle(http::Exchange& exchange) {
    ++calls_;
    if (hangs_) {
      return http::Step::Later(
          [this](http::Resume resume) { hanging_.Lock()->push_back(std::move(resume)); });
    }
    exchange.writer().Send({.code = 200, .headers = {{"Content-Type", "application/json"}}},
                           ConversionAnswer(*exchange.body(), ConvertNontrivial));
    return http::Step::Done();
  }

  std::unique_ptr<ThreadPool> pool_;
  http::Service service_;
  Guarded<std::vector<http::Resume>> hanging_;
  std::atomic<bool> hangs_ = false;
  std::atomic<int> calls_ = 0;
  std::unique_ptr<http::Listener> listener_;
};

// A converter that calls it over real connections.
struct DialledConversion {
  explicit DialledConversion(const ConversionServer& server, const std::string& ca_pem) {
    apiextensions::ConversionOptions options;
    options.resolver = &server;
    options.metrics = registry;
    options.timeout = std::chrono::seconds(1);
    converter = std::make_shared<apiextensions::WebhookConverter>(
        std::make_shared<apiextensions::ConversionCaller>(options),
        "multiversion.stable.example.com", WebhookWith(ca_pem));
    kind = MultiVersionKind(converter);
  }
  static apiextensions::ConversionWebhook WebhookWith(const std::string& ca_pem) {
    return {.client_config = {.service = client::WebhookService{"ns", "conv", "/convert", 8443},
                              .ca_bundle = ca_pem},
            .review_versions = {"v1"}};
  }
  Status Convert() const {
    runtime::Object object(kind, "v1beta1");
    object.Edit("metadata", "name") = "a";
    object.Edit("content", "key") = "value";
    return runtime::Convert(Context::Background(), object, "v1beta2");
  }

  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::shared_ptr<apiextensions::WebhookConverter> converter;
  runtime::KindPtr kind;
};

const std::string kDialledHead =
    "conversion webhook for stable.example.com/v1beta1, Kind=MultiVersion failed: Post "
    "\"https://conv.ns.svc:8443/convert?timeout=";

}  // namespace

TEST_CASE("conversion webhook: a new CA bundle is used without a restart", "[apiextensions]") {
  const http::KeyPair authority = ConversionAuthority();
  ConversionServer server(authority);
  DialledConversion dialled(server, ConversionAuthority().certificate_pem);
  const Status untrusted = dialled.Convert();
  CHECK(std::string(untrusted.message()).starts_with(kDialledHead));
  CHECK(untrusted.message().find("tls: ") != std::string_view::npos);
  CHECK(server.calls() == 0);

  dialled.converter->Swap(DialledConversion::WebhookWith(authority.certificate_pem));
  CHECK(dialled.Convert().ToString() == Status().ToString());
  CHECK(server.calls() == 1);
  dialled.converter->Swap(DialledConversion::WebhookWith("no certificate"));
  CHECK_FALSE(dialled.Convert().ok());
  CHECK(server.calls() == 1);
}

TEST_CASE("conversion webhook: one that hangs is given up when its time is over",
          "[apiextensions]") {
  const http::KeyPair authority = ConversionAuthority();
  ConversionServer server(authority);
  DialledConversion dialled(server, authority.certificate_pem);
  server.Hang();
  const auto began = RealClock().Now();
  CHECK(dialled.Convert().message() == kDialledHead + "1s\": context deadline exceeded");
  CHECK(RealClock().Now() - began < std::chrono::seconds(20));
  CHECK(server.calls() == 1);
}
