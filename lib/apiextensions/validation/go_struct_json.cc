#include "apiextensions/validation/go_struct_json.h"

#include <string_view>

#include "apiextensions/schema/json_schema.h"
#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "codec/json_write.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Member;
using runtime::Value;

// The order of the internal type: nullable stands behind the type.
constexpr std::size_t kNullable = 36;
constexpr std::size_t kType = 4;

struct Part {
  std::string_view json;
  std::string_view go;
  std::string_view zero;
};
constexpr Part kColumn[] = {{"name", "Name", "\"\""},      {"type", "Type", "\"\""},
                            {"format", "Format", "\"\""},  {"description", "Description", "\"\""},
                            {"priority", "Priority", "0"}, {"jsonPath", "JSONPath", "\"\""}};
constexpr Part kRule[] = {{"rule", "Rule", "\"\""},
                          {"message", "Message", "\"\""},
                          {"messageExpression", "MessageExpression", "\"\""},
                          {"reason", "Reason", "null"},
                          {"fieldPath", "FieldPath", "\"\""},
                          {"optionalOldSelf", "OptionalOldSelf", "null"}};
constexpr Part kScale[] = {{"specReplicasPath", "SpecReplicasPath", "\"\""},
                           {"statusReplicasPath", "StatusReplicasPath", "\"\""},
                           {"labelSelectorPath", "LabelSelectorPath", "null"}};
constexpr Part kDocs[] = {{"description", "Description", "\"\""}, {"url", "URL", "\"\""}};
constexpr Part kSelectable[] = {{"jsonPath", "JSONPath", "\"\""}};
constexpr Part kVersionStart[] = {{"name", "Name", "\"\""},
                                  {"served", "Served", "false"},
                                  {"storage", "Storage", "false"},
                                  {"deprecated", "Deprecated", "false"},
                                  {"deprecationWarning", "DeprecationWarning", "null"}};

// Writes top down and recurses, but every level writes more than 500 bytes before it goes deeper,
// and beyond the limit nothing is written any more.
class Printer {
 public:
  void Versions(const InternalSpec& spec) {
    if (spec.versions().size() == 0) {
      out_ += "null";
      return;
    }
    out_ += '[';
    for (const Value& version : spec.versions().items()) {
      if (full()) break;
      Version(version, spec.hoisted());
      out_ += ',';
    }
    out_.back() = ']';
  }

  void Schema(const Value& schema) {
    if (!schema.is_map()) {
      out_ += "null";
      return;
    }
    out_ += '{';
    for (std::size_t i = 0; i < kSchemaMembers && !full(); ++i) {
      if (i == kNullable) continue;
      SchemaMemberAt(schema, i);
      if (i == kType) SchemaMemberAt(schema, kNullable);
    }
    out_.back() = '}';
  }

  void Items(const Value& items) {
    if (items.is_null()) {
      out_ += "null";
      return;
    }
    out_ += R"({"Schema":)";
    Schema(items);
    out_ += R"(,"JSONSchemas":)";
    Schemas(items);
    out_ += '}';
  }

  void Json(const Value& value) {
    if (!full()) codec::AppendSortedJson(value, out_);
  }

  std::string Take() && { return field::Shorten(out_); }

 private:
  bool full() const { return out_.size() > field::kTextBytesMax; }

  void Key(std::string_view name) {
    codec::AppendJsonString(name, out_);
    out_ += ':';
  }

  // Writes members without the braces, each with a comma behind it.
  template <std::size_t kSize>
  void Members(const Value& value, const Part (&parts)[kSize]) {
    for (const Part& part : parts) {
      Key(part.go);
      const Value member = value[part.json];
      if (member.is_null()) {
        out_ += part.zero;
      } else {
        Json(member);
      }
      out_ += ',';
    }
  }
  template <std::size_t kSize>
  void Struct(const Value& value, const Part (&parts)[kSize]) {
    if (value.is_null()) {
      out_ += "null";
      return;
    }
    out_ += '{';
    Members(value, parts);
    out_.back() = '}';
  }
  template <std::size_t kSize>
  void List(const Value& list, const Part (&parts)[kSize]) {
    if (list.size() == 0) {
      out_ += "null";
      return;
    }
    out_ += '[';
    for (const Value& item : list.items()) {
      if (full()) break;
      Struct(item, parts);
      out_ += ',';
    }
    out_.back() = ']';
  }

  void Version(const Value& version, const Hoisted& hoisted) {
    out_ += '{';
    Members(version, kVersionStart);
    Key("Schema");
    const Value validation = hoisted.schema ? Value() : version["schema"];
    if (validation.is_null()) {
      out_ += "null";
    } else {
      out_ += R"({"OpenAPIV3Schema":)";
      Schema(validation["openAPIV3Schema"]);
      out_ += '}';
    }
    out_ += ',';
    Key("Subresources");
    Subresources(hoisted.subresources ? Value() : version["subresources"]);
    out_ += ',';
    Key("AdditionalPrinterColumns");
    List(hoisted.columns ? Value() : version["additionalPrinterColumns"], kColumn);
    out_ += ',';
    Key("SelectableFields");
    List(hoisted.selectable_fields ? Value() : version["selectableFields"], kSelectable);
    out_ += '}';
  }

  void Subresources(const Value& subresources) {
    if (subresources.is_null()) {
      out_ += "null";
      return;
    }
    out_ += R"({"Status":)";
    out_ += subresources["status"].is_null() ? "null" : "{}";
    out_ += R"(,"Scale":)";
    Struct(subresources["scale"], kScale);
    out_ += '}';
  }

  void SchemaMemberAt(const Value& schema, std::size_t at) {
    const SchemaMember& member = SchemaMembers()[at];
    Key(member.go_name);
    Content(schema[member.name], member.form);
    out_ += ',';
  }

  void Content(const Value& value, MemberForm form) {
    switch (form) {
      case MemberForm::kText:
        return value.is_null() ? void(out_ += "\"\"") : Json(value);
      case MemberForm::kTrueFlag:
        out_ += value.AsBool() ? "true" : "false";
        return;
      case MemberForm::kSchema:
        return Schema(value);
      case MemberForm::kSchemas:
        return Schemas(value);
      case MemberForm::kSchemaMap:
      case MemberForm::kSchemasOrTexts:
        return Named(value, form);
      case MemberForm::kSchemaOrFlag:
        return SchemaOrFlag(value);
      case MemberForm::kSchemaOrList:
        return Items(value);
      case MemberForm::kDocs:
        return Struct(value, kDocs);
      case MemberForm::kRules:
        return List(value, kRule);
      default:
        return Json(value);
    }
  }

  void Schemas(const Value& list) {
    if (list.items().empty()) {
      out_ += "null";
      return;
    }
    out_ += '[';
    for (const Value& item : list.items()) {
      if (full()) break;
      Schema(item);
      out_ += ',';
    }
    out_.back() = ']';
  }

  void Named(const Value& map, MemberForm form) {
    if (map.size() == 0) {
      out_ += "null";
      return;
    }
    out_ += '{';
    for (const Member& member : map.members()) {
      if (full()) break;
      Key(member.key);
      if (form == MemberForm::kSchemaMap) {
        Schema(member.value);
      } else {
        out_ += R"({"Schema":)";
        Schema(member.value);
        out_ += R"(,"Property":)";
        Json(member.value.is_list() ? member.value : Value());
        out_ += '}';
      }
      out_ += ',';
    }
    out_.back() = '}';
  }

  void SchemaOrFlag(const Value& value) {
    if (value.is_null()) {
      out_ += "null";
      return;
    }
    out_ += value.is_map() || value.AsBool() ? R"({"Allows":true,"Schema":)"
                                             : R"({"Allows":false,"Schema":)";
    Schema(value);
    out_ += '}';
  }

  std::string out_;
};

}  // namespace

std::string PrintedVersions(const InternalSpec& spec) {
  Printer printer;
  printer.Versions(spec);
  return std::move(printer).Take();
}

std::string PrintedSchema(const Value& schema) {
  Printer printer;
  printer.Schema(schema);
  return std::move(printer).Take();
}

std::string PrintedItems(const Value& items) {
  Printer printer;
  printer.Items(items);
  return std::move(printer).Take();
}

std::string PrintedTexts(const Value& texts) {
  Printer printer;
  printer.Json(texts);
  return std::move(printer).Take();
}

}  // namespace apiserver::v0::apiextensions
