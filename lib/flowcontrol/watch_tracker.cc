#include "flowcontrol/watch_tracker.h"

#include <optional>
#include <utility>

namespace apiserver::v0::flowcontrol {

namespace {

// Returns the value that the field selector demands of `field`. nullopt: it demands none.
// Reads the selector's text without building requirements: every request with a watch pays for it.
std::optional<std::string_view> ExactMatch(std::string_view selector, std::string_view field) {
  while (!selector.empty()) {
    const std::size_t comma = selector.find(',');
    std::string_view term = selector.substr(0, comma);
    selector = comma == std::string_view::npos ? std::string_view() : selector.substr(comma + 1);
    if (!term.starts_with(field)) continue;
    term.remove_prefix(field.size());
    if (term.starts_with("==")) return term.substr(2);
    if (term.starts_with("=")) return term.substr(1);
  }
  return std::nullopt;
}

// True if an event reaches such a watch by an index rather than by being tried on it. Upstream's
// one index is that of pods by node; a pod that is not scheduled yet has the value "".
bool IsIndexed(const request::RequestInfo& info, const http::Query& query) {
  if (info.resource != "pods") return false;
  return !ExactMatch(query.Get("fieldSelector"), "spec.nodeName").value_or("").empty();
}

}  // namespace

const WatchTracker::Subject* WatchTracker::RegisterWatch(const request::RequestInfo& info,
                                                         const http::Query& query) {
  if (info.verb != "watch" || IsIndexed(info, query)) return nullptr;
  auto counts = counts_.Lock();
  auto found = counts->find(
      View(info.api_group, info.resource, info.namespace_, std::string_view(info.name)));
  if (found == counts->end()) {
    Subject subject{.group = std::string(info.api_group),
                    .resource = std::string(info.resource),
                    .namespace_ = std::string(info.namespace_),
                    .name = std::string(info.name)};
    found = counts->emplace(std::move(subject), 0).first;
  }
  ++found->second;
  return &found->first;
}

void WatchTracker::ForgetWatch(const Subject* subject) {
  if (subject == nullptr) return;
  auto counts = counts_.Lock();
  const auto found = counts->find(*subject);
  if (found != counts->end() && --found->second == 0) counts->erase(found);
}

// The watchers of all namespaces, of this one and of this object: each may get the event.
int WatchTracker::InterestedWatchCount(const request::RequestInfo& info) const {
  if (info.verb == "get" || info.verb == "list" || info.verb == "watch" || info.verb == "proxy") {
    return 0;
  }
  const auto counts = counts_.Lock();
  if (counts->empty()) return 0;
  const auto count = [&](std::string_view namespace_, std::string_view name) {
    const auto found = counts->find(View(info.api_group, info.resource, namespace_, name));
    return found == counts->end() ? 0 : found->second;
  };
  int result = count("", "");
  if (!info.namespace_.empty()) result += count(info.namespace_, "");
  if (!info.name.empty()) result += count(info.namespace_, info.name);
  return result;
}

}  // namespace apiserver::v0::flowcontrol
