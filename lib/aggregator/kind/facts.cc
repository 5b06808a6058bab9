#include "aggregator/kind/facts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "apiserver/aggregator/api_service.h"
#include "apiserver/runtime/scheme.h"
#include "text/base64.h"

namespace apiserver::v0::aggregator {
namespace {

using runtime::Value;

// An object that came as JSON has bytes in base64.
std::string BytesOf(const Value& value) {
  if (value.type() == Value::Type::kBytes) return std::string(value.AsString());
  return text::DecodeBase64(value.AsString()).value_or("");
}

}  // namespace

Facts FactsOf(const runtime::Object& api_service) {
  const Value spec = api_service["spec"];
  Facts facts{.name = std::string(api_service.name()),
              .group = std::string(spec["group"].AsString()),
              .version = std::string(spec["version"].AsString()),
              .group_priority = spec["groupPriorityMinimum"].AsInt(),
              .version_priority = spec["versionPriority"].AsInt()};
  const Value service = spec["service"];
  if (service.is_null()) return facts;
  const Value port = service["port"];
  facts.remote = {.name = facts.name,
                  .service_namespace = std::string(service["namespace"].AsString()),
                  .service_name = std::string(service["name"].AsString()),
                  .service_port = static_cast<int>(port.is_null() ? kHttpsPort : port.AsInt()),
                  .ca_bundle_pem = BytesOf(spec["caBundle"]),
                  .insecure_skip_tls_verify = spec["insecureSkipTLSVerify"].AsBool(),
                  .available = IsConditionTrue(api_service, kAvailable)};
  return facts;
}

std::string ServiceKeyOf(const ProxiedAPIService& service) {
  return service.service_namespace + "/" + service.service_name + ":" +
         std::to_string(service.service_port);
}

std::string V3PathOf(const Facts& facts) { return V3PathOfGroup(facts) + "/" + facts.version; }

std::string V3PathOfGroup(const Facts& facts) {
  return facts.group.empty() ? "api" : "apis/" + facts.group;
}

std::vector<std::vector<const Facts*>> SortedByGroupAndVersion(std::vector<const Facts*> all) {
  std::sort(all.begin(), all.end(), [](const Facts* a, const Facts* b) {
    return std::tie(b->group_priority, a->name) < std::tie(a->group_priority, b->name);
  });
  std::vector<std::vector<const Facts*>> groups;
  std::map<std::string_view, std::size_t> places;
  for (const Facts* const each : all) {
    const auto [place, is_new] = places.emplace(each->group, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(each);
  }
  for (std::vector<const Facts*>& versions : groups) {
    std::sort(versions.begin(), versions.end(), [](const Facts* a, const Facts* b) {
      if (a->version_priority != b->version_priority) {
        return a->version_priority > b->version_priority;
      }
      return runtime::VersionPreferred(a->version, b->version);
    });
  }
  return groups;
}

std::vector<const Facts*> SortedByGroupPriority(std::vector<const Facts*> all) {
  std::map<std::string_view, std::int64_t> priorities;
  for (const Facts* const each : all) {
    std::int64_t& priority = priorities[each->group];
    priority = std::max(priority, each->group_priority);
  }
  std::sort(all.begin(), all.end(), [&priorities](const Facts* a, const Facts* b) {
    const std::int64_t of_a = priorities[a->group];
    const std::int64_t of_b = priorities[b->group];
    return of_a != of_b ? of_a > of_b : a->name < b->name;
  });
  return all;
}

}  // namespace apiserver::v0::aggregator
