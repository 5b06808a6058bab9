#include "aggregator/control/remote_openapi.h"

#include <chrono>
#include <utility>

#include "aggregator/control/names_controller.h"
#include "apiserver/codec/json.h"
#include "apiserver/openapi/convert.h"
#include "apiserver/openapi/spec.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

using runtime::Value;

constexpr int kOpenApiWorkers = 2;
constexpr std::chrono::minutes kOpenApiTime(1);
constexpr std::size_t kUrlBytesMax = 1024;

Backend::Request RequestFor(std::string path, const std::string& etag) {
  Backend::Request request{.path = std::move(path),
                           .headers = {{"Accept", "application/json"}},
                           .timeout = kOpenApiTime,
                           .user = "system:aggregator",
                           .groups = {}};
  if (!etag.empty()) request.headers.Set("If-None-Match", etag);
  return request;
}

// Returns the URL, unless it leads to something else than the document.
std::string UrlOf(const std::string& path, std::string_view url) {
  std::string own = std::string(openapi::kV3Prefix) + path;
  const bool leads = url.starts_with(own) && url.size() <= kUrlBytesMax &&
                     (url.size() == own.size() || url[own.size()] == '?');
  return leads ? std::string(url) : own;
}

Status Found(const http::ClientResponse& answer, const std::string& url) {
  if (answer.code == 200) return {};
  return {Reason::kServiceUnavailable,
          "failed to download " + url + ": " + std::to_string(answer.code)};
}

}  // namespace

Result<DocumentUrls> ReadV3Index(std::string_view json, const Facts& facts) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value root, codec::ParseJson(json, arena));
  const Value paths = root["paths"];
  if (!paths.is_map()) return Status(Reason::kInvalid, "the document is no index of OpenAPI v3");
  DocumentUrls urls;
  for (const std::string& path : {V3PathOf(facts), V3PathOfGroup(facts)}) {
    const Value entry = paths[path];
    if (entry.is_map()) urls.emplace(path, UrlOf(path, entry["serverRelativeURL"].AsString()));
  }
  return urls;
}

RemoteOpenApi::RemoteOpenApi(Needs needs)
    : needs_(std::move(needs)),
      ctx_(Context::Child(Context::Background())),
      controller_(
          StartNamesController({.name = "open_api_aggregation_controller",
                                .pool = needs_.pool,
                                .workers = kOpenApiWorkers,
                                .metrics = needs_.metrics.get(),
                                .work = [this](const std::string& name) { return Sync(name); }})) {}

void RemoteOpenApi::Stop() {
  ctx_.Cancel({Reason::kServiceUnavailable, "the server stops"});
  controller_->Stop();
}

// A failure is not repeated at once: the server is asked again when its APIService changes, as it
// does when it becomes available, and from time to time.
Status RemoteOpenApi::Sync(const std::string& name) {
  const std::optional<Facts> facts = needs_.find(name);
  if (!facts || !facts->remote) {
    told_.Lock()->erase(name);
    return {};
  }
  if (!facts->remote->available) return {};
  Told told = LastOf(*facts);
  const Status v3 = FetchV3(*facts, told);
  const Status v2 = FetchV2(*facts, told);
  if (ctx_.done()) return {};
  (*told_.Lock())[name] = told;
  needs_.show_v3(name, std::move(told.v3));
  needs_.show_v2(name, std::move(told.v2));
  needs_.show_converted(name, std::move(told.converted));
  for (const Status& each : {v3, v2}) {
    if (each.ok()) continue;
    Log(*needs_.log, LogLevel::kInfo, "an extension server does not tell its OpenAPI",
        {{"name", name}, {"why", std::string(each.message())}});
  }
  return {};
}

RemoteOpenApi::Told RemoteOpenApi::LastOf(const Facts& facts) const {
  const std::string service = ServiceKeyOf(*facts.remote);
  const auto all = told_.Lock();
  const auto last = all->find(facts.name);
  if (last != all->end() && last->second.service == service) return last->second;
  Told none;
  none.service = service;
  return none;
}

Status RemoteOpenApi::FetchV3(const Facts& facts, Told& told) const {
  std::string url;
  ASSIGN_OR_RETURN(
      const http::ClientResponse answer,
      needs_.backend->Get(ctx_, *facts.remote, RequestFor("/openapi/v3", told.v3_etag), url));
  if (answer.code == 304 && !told.v3_etag.empty()) return {};
  if (answer.code == 404) {
    // The conversion of v2 needs the whole document, not a 304.
    if (!told.converted) told.v2_etag.clear();
    told.v3.clear();
    told.v3_etag.clear();
    told.has_v3 = false;
    return {};
  }
  RETURN_IF_ERROR(Found(answer, url));
  ASSIGN_OR_RETURN(told.v3, ReadV3Index(answer.body, facts));
  told.v3_etag = answer.headers.Get("ETag");
  told.has_v3 = true;
  told.converted = nullptr;
  return {};
}

Status RemoteOpenApi::FetchV2(const Facts& facts, Told& told) const {
  std::string url;
  ASSIGN_OR_RETURN(
      const http::ClientResponse answer,
      needs_.backend->Get(ctx_, *facts.remote, RequestFor("/openapi/v2", told.v2_etag), url));
  if (answer.code == 304 && !told.v2_etag.empty()) return {};
  if (answer.code == 404) {
    told.v2 = nullptr;
    told.converted = nullptr;
    told.v2_etag.clear();
    return {};
  }
  RETURN_IF_ERROR(Found(answer, url));
  const runtime::GroupVersion version{facts.group, facts.version};
  ASSIGN_OR_RETURN(told.v2, openapi::ReadForeignV2(answer.body, version));
  if (!told.has_v3) {
    ASSIGN_OR_RETURN(openapi::Document converted, openapi::ConvertV2ToV3(answer.body, version));
    told.converted = std::make_shared<const openapi::Document>(std::move(converted));
  }
  told.v2_etag = answer.headers.Get("ETag");
  return {};
}

}  // namespace apiserver::v0::aggregator
