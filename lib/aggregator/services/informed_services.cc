#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "apiserver/aggregator/services.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

using runtime::Object;
using runtime::Value;

// The label of an EndpointSlice that has the name of its service.
constexpr char kServiceLabel[] = "kubernetes.io/service-name";

std::string TextOf(const Value& value) { return std::string(value.AsString()); }

std::optional<int> PortOf(const Value& value) {
  return value.is_null() ? std::nullopt : std::optional(static_cast<int>(value.AsInt()));
}

Service ServiceOf(const Object& object) {
  const Value spec = object["spec"];
  Service service{.namespace_ = std::string(object.namespace_()),
                  .name = std::string(object.name()),
                  .cluster_ip = TextOf(spec["clusterIP"]),
                  .external_name = TextOf(spec["externalName"])};
  if (std::string type = TextOf(spec["type"]); !type.empty()) service.type = std::move(type);
  for (const Value& family : spec["ipFamilies"].items()) {
    service.ip_families.push_back(TextOf(family));
  }
  for (const Value& port : spec["ports"].items()) {
    service.ports.push_back({TextOf(port["name"]), static_cast<int>(port["port"].AsInt())});
  }
  return service;
}

EndpointSlice SliceOf(const Object& object) {
  EndpointSlice slice{.address_type = TextOf(object["addressType"])};
  for (const Value& each : object["endpoints"].items()) {
    Endpoint endpoint;
    for (const Value& address : each["addresses"].items()) {
      endpoint.addresses.push_back(TextOf(address));
    }
    const Value ready = each["conditions"]["ready"];
    if (!ready.is_null()) endpoint.ready = ready.AsBool();
    slice.endpoints.push_back(std::move(endpoint));
  }
  for (const Value& port : object["ports"].items()) {
    // A port without a name is that of the service's port without a name.
    slice.ports.push_back({TextOf(port["name"]), PortOf(port["port"])});
  }
  return slice;
}

class Informed final : public InformedServices {
 public:
  explicit Informed(LogSink& log) : log_(log) {}
  ~Informed() override { Stop(); }

  using InformedServices::Start;
  void Start(std::shared_ptr<client::Client> client, bool slices) override {
    client_ = std::move(client);
    services_ = Follow({"", "v1", "services"},
                       [this](const Object& object, bool gone) { TakeService(object, gone); });
    services_->Start();
    if (slices) {
      slices_ = Follow({"discovery.k8s.io", "v1", "endpointslices"},
                       [this](const Object& object, bool gone) { TakeSlice(object, gone); });
      slices_->Start();
    }
    started_.Notify();
  }

  void Stop() override {
    if (!started_.WaitFor(std::chrono::milliseconds(0))) return;
    services_->Stop();
    if (slices_) slices_->Stop();
    // The client's connection has a thread, which is not needed any more.
    client_ = nullptr;
  }

  bool WaitForSync(std::chrono::milliseconds timeout) const override {
    const auto until = RealClock().Now() + timeout;
    const auto left = [&until] {
      return std::max(std::chrono::milliseconds(0),
                      std::chrono::ceil<std::chrono::milliseconds>(until - RealClock().Now()));
    };
    return started_.WaitFor(timeout) && services_->WaitForSync(left()) &&
           (!slices_ || slices_->WaitForSync(left()));
  }

  Result<std::shared_ptr<const Service>> FindService(std::string_view service_namespace,
                                                     std::string_view name) const override {
    RETURN_IF_ERROR(Synced());
    const auto known = known_.Lock();
    const auto found = known->find(Key(service_namespace, name));
    if (found != known->end() && found->second.service) return found->second.service;
    return meta::NewNotFound({"", "service"}, name);
  }

  Result<std::vector<std::shared_ptr<const EndpointSlice>>> FindEndpointSlices(
      std::string_view service_namespace, std::string_view name) const override {
    RETURN_IF_ERROR(Synced());
    if (!slices_) return Status(Reason::kServiceUnavailable, "there are no endpointslices");
    std::vector<std::shared_ptr<const EndpointSlice>> slices;
    const auto known = known_.Lock();
    const auto found = known->find(Key(service_namespace, name));
    if (found == known->end()) return slices;
    for (const auto& [slice_name, slice] : found->second.slices) slices.push_back(slice);
    return slices;
  }

  void SetOnChange(OnChange on_change) override { on_change_.Lock()->swap(on_change); }

 private:
  using Names = std::pair<std::string, std::string>;
  // A service and its EndpointSlices by name, which may come before the service does.
  struct Known {
    std::shared_ptr<const Service> service;
    std::map<std::string, std::shared_ptr<const EndpointSlice>> slices;
  };

  static Names Key(std::string_view service_namespace, std::string_view name) {
    return {std::string(service_namespace), std::string(name)};
  }

  // Each forwarded request asks.
  Status Synced() const {
    if (synced_.load(std::memory_order_acquire)) return {};
    if (WaitForSync(std::chrono::milliseconds(0))) {
      synced_.store(true, std::memory_order_release);
      return {};
    }
    return {Reason::kServiceUnavailable, "services have not been listed yet"};
  }

  std::unique_ptr<client::Informer> Follow(
      runtime::GroupVersionResource resource,
      const std::function<void(const Object& object, bool gone)>& take) {
    client::InformerHandler handler{
        .on_add = [take](const runtime::ObjectPtr& object) { take(*object, /*gone=*/false); },
        .on_update =
            [take](const runtime::ObjectPtr& before, const runtime::ObjectPtr& now) {
              // A slice may have got another service.
              if (before->labels()[kServiceLabel] != now->labels()[kServiceLabel]) {
                take(*before, /*gone=*/true);
              }
              take(*now, /*gone=*/false);
            },
        .on_delete = [take](const runtime::ObjectPtr& last) { take(*last, /*gone=*/true); }};
    return client::NewInformer(*client_, {.target = {.resource = std::move(resource)},
                                          .handlers = {std::move(handler)},
                                          .log = &log_});
  }

  void TakeService(const Object& object, bool gone) {
    std::shared_ptr<const Service> service;
    if (!gone) service = std::make_shared<const Service>(ServiceOf(object));
    Change(Key(object.namespace_(), object.name()),
           [&service](Known& known) { known.service = service; });
  }

  void TakeSlice(const Object& object, bool gone) {
    const std::string name(object.name());
    std::shared_ptr<const EndpointSlice> slice;
    if (!gone) slice = std::make_shared<const EndpointSlice>(SliceOf(object));
    Change(Key(object.namespace_(), object.labels()[kServiceLabel].AsString()), [&](Known& known) {
      if (slice) {
        known.slices[name] = slice;
      } else {
        known.slices.erase(name);
      }
    });
  }

  // Holds the lock while it tells, so that SetOnChange() waits for a call that is running.
  void Change(const Names& names, const std::function<void(Known&)>& change) {
    {
      const auto all = known_.Lock();
      Known& known = (*all)[names];
      change(known);
      if (!known.service && known.slices.empty()) all->erase(names);
    }
    const auto on_change = on_change_.Lock();
    if (*on_change) (*on_change)(names.first, names.second);
  }

  LogSink& log_;
  Guarded<std::map<Names, Known>> known_;
  Guarded<OnChange> on_change_;
  std::shared_ptr<client::Client> client_;
  std::unique_ptr<client::Informer> services_;
  std::unique_ptr<client::Informer> slices_;
  Notification started_;
  mutable std::atomic<bool> synced_{false};  // Never false again.
};

}  // namespace

std::shared_ptr<InformedServices> NewInformedServices(LogSink& log) {
  return std::make_shared<Informed>(log);
}

}  // namespace apiserver::v0::aggregator
