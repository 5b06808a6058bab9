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
Status AppendObject(const Context& ctx, const runtime::Object& object,
                    const runtime::EncodingPtr& kept, const TableRequest& request,
                    std::string& json) {
  if (request.options.include_object == meta::IncludeObject::kNone) {
    json += "null";
    return {};
  }
  const std::string& version = request.target.version;
  runtime::EncodingPtr made;
  if (kept == nullptr) {
    ASSIGN_OR_RETURN(
        made, codec::EncodingOf(ctx, object, version, runtime::Format::kJson, request.encodings));
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

Status AppendRow(const Context& ctx, const meta::TableRow& row, const runtime::EncodingPtr& kept,
                 const TableRequest& request, std::string& json) {
  if (json.back() != '[') json += ",";
  json += "{\"cells\":[";
  for (const runtime::Value& cell : row.cells) {
    if (json.back() != '[') json += ",";
    codec::AppendJson(cell, json);
  }
  json += "],\"object\":";
  RETURN_IF_ERROR(AppendObject(ctx, *row.object, kept, request, json));
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

// Some objects of a list, and their encodings if they are kept.
struct Some {
  std::span<const runtime::ObjectPtr> objects;
  std::span<const runtime::EncodingPtr> kept;
};

Status AppendRows(const Context& ctx, const std::vector<meta::TableRow>& rows, const Some& some,
                  const TableRequest& request, std::string& json) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool known = i < some.kept.size() && rows[i].object == some.objects[i];
    RETURN_IF_ERROR(AppendRow(ctx, rows[i], known ? some.kept[i] : nullptr, request, json));
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
    const auto kept = request.kept.subspan(std::min(done, request.kept.size()));
    RETURN_IF_ERROR(AppendRows(ctx, table.rows, {some, kept}, request, json));
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
