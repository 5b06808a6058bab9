#include "apiserver/cpprest/mount.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "apiserver/base/sync.h"
#include "cpprest/cpprest.h"
#include "cpprest/mounted_call.h"
#include "cpprest/request_body.h"
#include "http/host.h"
#include "http/http1_head.h"
#include "http/tokens.h"

namespace apiserver::v0::cpprest {
namespace {

constexpr std::string_view kFrontProxyPrefix = "X-Remote-";
constexpr std::string_view kExtraPrefix = "Impersonate-Extra-";
// Limits how long Stop() waits for clients that do not read.
constexpr auto kLastWrites = std::chrono::seconds(2);
constexpr const char* kStopped = "the server is shutting down";
constexpr const char* kCannotUpgrade =
    "cpprestsdk's listener cannot upgrade a connection, nor speak HTTP/2";

// RFC 9110 §5.5: field values have no controls but the tab.
bool IsText(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

// True if two readers could disagree on where the message ends, as far as cpprestsdk shows it: it
// looks for "chunked" anywhere, and reads a length as far as it is a number.
bool FramedStrangely(const web::http::http_headers& headers) {
  utility::string_t encoding;
  utility::string_t length;
  const bool encoded = headers.match(web::http::header_names::transfer_encoding, encoding);
  const bool measured = headers.match(web::http::header_names::content_length, length);
  if (encoded) return measured || !http::EqualIgnoreCase(encoding, "chunked");
  return measured && (length.empty() || length.find_first_not_of("0123456789") != length.npos);
}

// Returns why http::Listen would refuse the request, or why it is not what its client meant. Null:
// it is good.
const char* Malformed(const web::http::http_headers& headers) {
  if (FramedStrangely(headers)) return "malformed Content-Length or Transfer-Encoding";
  for (const auto& [name, value] : headers) {
    if (!http::IsToken(name) || !IsText(value)) return "malformed header field";
    const bool list = http::EqualIgnoreCase(name, "Impersonate-Group") ||
                      (name.size() >= kExtraPrefix.size() &&
                       http::EqualIgnoreCase(name.substr(0, kExtraPrefix.size()), kExtraPrefix));
    if (list && value.find(", ") != value.npos) {
      return "cpprestsdk's listener joins header fields of the same name: one Impersonate-Group, "
             "and one value of each extra, is all that can be told apart";
    }
  }
  return nullptr;
}

// The answer in place of the server's; code 0: there is none.
struct Refusal {
  int code = 0;
  const char* why = "";
};

// Front proxies are unknown here: headers that name a user are removed, since no certificate proves
// them.
http::Request RequestOf(const web::http::http_request& from, bool tls) {
  http::Request request;
  request.method = from.method();
  request.target = from.relative_uri().to_string();
  for (const auto& [name, value] : from.headers()) request.headers.Add(name, value);
  request.host = request.headers.Get("Host");
  request.headers.Remove("Host");
  request.headers.RemovePrefix(kFrontProxyPrefix);
  const std::string& address = from.remote_address();
  request.remote_address =
      address.find(':') == std::string::npos ? address + ":0" : "[" + address + "]:0";
  request.tls = tls;
  return request;
}

// The state that running calls need; it outlives the mount with them.
struct Mounted : std::enable_shared_from_this<Mounted> {
  Mounted(const http::Service& of, const MountOptions& with)
      : service(of), options(with), loop(http::Loop::Create(*of.log)) {
    loop->Start("cpprest-mount");
  }

  void Handle(const web::http::http_request& request);
  Refusal RefusalOf(const web::http::http_request& from, const http::Request& request,
                    bool full) const;
  void Begin(const std::shared_ptr<MountedCall>& call, http::Request request,
             const Result<std::string>& body);
  void Refuse(const std::shared_ptr<MountedCall>& call, int code, const std::string& why);
  void Over(MountedCall& call);
  void End();

  const http::Service& service;
  const MountOptions options;
  const std::shared_ptr<http::Loop> loop;
  std::atomic<std::size_t> requests{0};
  std::atomic<bool> stopping{false};
  Notification all_over;  // Notified when no call is left of those that End() ended.
  // The two below are used on the loop only.
  bool ended = false;
  std::unordered_set<std::shared_ptr<MountedCall>> calls;
};

// Runs on one of cpprestsdk's threads, which must not wait.
void Mounted::Handle(const web::http::http_request& from) {
  const bool full = ++requests > options.requests_max;
  auto call =
      std::make_shared<MountedCall>(loop, from, [weak = weak_from_this()](MountedCall& over) {
        const auto self = weak.lock();
        if (self) self->Over(over);
      });
  http::Request request = RequestOf(from, options.tls);
  if (const Refusal refusal = RefusalOf(from, request, full); refusal.code != 0) {
    // The body is not wanted, and cpprestsdk would wait for it.
    ReadRequestBody(from, 0, [](const Result<std::string>&) {});
    return loop->Post([self = shared_from_this(), call, refusal] {
      self->Refuse(call, refusal.code, refusal.why);
    });
  }
  ReadRequestBody(from, options.request_body_bytes_max,
                  [self = shared_from_this(), call,
                   request = std::move(request)](Result<std::string> body) mutable {
                    // The listener is most likely closing this connection, and an answer that
                    // begins meanwhile can crash cpprestsdk.
                    if (self->stopping && !body.ok()) return call->Abandon();
                    self->loop->Post([self, call, request = std::move(request),
                                      body = std::move(body)]() mutable {
                      self->Begin(call, std::move(request), body);
                    });
                  });
}

// Checked before the body is read, in the order of their cost.
Refusal Mounted::RefusalOf(const web::http::http_request& from, const http::Request& request,
                           bool full) const {
  if (request.IsUpgrade()) return {501, kCannotUpgrade};
  if (stopping) return {503, kStopped};
  if (full) return {503, "too many requests are under way"};
  if (const char* why = Malformed(from.headers())) return {400, why};
  return {};
}

// Runs on the loop. Checks again: the server may have begun to stop while the body came.
void Mounted::Begin(const std::shared_ptr<MountedCall>& call, http::Request request,
                    const Result<std::string>& body) {
  if (stopping) return Refuse(call, 503, kStopped);
  if (!body.ok()) {
    return Refuse(call, body.status().code(), std::string(body.status().message()));
  }
  if (!http::IsHost(request.host)) return Refuse(call, 400, "malformed Host header");
  if (!http::SplitTarget(request)) return Refuse(call, 400, "malformed request target");
  calls.insert(call);
  call->Start(service, std::move(request), *body);
}

void Mounted::Refuse(const std::shared_ptr<MountedCall>& call, int code, const std::string& why) {
  calls.insert(call);
  call->Refuse(code, why);
}

void Mounted::Over(MountedCall& call) {
  --requests;
  calls.erase(call.shared_from_this());
  if (ended && calls.empty()) all_over.Notify();
}

// Waits at most kLastWrites for the answers in progress. Any thread but the loop; only the first
// call acts.
void Mounted::End() {
  if (stopping.exchange(true)) return;
  loop->Post([self = shared_from_this()] {
    self->ended = true;
    const auto calls = self->calls;
    for (const auto& call : calls) {
      call->End(Status(Reason::kServiceUnavailable, kStopped));
    }
    if (calls.empty()) self->all_over.Notify();
  });
  all_over.WaitFor(kLastWrites);
  loop->Stop();
}

class RealMount final : public Mount {
 public:
  RealMount(const http::Service& service, const MountOptions& options)
      : mounted_(std::make_shared<Mounted>(service, options)) {}
  ~RealMount() override { mounted_->End(); }

  void Handle(const web::http::http_request& request) override { mounted_->Handle(request); }
  void Stop() override { mounted_->End(); }
  const std::shared_ptr<Mounted>& mounted() const { return mounted_; }

 private:
  const std::shared_ptr<Mounted> mounted_;
};

}  // namespace

std::unique_ptr<Mount> MountOn(web::http::experimental::listener::http_listener& listener,
                               const http::Service& service, const MountOptions& options) {
  auto mount = std::make_unique<RealMount>(service, options);
  listener.support([mounted = mount->mounted()](const web::http::http_request& request) {
    mounted->Handle(request);
  });
  return mount;
}

std::unique_ptr<Mount> NewMount(const http::Service& service, const MountOptions& options) {
  return std::make_unique<RealMount>(service, options);
}

}  // namespace apiserver::v0::cpprest
