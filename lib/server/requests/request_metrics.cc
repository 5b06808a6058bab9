#include "server/requests/request_metrics.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace apiserver::v0::server {

namespace {

constexpr std::array<std::string_view, 12> kVerbs = {
    "APPLY", "CONNECT", "CREATE", "DELETE", "DELETECOLLECTION", "GET",
    "LIST",  "PATCH",   "POST",   "PUT",    "UPDATE",           "WATCH"};
constexpr std::array<std::string_view, 5> kConnecting = {"log", "exec", "portforward", "attach",
                                                         "proxy"};

const std::vector<double>& SliBuckets() {
  static const std::vector<double> bounds = {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,  1.25, 1.5, 2, 3,
                                             4,    5,   6,   8,   10,  15,  20, 30,   45,  60};
  return bounds;
}

std::vector<double> DurationBuckets() {
  std::vector<double> bounds = SliBuckets();
  bounds.insert(bounds.begin(), {0.005, 0.025});
  return bounds;
}

// Follows CleanScope of endpoints/metrics.
std::string_view ScopeOf(const request::RequestInfo& info) {
  if (!info.name.empty() || info.verb == "create") return "resource";
  if (!info.namespace_.empty()) return "namespace";
  return info.is_resource_request ? "cluster" : "";
}

// Any value but "0" and "false" asks for a watch, as in upstream's metrics.
bool AsksForWatch(const http::Query& query) {
  if (!query.Has("watch")) return false;
  std::string value(query.Get("watch"));
  for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return value != "0" && value != "false";
}

// Returns the verb as CanonicalVerb and cleanVerb do.
std::string_view VerbOf(const http::Request& request, const http::Query& query,
                        const request::RequestInfo& info, std::string_view scope) {
  if (info.is_resource_request &&
      std::find(kConnecting.begin(), kConnecting.end(), info.subresource) != kConnecting.end()) {
    return "CONNECT";
  }
  const std::string_view method = request.method;
  if (method == "GET" || method == "HEAD") {
    if (info.verb == "watch" || (method == "GET" && AsksForWatch(query))) return "WATCH";
    return scope.empty() || scope == "resource" ? "GET" : "LIST";
  }
  if (method == "PATCH" && request.headers.Get("Content-Type") == "application/apply-patch+yaml") {
    return "APPLY";
  }
  const auto* known = std::find(kVerbs.begin(), kVerbs.end(), method);
  return known == kVerbs.end() ? "other" : *known;
}

// Follows cleanDryRun: any other value is invalid, and must not become a label.
std::string_view DryRunOf(const http::Query& query) {
  if (!query.Has("dryRun")) return "";
  const std::vector<std::string_view> values = query.GetAll("dryRun");
  const bool valid = std::all_of(values.begin(), values.end(),
                                 [](std::string_view value) { return value == "All"; });
  return valid ? "All" : "invalid";
}

// The parts of the key of a set of labels.
std::array<std::string_view, 8> PartsOf(const RequestLabels& labels) {
  return {labels.verb,        labels.group, labels.version,   labels.resource,
          labels.subresource, labels.scope, labels.component, labels.dry_run};
}

// One text as key: looking the series up by label would cost a hash for each label.
class Key {
 public:
  explicit Key(const RequestLabels& labels) {
    const auto parts = PartsOf(labels);
    std::size_t bytes = parts.size();
    for (const std::string_view part : parts) bytes += part.size();
    char* out = few_.data();
    if (bytes > few_.size()) {
      many_.resize(bytes);
      out = many_.data();
    }
    text_ = {out, bytes};
    for (const std::string_view part : parts) {
      out += part.copy(out, part.size());
      *out++ = '\0';
    }
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  std::string_view text() const { return text_; }

 private:
  std::array<char, 256> few_;
  std::string many_;  // A text that does not fit.
  std::string_view text_;
};

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// A host's handler may answer with any number.
std::string CodeText(int code) { return code >= 100 && code < 600 ? std::to_string(code) : "0"; }

}  // namespace

RequestLabels LabelsOf(const http::Request& request, const http::Query& query,
                       const request::RequestInfo& info) {
  const std::string_view scope = ScopeOf(info);
  return {.verb = VerbOf(request, query, info, scope),
          .group = info.api_group,
          .version = info.api_version,
          .resource = info.resource,
          .subresource = info.subresource,
          .scope = scope,
          .component = "apiserver",
          .dry_run = DryRunOf(query)};
}

// Names, texts and buckets are upstream's, since dashboards depend on them.
RequestMetrics::RequestMetrics(metrics::Registry& registry)
    : requests_(registry.Counters(
          {.name = "apiserver_request_total",
           .help = "[STABLE] Counter of apiserver requests broken out for each verb, dry run "
                   "value, group, version, resource, scope, component, and HTTP response code.",
           .labels = {"verb", "dry_run", "group", "version", "resource", "subresource", "scope",
                      "component", "code"}})),
      durations_(registry.Histograms(
          {.name = "apiserver_request_duration_seconds",
           .help = "[STABLE] Response latency distribution in seconds for each verb, dry run "
                   "value, group, version, resource, subresource, scope and component.",
           .labels = {"verb", "dry_run", "group", "version", "resource", "subresource", "scope",
                      "component"}},
          DurationBuckets())),
      sli_durations_(registry.Histograms(
          {.name = "apiserver_request_sli_duration_seconds",
           .help = "[ALPHA] Response latency distribution (not counting webhook duration and "
                   "priority & fairness queue wait times) in seconds for each verb, group, "
                   "version, resource, subresource, scope and component.",
           .labels = {"verb", "group", "version", "resource", "subresource", "scope", "component"}},
          SliBuckets())),
      response_sizes_(registry.Histograms(
          {.name = "apiserver_response_sizes",
           .help = "[STABLE] Response size distribution in bytes for each group, version, verb, "
                   "resource, subresource, scope and component.",
           .labels = {"verb", "group", "version", "resource", "subresource", "scope", "component"}},
          metrics::ExponentialBuckets(1000, 10, 7))),
      body_sizes_(registry.Histograms(
          {.name = "apiserver_request_body_size_bytes",
           .help = "[ALPHA] Apiserver request body size in bytes broken out by resource and verb.",
           .labels = {"group", "resource", "verb"}},
          metrics::LinearBuckets(50'000, 100'000, 31))),
      long_running_(registry.Gauges(
          {.name = "apiserver_longrunning_requests",
           .help = "[STABLE] Gauge of all active long-running apiserver requests broken out by "
                   "verb, group, version, resource, scope and component. Not all requests are "
                   "tracked this way.",
           .labels = {"verb", "group", "version", "resource", "subresource", "scope",
                      "component"}})),
      terminations_(registry.Counters(
          {.name = "apiserver_request_terminations_total",
           .help = "[ALPHA] Number of requests which apiserver terminated in self-defense.",
           .labels = {"verb", "group", "version", "resource", "subresource", "scope", "component",
                      "code"}})),
      aborts_(registry.Counters(
          {.name = "apiserver_request_aborts_total",
           .help = "[ALPHA] Number of requests which apiserver aborted possibly due to a timeout, "
                   "for each group, version, verb, resource, subresource and scope",
           .labels = {"verb", "group", "version", "resource", "subresource", "scope"}})),
      self_requests_(registry.Counters(
          {.name = "apiserver_selfrequest_total",
           .help = "[ALPHA] Counter of apiserver self-requests broken out for each verb, API "
                   "resource and subresource.",
           .labels = {"verb", "group", "resource", "subresource"}})),
      filter_durations_(registry.Histograms(
          {.name = "apiserver_request_filter_duration_seconds",
           .help = "[ALPHA] Request filter latency distribution in seconds, for each filter type",
           .labels = {"filter"}},
          {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30})),
      watch_events_(registry.Counters({.name = "apiserver_watch_events_total",
                                       .help = "[BETA] Number of events sent in watch clients",
                                       .labels = {"group", "version", "resource"}})),
      watch_event_sizes_(
          registry.Histograms({.name = "apiserver_watch_events_sizes",
                               .help = "[BETA] Watch event size distribution in bytes",
                               .labels = {"group", "version", "resource"}},
                              metrics::ExponentialBuckets(1024, 2, 8))) {}

// Made at the first request of a kind; the map keeps pointers, which live as long as the registry.
RequestMetrics::Series RequestMetrics::NewSeries(const RequestLabels& labels) {
  const auto& l = labels;
  Series series;
  series.duration = &durations_.With(
      {l.verb, l.dry_run, l.group, l.version, l.resource, l.subresource, l.scope, l.component});
  // Dry runs are no part of the service level.
  if (l.dry_run.empty()) {
    series.sli_duration = &sli_durations_.With(
        {l.verb, l.group, l.version, l.resource, l.subresource, l.scope, l.component});
  }
  // The size is only interesting for reads.
  if (l.verb == "GET" || l.verb == "LIST") {
    series.response_sizes = &response_sizes_.With(
        {l.verb, l.group, l.version, l.resource, l.subresource, l.scope, l.component});
  }
  return series;
}

metrics::Counter& RequestMetrics::Requests(const RequestLabels& l, int code) {
  return requests_.With({l.verb, l.dry_run, l.group, l.version, l.resource, l.subresource, l.scope,
                         l.component, CodeText(code)});
}

// Called for every request at its end. One look-up and one lock in the usual case.
void RequestMetrics::Monitor(const RequestLabels& labels, const Answer& answer) {
  const Key key(labels);
  const HashedText text{.text = key.text(), .hash = std::hash<std::string_view>()(key.text())};
  Series series;
  metrics::Counter* count = nullptr;
  {
    // Shards keep requests of different kinds from waiting for one lock.
    auto shard = shards_[text.hash % kShards].Lock();
    auto found = shard->find(text);
    if (found == shard->end()) found = shard->emplace(text.text, NewSeries(labels)).first;
    auto& by_code = found->second.by_code;
    auto known = std::find_if(by_code.begin(), by_code.end(),
                              [&](const auto& each) { return each.first == answer.code; });
    // Few codes are used; further ones are counted without being kept here.
    if (known != by_code.end()) {
      count = known->second;
    } else {
      count = &Requests(labels, answer.code);
      if (by_code.size() < 64) by_code.emplace_back(answer.code, count);
    }
    series.duration = found->second.duration;
    series.sli_duration = found->second.sli_duration;
    series.response_sizes = found->second.response_sizes;
  }
  // Outside of the lock: the series are atomic and live as long as the registry.
  count->Add();
  series.duration->Observe(Seconds(answer.took));
  if (series.sli_duration && answer.not_ours) {
    series.sli_duration->Observe(Seconds(answer.took - *answer.not_ours));
  }
  if (series.response_sizes) series.response_sizes->Observe(static_cast<double>(answer.bytes));
  if (answer.by_self) {
    self_requests_.With({labels.verb, labels.group, labels.resource, labels.subresource}).Add();
  }
}

void RequestMetrics::RecordDropped(const RequestLabels& labels) { Requests(labels, 429).Add(); }

void RequestMetrics::RecordTermination(const RequestLabels& l, int code) {
  terminations_
      .With({l.verb, l.group, l.version, l.resource, l.subresource, l.scope, l.component,
             CodeText(code)})
      .Add();
}

void RequestMetrics::RecordAbort(const RequestLabels& l) {
  aborts_.With({l.verb, l.group, l.version, l.resource, l.subresource, l.scope}).Add();
}

void RequestMetrics::RecordBodySize(const RequestLabels& labels, std::string_view verb,
                                    std::size_t bytes) {
  body_sizes_.With({labels.group, labels.resource, verb}).Observe(static_cast<double>(bytes));
}

metrics::Gauge& RequestMetrics::LongRunning(const RequestLabels& l) {
  return long_running_.With(
      {l.verb, l.group, l.version, l.resource, l.subresource, l.scope, l.component});
}

response::WatchCounters RequestMetrics::WatchEvents(const RequestLabels& labels) {
  return {.events = &watch_events_.With({labels.group, labels.version, labels.resource}),
          .sizes = &watch_event_sizes_.With({labels.group, labels.version, labels.resource})};
}

metrics::Histogram& RequestMetrics::FilterDuration(std::string_view filter) {
  return filter_durations_.With({filter});
}

}  // namespace apiserver::v0::server
