#include "aggregator/control/availability.h"

#include <algorithm>
#include <utility>

#include "aggregator/control/names_controller.h"
#include "apiserver/base/field_path.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

constexpr int kAvailabilityWorkers = 5;
constexpr int kAttempts = 5;
// The name of the APIService of the legacy group.
constexpr std::string_view kLegacyName = "v1.";

Condition Unavailable(std::string reason, std::string message) {
  return {.type = std::string(kAvailable),
          .status = "False",
          .reason = std::move(reason),
          .message = std::move(message)};
}

// "service/bar in "foo"".
std::string Named(const ProxiedAPIService& service) {
  return "service/" + service.service_name + " in " + field::Quote(service.service_namespace);
}

Condition Unknown(const ProxiedAPIService& service, std::string reason, const Status& why) {
  Condition condition =
      Unavailable(std::move(reason),
                  Named(service) + " cannot be checked due to: " + std::string(why.message()));
  condition.status = "Unknown";
  return condition;
}

bool HasReady(const EndpointSlice& slice) {
  return std::any_of(slice.endpoints.begin(), slice.endpoints.end(),
                     [](const Endpoint& endpoint) { return endpoint.ready.value_or(true); });
}

bool HasPort(const EndpointSlice& slice, const std::string& name) {
  return std::any_of(slice.ports.begin(), slice.ports.end(), [&name](const EndpointPort& port) {
    return port.name == name && port.port.has_value();
  });
}

// Returns the first success, or the last error when all have failed.
class Attempts {
 public:
  void Tell(Status status) {
    {
      const auto state = state_.Lock();
      ++state->ended;
      if (!state->passed) state->last = std::move(status);
      state->passed |= state->last.ok();
    }
    state_.NotifyAll();
  }
  Status Await() {
    auto state = state_.Lock();
    state.Wait([&state] { return state->passed || state->ended == kAttempts; });
    return state->last;
  }

 private:
  struct State {
    int ended = 0;
    bool passed = false;
    Status last;
  };
  Guarded<State> state_;
};

// Go's text of an error of http.Client.
std::string TextOf(const Status& status) {
  if (status.reason() != Reason::kTimeout) return std::string(status.message());
  return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
}

Status Attempt(const Context& ctx, const Backend& backend, const ProxiedAPIService& service,
               const std::string& path) {
  std::string url;
  // The certificate is not checked, as by Kubernetes 1.35: requests of users check it.
  const auto answer = backend.Get(ctx, service, {.path = path, .verify = false}, url);
  if (!answer.ok() && url.empty()) return answer.status();
  const std::string failing = "failing or missing response from " + url + ": ";
  if (!answer.ok()) {
    return {Reason::kServiceUnavailable,
            failing + "Get " + field::Quote(url) + ": " + TextOf(answer.status())};
  }
  if (answer->code >= 200 && answer->code < 300) return {};
  return {Reason::kServiceUnavailable,
          failing + "bad status from " + url + ": " + std::to_string(answer->code)};
}

// Compares all but the time of the last transition, which a user may have removed.
bool Says(const runtime::Value& present, const Condition& condition) {
  return present["status"].AsString() == condition.status &&
         present["reason"].AsString() == condition.reason &&
         present["message"].AsString() == condition.message;
}

}  // namespace

std::optional<Condition> CheckService(const Services& services, const ProxiedAPIService& remote) {
  const auto service = services.FindService(remote.service_namespace, remote.service_name);
  if (!service.ok()) {
    if (service.status().reason() != Reason::kNotFound) {
      return Unknown(remote, "ServiceAccessError", service.status());
    }
    return Unavailable("ServiceNotFound", Named(remote) + " is not present");
  }
  // Others are found in ways that cannot be seen from here.
  if ((*service)->type != "ClusterIP") return std::nullopt;
  const auto& ports = (*service)->ports;
  const auto port = std::find_if(ports.begin(), ports.end(), [&remote](const ServicePort& each) {
    return each.port == remote.service_port;
  });
  if (port == ports.end()) {
    return Unavailable("ServicePortError", Named(remote) + " is not listening on port " +
                                               std::to_string(remote.service_port));
  }
  const auto slices = services.FindEndpointSlices(remote.service_namespace, remote.service_name);
  if (!slices.ok()) return Unknown(remote, "EndpointsAccessError", slices.status());
  if (slices->empty()) {
    return Unavailable("EndpointsNotFound", "cannot find endpointslices for " + Named(remote));
  }
  const bool active = std::any_of(slices->begin(), slices->end(), [&port](const auto& slice) {
    return HasReady(*slice) && HasPort(*slice, port->name);
  });
  if (active) return std::nullopt;
  return Unavailable("MissingEndpoints", "endpointslices for " + Named(remote) +
                                             " have no addresses with port name " +
                                             field::Quote(port->name));
}

Availability::Availability(Needs needs)
    : needs_(std::move(needs)),
      ctx_(Context::Child(Context::Background())),
      unavailable_(needs_.metrics->Gauges(
          {.name = "aggregator_unavailable_apiservice",
           .help = "[ALPHA] Gauge of APIServices which are marked as unavailable broken down by "
                   "APIService name.",
           .labels = {"name"}})),
      unavailable_total_(needs_.metrics->Counters(
          {.name = "aggregator_unavailable_apiservice_total",
           .help = "[ALPHA] Counter of APIServices which are marked as unavailable broken down by "
                   "APIService name and reason.",
           .labels = {"name", "reason"}})),
      controller_(
          StartNamesController({.name = "RemoteAvailabilityController",
                                .pool = needs_.pool,
                                .workers = kAvailabilityWorkers,
                                .metrics = needs_.metrics.get(),
                                .work = [this](const std::string& name) { return Sync(name); }})) {}

void Availability::Stop() {
  ctx_.Cancel({Reason::kServiceUnavailable, "the server stops"});
  controller_->Stop();
}

Status Availability::Probe(const Facts& facts) const {
  const std::string path = facts.name == kLegacyName ? "/api/" + facts.version
                                                     : "/apis/" + facts.group + "/" + facts.version;
  const auto attempts = std::make_shared<Attempts>();
  for (int i = 0; i < kAttempts; ++i) {
    needs_.pool->Post([attempts, ctx = ctx_, backend = needs_.backend, service = *facts.remote,
                       path] { attempts->Tell(Attempt(ctx, *backend, service, path)); });
  }
  return attempts->Await();
}

Status Availability::Sync(const std::string& name) {
  const runtime::ObjectPtr api_service = needs_.find(name);
  if (api_service == nullptr) {
    unavailable_.Remove({name});
    return {};
  }
  const Facts facts = FactsOf(*api_service);
  if (!facts.remote) return Write(*api_service, LocalAvailableCondition());
  if (needs_.services) {
    const auto fault = CheckService(*needs_.services, *facts.remote);
    if (fault) return Write(*api_service, *fault);
  }
  Status answered = Probe(facts);
  if (ctx_.done()) return {};
  if (answered.ok()) {
    return Write(*api_service, {.type = std::string(kAvailable),
                                .status = "True",
                                .reason = "Passed",
                                .message = "all checks passed"});
  }
  RETURN_IF_ERROR(
      Write(*api_service, Unavailable("FailedDiscoveryCheck", std::string(answered.message()))));
  return answered;
}

Status Availability::Write(const runtime::Object& api_service, const Condition& condition) {
  const std::string name(api_service.name());
  const bool available = condition.status == "True";
  unavailable_.With({name}).Set(available ? 0 : 1);
  if (Says(FindCondition(api_service, condition.type), condition)) return {};
  const auto now = api_service.Clone();
  SetCondition(*now, condition, needs_.clock->WallNow());
  Log(*needs_.log, LogLevel::kInfo, "changing APIService availability",
      {{"name", name},
       {"newStatus", condition.status},
       {"message", condition.message},
       {"reason", condition.reason}});
  RETURN_IF_ERROR(needs_.client
                      ->Update(ctx_,
                               {.resource = {"apiregistration.k8s.io", "v1", "apiservices"},
                                .name = name,
                                .subresource = "status"},
                               *now)
                      .status());
  if (IsConditionTrue(api_service, kAvailable) && !available) {
    unavailable_total_.With({name, condition.reason}).Add();
  }
  return {};
}

}  // namespace apiserver::v0::aggregator
