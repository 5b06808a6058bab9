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
    json += request.resource_version.empty()
                ? encoding->ToString()
                : BodyWithResourceVersion(*encoding, request.resource_version);
    return {};
  }
  json += "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/";
  json += request.meta_version;
  json += "\",\"metadata\":";
  json += MetadataWithResourceVersion(*encoding, request.resource_version);
  json += "}";
  return {};
}

// Objects are looked into for their cells only: those that are still bytes as copies, a few at a
// time, so that a table of everything does not keep everything parsed.
constexpr std::size_t kObjectsAtATime = 256;

std::vector<runtime::ObjectPtr> Passing(std::span<const runtime::ObjectPtr> objects) {
  std::vector<runtime::ObjectPtr> passing;
  passing.reserve(objects.size());
  for (const runtime::ObjectPtr& object : objects) {
    passing.push_back(object->loaded() ? object : runtime::ObjectPtr(object->Clone()));
  }
  return passing;
}

Status AppendRow(const meta::TableRow& row, const runtime::Object& object,
                 const TableRequest& request, std::string& json) {
  if (json.back() != '[') json += ",";
  json += "{\"cells\":[";
  for (const runtime::Value& cell : row.cells) {
    if (json.back() != '[') json += ",";
    codec::AppendJson(cell, json);
  }
  json += "],\"object\":";
  RETURN_IF_ERROR(AppendObject(object, request, json));
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
    const std::vector<runtime::ObjectPtr> passing = Passing(some);
    ASSIGN_OR_RETURN(const meta::Table table,
                     request.target.table->ConvertToTable(ctx, passing, request.options));
    if (std::exchange(first, false)) BeginRows(table, request, json);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const meta::TableRow& row = table.rows[i];
      // What the list holds has its encoding; its copy would make one more.
      const bool same = i < passing.size() && row.object == passing[i];
      Status added = AppendRow(row, same ? *some[i] : *row.object, request, json);
      if (!added.ok()) return added;
    }
  } while (!left.empty());
  json += "]}";
  return json;
}

}  // namespace apiserver::inline v0::response
