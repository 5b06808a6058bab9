#include "response/table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "response/metadata.h"

namespace apiserver::inline v0::response {

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

Status AppendObject(const runtime::Object& object, const TableRequest& request, std::string& json) {
  if (request.options.include_object == meta::IncludeObject::kNone) {
    json += "null";
    return {};
  }
  const std::string& version = request.target.version;
  ASSIGN_OR_RETURN(const runtime::EncodingPtr encoding,
                   codec::EncodingOf(object, version, runtime::Format::kJson, request.encodings));
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

Status AppendRow(const meta::TableRow& row, const TableRequest& request, std::string& json) {
  if (json.back() != '[') json += ",";
  json += "{\"cells\":[";
  for (const runtime::Value& cell : row.cells) {
    if (json.back() != '[') json += ",";
    codec::AppendJson(cell, json);
  }
  json += "],\"object\":";
  RETURN_IF_ERROR(AppendObject(*row.object, request, json));
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

}  // namespace

Result<std::string> TableJson(const Context& ctx, const std::vector<runtime::ObjectPtr>& objects,
                              const std::string& list_meta_json, const TableRequest& request) {
  std::string json = "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/" + request.meta_version +
                     "\",\"metadata\":" + list_meta_json;
  std::span<const runtime::ObjectPtr> left = objects;
  bool first = true;
  do {
    const auto some = left.first(std::min(left.size(), kObjectsAtATime));
    left = left.subspan(some.size());
    ASSIGN_OR_RETURN(
        const meta::Table table,
        request.target.table->ConvertToTable(ctx, {some.begin(), some.end()}, request.options));
    if (std::exchange(first, false)) BeginRows(table, request, json);
    const std::size_t before = json.size();
    for (const meta::TableRow& row : table.rows) {
      RETURN_IF_ERROR(AppendRow(row, request, json));
    }
    // As if the rows to come were like these.
    if (!left.empty()) {
      json.reserve(json.size() +
                   (json.size() - before) * (left.size() + some.size()) / some.size());
    }
  } while (!left.empty());
  json += "]}";
  return json;
}

}  // namespace apiserver::inline v0::response
