#include <map>
#include <utility>

#include "apiserver/aggregator/services.h"
#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"

namespace apiserver::v0::aggregator {
namespace {

// A service and its EndpointSlices, which may be set before the service is.
struct Known {
  std::shared_ptr<const Service> service;
  std::vector<std::shared_ptr<const EndpointSlice>> slices;
};

class Listed final : public StaticServices {
 public:
  Result<std::shared_ptr<const Service>> FindService(std::string_view service_namespace,
                                                     std::string_view name) const override {
    const auto known = known_.Lock();
    const auto found = known->find(Key(service_namespace, name));
    if (found != known->end() && found->second.service) return found->second.service;
    return meta::NewNotFound({"", "service"}, name);
  }

  Result<std::vector<std::shared_ptr<const EndpointSlice>>> FindEndpointSlices(
      std::string_view service_namespace, std::string_view name) const override {
    const auto known = known_.Lock();
    const auto found = known->find(Key(service_namespace, name));
    if (found != known->end()) return found->second.slices;
    return std::vector<std::shared_ptr<const EndpointSlice>>();
  }

  void SetOnChange(OnChange on_change) override { on_change_.Lock()->swap(on_change); }

  void Set(Service service) override {
    auto set = std::make_shared<const Service>(std::move(service));
    (*known_.Lock())[Key(set->namespace_, set->name)].service = set;
    Tell(set->namespace_, set->name);
  }

  void SetEndpointSlices(std::string_view service_namespace, std::string_view name,
                         std::vector<EndpointSlice> slices) override {
    std::vector<std::shared_ptr<const EndpointSlice>> set;
    set.reserve(slices.size());
    for (EndpointSlice& slice : slices) {
      set.push_back(std::make_shared<const EndpointSlice>(std::move(slice)));
    }
    (*known_.Lock())[Key(service_namespace, name)].slices = std::move(set);
    Tell(service_namespace, name);
  }

  void Remove(std::string_view service_namespace, std::string_view name) override {
    known_.Lock()->erase(Key(service_namespace, name));
    Tell(service_namespace, name);
  }

 private:
  static std::pair<std::string, std::string> Key(std::string_view service_namespace,
                                                 std::string_view name) {
    return {std::string(service_namespace), std::string(name)};
  }

  // Holds the lock while it tells, so that SetOnChange() waits for a call that is running.
  void Tell(std::string_view service_namespace, std::string_view name) {
    const auto on_change = on_change_.Lock();
    if (*on_change) (*on_change)(service_namespace, name);
  }

  Guarded<std::map<std::pair<std::string, std::string>, Known>> known_;
  Guarded<OnChange> on_change_;
};

}  // namespace

std::shared_ptr<StaticServices> NewStaticServices() { return std::make_shared<Listed>(); }

}  // namespace apiserver::v0::aggregator
