#include "aggregator/control/remote_discovery.h"

#include <set>
#include <utility>

#include "aggregator/control/names_controller.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

constexpr int kDiscoveryWorkers = 2;
constexpr char kAccept[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

// Returns a version without resources, if the server says nothing of it.
discovery::APIVersion VersionIn(const DiscoveredVersions& versions, const Facts& facts) {
  const auto found = versions.find({facts.group, facts.version});
  if (found != versions.end()) return found->second;
  return {.version = facts.version, .resources = {}};
}

}  // namespace

RemoteDiscovery::RemoteDiscovery(Needs needs)
    : needs_(std::move(needs)),
      ctx_(Context::Child(Context::Background())),
      controller_(
          StartNamesController({.name = "discovery-manager",
                                .pool = needs_.pool,
                                .workers = kDiscoveryWorkers,
                                .metrics = needs_.metrics.get(),
                                .work = [this](const std::string& name) { return Sync(name); }})) {}

void RemoteDiscovery::Add(const std::string& name) {
  state_.Lock()->dirty[name] = needs_.clock->Now();
  controller_->queue().Add({"", name});
}

void RemoteDiscovery::Stop() {
  ctx_.Cancel({Reason::kServiceUnavailable, "the server stops"});
  controller_->Stop();
}

// A failure is not repeated at once: the server is asked again when its APIService changes, as it
// does when it becomes available, and from time to time.
Status RemoteDiscovery::Sync(const std::string& name) {
  const std::optional<Facts> facts = needs_.find(name);
  SetService(name, facts && facts->remote ? ServiceKeyOf(*facts->remote) : "");
  if (!facts || !facts->remote) return {};
  Result<discovery::APIVersion> fetched = Fetch(*facts);
  const Status why = fetched.status();
  if (ctx_.done()) return {};
  discovery::APIVersion version{.version = facts->version, .resources = {}, .stale = true};
  {
    const auto state = state_.Lock();
    if (why.ok()) {
      version = *std::move(fetched);
      state->shown[name] = version;
    } else if (const auto last = state->shown.find(name); last != state->shown.end()) {
      version.resources = last->second.resources;
    }
  }
  if (!why.ok()) {
    Log(*needs_.log, LogLevel::kInfo, "an extension server does not tell its resources",
        {{"name", name}, {"why", std::string(why.message())}});
  }
  needs_.show(name, std::move(version));
  return {};
}

void RemoteDiscovery::SetService(const std::string& name, const std::string& service) {
  const auto state = state_.Lock();
  std::string& known = state->services[name];
  if (known == service && !service.empty()) return;
  known = service;
  if (service.empty()) {
    state->services.erase(name);
    state->dirty.erase(name);
    state->shown.erase(name);
  }
  std::set<std::string_view> used;
  for (const auto& [each, its_service] : state->services) used.insert(its_service);
  std::erase_if(state->answers, [&used](const auto& each) { return !used.contains(each.first); });
}

Result<discovery::APIVersion> RemoteDiscovery::Fetch(const Facts& facts) {
  const std::string key = ServiceKeyOf(*facts.remote);
  std::shared_ptr<Cached> cached;
  {
    const auto state = state_.Lock();
    cached = state->answers[key];
    if (cached && cached->asked > state->dirty[facts.name]) {
      return VersionIn(cached->versions, facts);
    }
  }
  auto next = std::make_shared<Cached>();
  next->asked = needs_.clock->Now();
  Backend::Request request{.path = "/apis", .headers = {{"Accept", kAccept}}};
  if (cached && !cached->etag.empty()) request.headers.Set("If-None-Match", cached->etag);
  std::string url;
  ASSIGN_OR_RETURN(const http::ClientResponse answer,
                   needs_.backend->Get(ctx_, *facts.remote, request, url));
  if (answer.code == 503) {
    return Status(Reason::kServiceUnavailable,
                  "service " + key + " returned non-success response code: 503");
  }
  if (answer.code == 304 && cached) {
    next->versions = cached->versions;
    next->etag = cached->etag;
  } else if (answer.code == 200 && IsAggregated(answer.headers.Get("Content-Type"))) {
    ASSIGN_OR_RETURN(next->versions, ReadAggregated(answer.body));
    next->etag = answer.headers.Get("ETag");
  } else {
    return FetchList(facts);
  }
  state_.Lock()->answers[key] = next;
  return VersionIn(next->versions, facts);
}

// An older server tells of one group version at a time; upstream asks as a user without groups.
Result<discovery::APIVersion> RemoteDiscovery::FetchList(const Facts& facts) const {
  const std::string path =
      facts.group.empty() ? "/api/" + facts.version : "/apis/" + facts.group + "/" + facts.version;
  std::string url;
  ASSIGN_OR_RETURN(
      const http::ClientResponse answer,
      needs_.backend->Get(ctx_, *facts.remote,
                          {.path = path, .headers = {{"Accept", "application/json"}}, .groups = {}},
                          url));
  if (answer.code != 200) {
    return Status(Reason::kServiceUnavailable, "failed to download legacy discovery for " + path +
                                                   ": " + std::to_string(answer.code));
  }
  return ReadResourceList(answer.body, facts.version);
}

}  // namespace apiserver::v0::aggregator
