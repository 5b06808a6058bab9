#include "apiserver/client/cpprest/http_client.h"

#include <deque>
#include <optional>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "client/call_target.h"
#include "client/cpprest/call.h"
#include "client/cpprest/peer.h"

namespace apiserver::v0::client {
namespace {

// The most idle lines; the one given back longest ago is dropped first. cpprestsdk closes a
// connection that was idle for 30 to 60 seconds.
constexpr std::size_t kIdleLinesMax = 32;
// The timeout of cpprestsdk between two reads, which ours precedes.
constexpr auto kReadTimeout = std::chrono::hours(1);

boost::asio::ip::tcp::socket& SocketOf(web::http::client::native_handle handle, bool tls) {
  using Socket = boost::asio::ip::tcp::socket;
  if (!tls) return *static_cast<Socket*>(handle);
  return static_cast<boost::asio::ssl::stream<Socket&>*>(handle)->next_layer();
}

class KeptLines final : public Lines {
 public:
  explicit KeptLines(std::shared_ptr<const TlsMaterial> material)
      : material_(std::move(material)) {}

  std::optional<Line> TakeKept(const CallTarget& target) override {
    const std::string key = KeyOf(target);
    auto idle = idle_.Lock();
    for (auto line = idle->rbegin(); line != idle->rend(); ++line) {
      if (line->key != key) continue;
      Line found = std::move(*line);
      idle->erase(std::next(line).base());
      return found;
    }
    return std::nullopt;
  }

  Line TakeNew(const CallTarget& target, const Endpoint& to) override {
    auto peer = std::make_shared<Peer>(material_, target.host);
    auto wire = std::make_shared<Wire>(to.protocol);
    web::http::client::http_client_config config;
    config.set_timeout(kReadTimeout);
    config.set_max_redirects(0);
    config.set_tlsext_sni_enabled(false);  // The Peer sets it.
    config.set_ssl_context_callback([peer](boost::asio::ssl::context& context) {
      Peer::Prepare(peer, context.native_handle());
    });
    config.set_nativehandle_options(
        [wire, tls = target.tls](web::http::client::native_handle handle) {
          wire->Use(SocketOf(handle, tls));
        });
    const std::string base = (target.tls ? "https://" : "http://") + to.host + ":" + target.to_port;
    return {.key = KeyOf(target),
            .to = to.host + ":" + target.to_port,
            .peer = std::move(peer),
            .wire = std::move(wire),
            .client = std::make_unique<web::http::client::http_client>(base, config)};
  }

  void GiveBack(Line line) override {
    Line dropped;  // After the lock is given up.
    auto idle = idle_.Lock();
    idle->push_back(std::move(line));
    if (idle->size() <= kIdleLinesMax) return;
    dropped = std::move(idle->front());
    idle->pop_front();
  }

 private:
  static std::string KeyOf(const CallTarget& target) { return target.base + " " + target.host; }

  const std::shared_ptr<const TlsMaterial> material_;
  Guarded<std::deque<Line>> idle_;
};

class CpprestHttpClient final : public HttpClient {
 public:
  CpprestHttpClient(const HttpClientOptions& options, std::shared_ptr<const TlsMaterial> material)
      : address_(options.address),
        response_bytes_max_(options.response_bytes_max),
        lines_(std::make_shared<KeptLines>(std::move(material))) {}

  void Start(const Context& ctx, HttpRequest request, Done done) override {
    if (Status bad = CheckCallHead(request); !bad.ok()) return done(std::move(bad));
    auto target = ParseCallTarget(request.url, address_);
    if (!target.ok()) return done(target.status());
    // cpprestsdk passes "[::1]" to the resolver, which does not know it.
    if (target->to_host.find(':') != std::string::npos) {
      return done(Status(Reason::kInvalid,
                         "cannot call \"" + request.url +
                             "\": connecting to an IPv6 address is not supported; give a name"));
    }
    if (Status ended = ctx.Err(); !ended.ok()) {
      return done(Status(Reason::kTimeout, std::string(ended.message())));
    }
    std::make_shared<PendingCall>(lines_, response_bytes_max_, std::move(done))
        ->Start(ctx, *std::move(target), std::move(request));
  }

 private:
  const std::string address_;
  const std::size_t response_bytes_max_;
  const std::shared_ptr<KeptLines> lines_;
};

}  // namespace

Result<std::shared_ptr<HttpClient>> NewCpprestHttpClient(const HttpClientOptions& options) {
  ASSIGN_OR_RETURN(auto material, ReadTlsMaterial(options.tls));
  return std::make_shared<CpprestHttpClient>(options, std::move(material));
}

HttpClientFactory NewCpprestHttpClientFactory() { return NewCpprestHttpClient; }

}  // namespace apiserver::v0::client
