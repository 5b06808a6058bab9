#include "apiserver/cpprest/mount.h"

#include <atomic>
#include <unordered_set>
#include <utility>

#include "apiserver/base/sync.h"
#include "cpprest/cpprest.h"
#include "cpprest/mounted_call.h"
#include "cpprest/request_body.h"
#include "http/http1_head.h"

namespace apiserver::inline v0::cpprest {
namespace {

constexpr std::string_view kFrontProxyPrefix = "X-Remote-";
constexpr const char* kStopped = "the server is shutting down";

http::Request RequestOf(const web::http::http_request& from, bool tls) {
  http::Request request;
  request.method = from.method();
  request.target = from.relative_uri().to_string();
  for (const auto& [name, value] : from.headers()) request.headers.Add(name, value);
  request.host = request.headers.Get("Host");
  request.headers.Remove("Host");
  request.headers.RemovePrefix(kFrontProxyPrefix);
  request.remote_address = from.remote_address() + ":0";
  request.tls = tls;
  return request;
}

// What calls under way need; outlives the mount with them.
struct Mounted : std::enable_shared_from_this<Mounted> {
  Mounted(const http::Service& of, const MountOptions& with)
      : service(of), options(with), loop(http::Loop::Create(*of.log)) {
    loop->Start("cpprest-mount");
  }

  void Handle(const web::http::http_request& request);
  void Begin(const std::shared_ptr<MountedCall>& call, http::Request request,
             const Result<std::string>& body);
  void End();

  const http::Service& service;
  const MountOptions options;
  const std::shared_ptr<http::Loop> loop;
  std::atomic<std::size_t> requests{0};
  std::atomic<bool> stopping{false};
  // Of the loop.
  std::unordered_set<std::shared_ptr<MountedCall>> calls;
};

// On one of cpprestsdk's threads, which must not wait.
void Mounted::Handle(const web::http::http_request& from) {
  const bool full = ++requests > options.requests_max;
  auto call =
      std::make_shared<MountedCall>(loop, from, [weak = weak_from_this()](MountedCall& over) {
        const auto self = weak.lock();
        if (!self) return;
        --self->requests;
        self->calls.erase(over.shared_from_this());
      });
  http::Request request = RequestOf(from, options.tls);
  const bool upgrade = request.IsUpgrade();
  if (stopping || full || upgrade) {
    // Its body is not wanted, and cpprestsdk would wait for it.
    ReadRequestBody(from, 0, [](const Result<std::string>&) {});
    if (!upgrade) return call->Refuse(503, stopping ? kStopped : "too many requests are under way");
    return call->Refuse(501, "cpprestsdk's listener cannot upgrade a connection, nor speak HTTP/2");
  }
  ReadRequestBody(from, options.request_body_bytes_max,
                  [self = shared_from_this(), call,
                   request = std::move(request)](Result<std::string> body) mutable {
                    self->loop->Post([self, call, request = std::move(request),
                                      body = std::move(body)]() mutable {
                      self->Begin(call, std::move(request), body);
                    });
                  });
}

void Mounted::Begin(const std::shared_ptr<MountedCall>& call, http::Request request,
                    const Result<std::string>& body) {
  if (stopping) return call->Refuse(503, kStopped);
  if (!body.ok()) {
    return call->Refuse(body.status().code(), std::string(body.status().message()));
  }
  if (!http::SplitTarget(request)) return call->Refuse(400, "malformed request target");
  calls.insert(call);
  call->Start(service, std::move(request), *body);
}

void Mounted::End() {
  if (stopping.exchange(true)) return;
  const auto done = std::make_shared<Notification>();
  loop->Post([self = shared_from_this(), done] {
    for (const auto& call : std::exchange(self->calls, {})) {
      call->End(Status(Reason::kServiceUnavailable, kStopped));
    }
    done->Notify();
  });
  done->Wait();
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

}  // namespace apiserver::inline v0::cpprest
