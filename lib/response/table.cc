#include "response/table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "response/metadata.h"

namespace apiserver::v0::response {

namespace {

void AppendColumns(const meta::Table& table, std::string& json) {
  json += ",\"columnDefinitions\":[";
  for (const meta::TableColumnDefinition& column : table.columns) {
    if (json.back() != '[') json += ",";
    json += "{\"name\":";
    codec::AppendJsonString(column.name, json);
    json += ",\"type\":";
    codec::AppendJsonString(column.type, json);
    json += ",\"format\":";
    codec::AppendJsonString(column.format, json);
    json += ",\"description\":";
    codec::AppendJsonString(column.description, json);
    json += ",\"priority\":" + std::to_string(column.priority) + "}";
  }
  json += "]";
}

// `kept`: its encoding; null: it is looked up.
Status AppendObject(const runtime::Object& object, const runtime::EncodingPtr& kept,
                    const TableRequest& request, std::string& json) {
  if (request.options.include_object == meta::IncludeObject::kNone) {
    json += "null";
    return {};
  }
  const std::string& version = request.target.version;
  runtime::EncodingPtr made;
  if (kept == nullptr) {
    ASSIGN_OR_RETURN(made,
                     codec::EncodingOf(object, version, runtime::Format::kJson, request.encodings));
  }
  const runtime::EncodingPtr& encoding = kept != nullptr ? kept : made;
  if (request.options.include_object == meta::IncludeObject::kObject) {
    json += object.kind().JsonPrefix(version);
    if (request.resource_version.empty()) {
      encoding->AppendTo(json);
    } else {
      json += BodyWithResourceVersion(*encoding, request.resource_version);
    }
    return {};
  }
  json += "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/";
  json += request.meta_version;
  json += "\",\"metadata\":";
  AppendMetadataWithResourceVersion(*encoding, request.resource_version, json);
  json += "}";
  return {};
}

// So many rows are made before they are written.
constexpr std::size_t kObjectsAtATime = 256;

Status AppendRow(const meta::TableRow& row, const runtime::EncodingPtr& kept,
                 const TableRequest& request, std::string& json) {
  if (json.back() != '[') json += ",";
  json += "{\"cells\":[";
  for (const runtime::Value& cell : row.cells) {
    if (json.back() != '[') json += ",";
    codec::AppendJson(cell, json);
  }
  json += "],\"object\":";
  RETURN_IF_ERROR(AppendObject(*row.object, kept, request, json));
  json += "}";
  return {};
}

// The head of the table comes from the first rows.
void BeginRows(const meta::Table& table, const TableRequest& request, std::string& json) {
  if (request.with_columns) {
    AppendColumns(table, json);
  } else {
    json += ",\"columnDefinitions\":null";
  }
  json += ",\"rows\":[";
}

// `rows` are those of `objects` from `first` on.
Status AppendRows(const std::vector<meta::TableRow>& rows,
                  const std::vector<runtime::ObjectPtr>& objects, std::size_t first,
                  const TableRequest& request, std::string& json) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t at = first + i;
    const bool known = at < request.kept.size() && rows[i].object == objects[at];
    RETURN_IF_ERROR(AppendRow(rows[i], known ? request.kept[at] : nullptr, request, json));
  }
  return {};
}

}  // namespace

Result<std::string> TableJson(const Context& ctx, const std::vector<runtime::ObjectPtr>& objects,
                              const std::string& list_meta_json, const TableRequest& request) {
  std::string json = "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/" + request.meta_version +
                     "\",\"metadata\":" + list_meta_json;
  std::span<const runtime::ObjectPtr> left = objects;
  bool first = true;
  std::size_t done = 0;
  do {
    const auto some = left.first(std::min(left.size(), kObjectsAtATime));
    left = left.subspan(some.size());
    ASSIGN_OR_RETURN(
        const meta::Table table,
        request.target.table->ConvertToTable(ctx, {some.begin(), some.end()}, request.options));
    if (std::exchange(first, false)) BeginRows(table, request, json);
    const std::size_t before = json.size();
    RETURN_IF_ERROR(AppendRows(table.rows, objects, done, request, json));
    done += some.size();
    // As if the rows to come were like these.
    if (!left.empty()) {
      json.reserve(json.size() +
                   (json.size() - before) * (left.size() + some.size()) / some.size());
    }
  } while (!left.empty());
  json += "]}";
  return json;
}

}  // namespace apiserver::v0::response
