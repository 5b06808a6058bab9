#include "response/table.h"

#include <utility>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "response/metadata.h"

namespace apiserver::v0::response {

namespace {

// The order and the members of metav1.TableColumnDefinition.
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

// Returns whether the rows have objects, whose encodings are needed.
bool ShowsObjects(const meta::TableOptions& options) {
  return options.include_object != meta::IncludeObject::kNone;
}

// Writes a Table row by row while it is sent, so that a long one is never in memory as text.
class TableDocument final : public Document {
 public:
  // `encodings`: one a row, unless no row shows its object.
  TableDocument(std::string head, meta::Table table, std::vector<runtime::EncodingPtr> encodings,
                const TableRequest& request)
      : head_(std::move(head)),
        table_(std::move(table)),
        encodings_(std::move(encodings)),
        include_object_(request.options.include_object),
        version_(request.target.version),
        resource_version_(request.resource_version),
        partial_prefix_("{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/" +
                        request.meta_version + "\",\"metadata\":") {}

  bool AppendTo(std::string& json, std::size_t wanted) override {
    json += std::exchange(head_, {});
    for (; next_ < table_.rows.size(); ++next_) {
      // Stops between rows only, so that a row is never split.
      if (json.size() >= wanted) return true;
      if (next_ > 0) json += ',';
      AppendRow(json);
    }
    json += "]}\n";
    return false;
  }

 private:
  void AppendRow(std::string& json) const {
    json += "{\"cells\":[";
    for (const runtime::Value& cell : table_.rows[next_].cells) {
      if (json.back() != '[') json += ',';
      codec::AppendJson(cell, json);
    }
    json += ']';
    if (const runtime::Value conditions = table_.rows[next_].conditions; !conditions.is_null()) {
      json += ",\"conditions\":";
      codec::AppendJson(conditions, json);
    }
    json += ",\"object\":";
    AppendObject(json);
    json += '}';
  }

  void AppendObject(std::string& json) const {
    if (include_object_ == meta::IncludeObject::kNone) {
      json += "null";
      return;
    }
    const runtime::Encoding& encoding = *encodings_[next_];
    if (include_object_ == meta::IncludeObject::kMetadata) {
      json += partial_prefix_;
      AppendMetadataWithResourceVersion(encoding, resource_version_, json);
      json += '}';
      return;
    }
    json += table_.rows[next_].object->kind().JsonPrefix(version_);
    if (resource_version_.empty()) {
      encoding.AppendTo(json);
    } else {
      json += BodyWithResourceVersion(encoding, resource_version_);
    }
  }

  std::string head_;
  const meta::Table table_;
  const std::vector<runtime::EncodingPtr> encodings_;
  const meta::IncludeObject include_object_;
  const std::string version_;
  const std::string resource_version_;
  const std::string partial_prefix_;
  std::size_t next_ = 0;
};

// Returns the encoding of each row's object: the one of `request.kept` if it is the row's,
// otherwise a new one.
Result<std::vector<runtime::EncodingPtr>> EncodingsOfRows(
    const Context& ctx, const std::vector<meta::TableRow>& rows,
    const std::vector<runtime::ObjectPtr>& objects, const TableRequest& request) {
  std::vector<runtime::EncodingPtr> encodings;
  if (!ShowsObjects(request.options)) return encodings;
  encodings.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // The converter decides on the rows, which need not match the objects by position.
    const bool known = i < request.kept.size() && rows[i].object == objects[i];
    runtime::EncodingPtr encoding = known ? request.kept[i] : nullptr;
    if (encoding == nullptr) {
      ASSIGN_OR_RETURN(encoding, codec::EncodingOf(ctx, *rows[i].object, request.target.version,
                                                   runtime::Format::kJson, request.encodings));
    }
    encodings.push_back(std::move(encoding));
  }
  return encodings;
}

}  // namespace

Result<std::unique_ptr<Document>> NewTableDocument(const Context& ctx,
                                                   const std::vector<runtime::ObjectPtr>& objects,
                                                   const std::string& list_meta_json,
                                                   const TableRequest& request) {
  ASSIGN_OR_RETURN(meta::Table table,
                   request.target.table->ConvertToTable(ctx, objects, request.options));
  ASSIGN_OR_RETURN(auto encodings, EncodingsOfRows(ctx, table.rows, objects, request));
  std::string head = "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/" + request.meta_version +
                     "\",\"metadata\":" + list_meta_json;
  if (request.with_columns) {
    AppendColumns(table, head);
  } else {
    head += ",\"columnDefinitions\":null";
  }
  head += ",\"rows\":[";
  return std::unique_ptr<Document>(std::make_unique<TableDocument>(
      std::move(head), std::move(table), std::move(encodings), request));
}

}  // namespace apiserver::v0::response
