#include "client/query.h"

#include "apiserver/codec/json.h"
#include "apiserver/http/message.h"
#include "meta/propagation_name.h"

namespace apiserver::v0::client {
namespace {

using runtime::Value;

std::string_view MatchWord(const meta::ListOptions& options) {
  switch (options.resource_version_match) {
    case meta::ResourceVersionMatch::kExact:
      return "Exact";
    case meta::ResourceVersionMatch::kNotOlderThan:
      return "NotOlderThan";
    default:
      return options.resource_version_match_text;
  }
}

Value PreconditionsOf(const meta::Preconditions& preconditions, runtime::Arena& arena) {
  runtime::MapBuilder map(arena);
  if (preconditions.uid) map.Add("uid", Value::String(*preconditions.uid));
  if (preconditions.resource_version) {
    map.Add("resourceVersion", Value::String(*preconditions.resource_version));
  }
  return map.size() == 0 ? Value() : map.Build();
}

}  // namespace

void QueryBuilder::Add(std::string_view key, std::string_view value) {
  // An empty parameter means the same as an absent one.
  if (value.empty()) return;
  text_ += text_.empty() ? '?' : '&';
  text_ += key;
  text_ += '=';
  text_ += http::PercentEncode(value);
}

void QueryBuilder::AddFlag(std::string_view key, bool value) {
  if (value) Add(key, "true");
}

void QueryBuilder::Add(const meta::ListOptions& options) {
  Add("labelSelector", options.label_selector.ToString());
  Add("fieldSelector", options.field_selector.ToString());
  AddFlag("watch", options.watch);
  AddFlag("allowWatchBookmarks", options.allow_watch_bookmarks);
  Add("resourceVersion", options.resource_version);
  Add("resourceVersionMatch", MatchWord(options));
  if (options.timeout_seconds) Add("timeoutSeconds", std::to_string(*options.timeout_seconds));
  if (options.limit != 0) Add("limit", std::to_string(options.limit));
  Add("continue", options.continue_token);
  // `false` is not the same as an absent parameter here.
  if (options.send_initial_events) {
    Add("sendInitialEvents", *options.send_initial_events ? "true" : "false");
  }
}

void QueryBuilder::Add(const meta::CreateOptions& options) {
  if (options.dry_run) Add("dryRun", "All");
  Add("fieldManager", options.field_manager);
  AddFieldValidation(options.field_validation);
}

void QueryBuilder::Add(const meta::PatchOptions& options) {
  if (options.dry_run) Add("dryRun", "All");
  if (options.force) Add("force", *options.force ? "true" : "false");
  Add("fieldManager", options.field_manager);
  AddFieldValidation(options.field_validation);
}

void QueryBuilder::AddFieldValidation(meta::FieldValidation validation) {
  // Servers warn by default.
  if (validation == meta::FieldValidation::kIgnore) Add("fieldValidation", "Ignore");
  if (validation == meta::FieldValidation::kStrict) Add("fieldValidation", "Strict");
}

std::string DeleteBody(const meta::DeleteOptions& options) {
  runtime::Arena arena;
  runtime::MapBuilder body(arena);
  body.Add("kind", Value::String("DeleteOptions"));
  body.Add("apiVersion", Value::String("v1"));
  if (options.grace_period_seconds) {
    body.Add("gracePeriodSeconds", Value::Int(*options.grace_period_seconds));
  }
  const Value preconditions = PreconditionsOf(options.preconditions, arena);
  if (!preconditions.is_null()) body.Add("preconditions", preconditions);
  if (options.orphan_dependents) {
    body.Add("orphanDependents", Value::Bool(*options.orphan_dependents));
  }
  const std::string_view policy = meta::PropagationName(options.propagation_policy);
  if (!policy.empty()) body.Add("propagationPolicy", Value::String(policy));
  runtime::ListBuilder dry_run(arena);
  if (options.dry_run) {
    dry_run.Add(Value::String("All"));
    body.Add("dryRun", dry_run.Build());
  }
  std::string text;
  codec::AppendJson(body.Build(), text);
  return text;
}

}  // namespace apiserver::v0::client
