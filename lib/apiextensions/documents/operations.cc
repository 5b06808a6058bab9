// Follows generateBuilder and buildRoute of apiextensions-apiserver's openapi builder, and what
// kube-openapi makes of their routes.

#include "apiextensions/documents/operations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/route.h"
#include "openapi/operation_ids.h"
#include "openapi/option_parameters.h"
#include "text/base64.h"

namespace apiserver::v0::apiextensions {

namespace {

using openapi::Parameter;
using ParameterList = std::vector<Parameter>;

constexpr std::string_view kMetaV1Prefix = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kScaleName = "io.k8s.api.autoscaling.v1.Scale";

std::string AsJson(std::string_view text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  return quoted;
}

std::string AsJsonList(std::initializer_list<std::string_view> texts) {
  std::string list = "[";
  for (const std::string_view text : texts) list += (list.back() == '[' ? "" : ",") + AsJson(text);
  return list + "]";
}

enum class Where : std::uint8_t { kAllNamespaces, kCollection, kItem };

// Makes the list of what an operation takes besides the parameters that all of them have.
using OwnParameters = ParameterList (*)();

ParameterList ListOwn() {
  ParameterList own = openapi::ListParameters();
  own.push_back(openapi::WatchParameter());
  return own;
}
ParameterList GetOwn() { return {openapi::ResourceVersionParameter()}; }
ParameterList WriteOwn() { return openapi::WriteParameters(); }
ParameterList PatchOwn() { return openapi::PatchParameters(); }
ParameterList DeleteOwn() {
  ParameterList own = openapi::DeleteParameters();
  own.push_back(openapi::IgnoreReadErrorsParameter());
  return own;
}

// One method of a path.
struct OperationRow {
  std::string_view method;
  std::string_view action;     // x-kubernetes-action.
  std::string_view operation;  // The beginning of its description.
  std::string_view id_begin;   // The operation id, before and behind the group's name.
  std::string_view id_middle;
  OwnParameters own;
  enum class Body : std::uint8_t { kNone, kObject, kPatch, kDeleteOptions } body;
  std::array<int, 3> codes;  // 0: none.
  bool answers_status;       // Otherwise the object, or its list.
};
using Body = OperationRow::Body;

constexpr OperationRow kListRow = {"get",    "list",      "list",      "list", "",
                                   &ListOwn, Body::kNone, {200, 0, 0}, false};
constexpr OperationRow kCollectionRows[] = {
    kListRow,
    {"post", "post", "create", "create", "", &WriteOwn, Body::kObject, {200, 201, 202}, false},
    {"delete",
     "deletecollection",
     "delete collection of",
     "delete",
     "Collection",
     &ListOwn,
     Body::kNone,
     {200, 0, 0},
     true},
};
constexpr OperationRow kGetRow = {"get",   "get",       "read",      "read", "",
                                  &GetOwn, Body::kNone, {200, 0, 0}, false};
constexpr OperationRow kPutRow = {"put",     "put",         "replace",     "replace", "",
                                  &WriteOwn, Body::kObject, {200, 201, 0}, false};
constexpr OperationRow kPatchRow = {"patch",   "patch",      "partially update", "patch", "",
                                    &PatchOwn, Body::kPatch, {200, 0, 0},        false};
constexpr OperationRow kDeleteRow = {
    "delete",      "delete", "delete", "delete", "", &DeleteOwn, Body::kDeleteOptions,
    {200, 202, 0}, true};
constexpr OperationRow kItemRows[] = {kGetRow, kPutRow, kDeleteRow, kPatchRow};
constexpr OperationRow kSubresourceRows[] = {kGetRow, kPutRow, kPatchRow};

// Follows GetArticleForNoun: plurals have no article.
std::string_view ArticleOf(std::string_view kind) {
  if (kind.ends_with('s') && !kind.ends_with("ss")) return " ";
  const int first = std::tolower(static_cast<unsigned char>(kind.empty() ? 'b' : kind.front()));
  return std::string_view("aeiou").find(static_cast<char>(first)) == std::string_view::npos
             ? " a "
             : " an ";
}

std::string_view PhraseOf(int code) {
  return code == 200 ? "OK" : code == 201 ? "Created" : "Accepted";
}

// Returns the end of a parameter's name in v2: six bytes of the FNV-1 hash of its JSON, whose
// members have Go's order.
std::string HashOf(std::string_view json) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : json) hash = (hash * 1099511628211U) ^ static_cast<unsigned char>(c);
  std::string bytes;
  for (int shift = 56; shift > 8; shift -= 8) bytes += static_cast<char>(hash >> shift);
  std::string name;
  text::AppendBase64Url(bytes, name);
  return name;
}

// A path with its operations.
class PathWriter {
 public:
  PathWriter(const DocumentedVersion& documented, openapi::Format form, std::string& out,
             std::map<std::string, std::string>& parameters)
      : documented_(documented), form_(form), out_(out), shared_(parameters) {}

  void Add(Where where, std::string_view subresource, std::span<const OperationRow> rows) {
    // Nothing is known of what stands before the first path; its separator is the caller's.
    if (!first_) out_ += ',';
    first_ = false;
    out_ += AsJson(PathOf(where, subresource)) + ":{";
    std::vector<ParameterList> own;
    for (const OperationRow& row : rows) own.push_back(row.own());
    ParameterList common = CommonOf(own);
    AddPlaces(where, common);
    AppendParameters(common, nullptr, out_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (out_.back() != '{') out_ += ',';
      AppendOperation(rows[i], where, subresource, own[i]);
    }
    out_ += '}';
  }

 private:
  bool v2() const { return form_ == openapi::Format::kV2; }

  std::string PathOf(Where where, std::string_view subresource) const {
    std::string path = "/apis/" + documented_.group + "/" + documented_.version;
    if (documented_.namespaced && where != Where::kAllNamespaces) path += "/namespaces/{namespace}";
    path += "/" + documented_.plural;
    if (where == Where::kItem) path += "/{name}";
    if (!subresource.empty()) path.append("/").append(subresource);
    return path;
  }

  // Takes out of `own` what every operation has.
  static ParameterList CommonOf(std::vector<ParameterList>& own) {
    ParameterList common;
    for (const Parameter& candidate : own.front()) {
      const auto has = [&candidate](const ParameterList& each) {
        return std::ranges::find(each, candidate.name, &Parameter::name) != each.end();
      };
      if (std::ranges::all_of(own, has)) common.push_back(candidate);
    }
    for (ParameterList& each : own) {
      std::erase_if(each, [&common](const Parameter& parameter) {
        return std::ranges::find(common, parameter.name, &Parameter::name) != common.end();
      });
    }
    return common;
  }

  void AddPlaces(Where where, ParameterList& common) const {
    common.push_back(openapi::PrettyParameter());
    if (documented_.namespaced && where != Where::kAllNamespaces) {
      common.push_back({.name = "namespace",
                        .in = "path",
                        .description = "object name and auth scope, such as for teams and projects",
                        .required = true});
    }
    if (where != Where::kItem) return;
    common.push_back({.name = "name",
                      .in = "path",
                      .description = "name of the " + documented_.kind,
                      .required = true});
  }

  std::string JsonOf(const Parameter& parameter) const {
    std::string json = "{";
    const std::string type = "\"uniqueItems\":true,\"type\":" + AsJson(parameter.type);
    json += v2() ? type : "\"schema\":{" + type + "}";
    json += ",\"description\":" + AsJson(parameter.description) +
            ",\"name\":" + AsJson(parameter.name) + ",\"in\":" + AsJson(parameter.in);
    return json + (parameter.required ? ",\"required\":true}" : "}");
  }

  // kubectl looks for the first two to learn what a server can do; the name tells the kind.
  bool IsShared(const Parameter& parameter) const {
    return v2() && parameter.name != "dryRun" && parameter.name != "fieldValidation" &&
           parameter.name != "name";
  }

  std::string Shared(const std::string& name, const std::string& json) {
    const std::string full = name + "-" + HashOf(json);
    shared_.emplace(full, json);
    return "{\"$ref\":\"#/parameters/" + full + "\"}";
  }

  // `body`: the one of v2, which stands among the parameters. Appends nothing if there are none.
  void AppendParameters(const ParameterList& parameters, const std::string* body,
                        std::string& out) {
    std::map<std::string, std::string> by_name;
    for (const Parameter& each : parameters) {
      const std::string json = JsonOf(each);
      by_name.emplace(each.name, IsShared(each) ? Shared(each.name, json) : json);
    }
    if (body) by_name.emplace("body", *body);
    if (by_name.empty()) return;
    if (out.back() != '{') out += ',';
    out += "\"parameters\":[";
    for (const auto& [name, json] : by_name) out += (out.back() == '[' ? "" : ",") + json;
    out += ']';
  }

  std::string DefinitionOf(const OperationRow& row, std::string_view subresource) const {
    if (row.answers_status) return std::string(kMetaV1Prefix) + "Status";
    if (subresource == "scale") return std::string(kScaleName);
    return DefinitionNameOf(documented_.group, documented_.version,
                            row.action == "list" ? documented_.list_kind : documented_.kind);
  }

  std::string RefTo(std::string_view definition) const {
    return "{\"$ref\":" + AsJson(std::string(RefPrefix(form_)).append(definition)) + "}";
  }

  std::string BodyDefinition(const OperationRow& row, std::string_view subresource) const {
    if (row.body == Body::kPatch) return std::string(kMetaV1Prefix) + "Patch";
    if (row.body == Body::kDeleteOptions) return std::string(kMetaV1Prefix) + "DeleteOptions";
    return DefinitionOf(row, subresource);
  }

  static std::string ConsumesOf(const OperationRow& row) {
    return row.body == Body::kPatch
               ? AsJsonList({"application/json-patch+json", "application/merge-patch+json",
                             "application/apply-patch+yaml"})
               : AsJsonList({"application/json", "application/yaml"});
  }

  static std::string ContentOf(std::initializer_list<std::string_view> types,
                               const std::string& schema) {
    std::string content = "\"content\":{";
    for (const std::string_view type : types) {
      if (content.back() != '{') content += ',';
      content += AsJson(type) + ":{\"schema\":" + schema + "}";
    }
    return content + "}";
  }

  // Returns the body among the parameters of v2. Only those of meta/v1 are the same for all kinds.
  std::string BodyOfV2(const OperationRow& row, const std::string& definition) {
    std::string json = "{\"name\":\"body\",\"in\":\"body\"";
    if (row.body != Body::kDeleteOptions) json += ",\"required\":true";
    json += ",\"schema\":" + RefTo(definition) + "}";
    return definition.starts_with(kMetaV1Prefix) ? Shared("body", json) : json;
  }

  std::string BodyOfV3(const OperationRow& row, const std::string& definition) const {
    const std::string schema = RefTo(definition);
    std::string body = ",\"requestBody\":{";
    body += row.body == Body::kPatch
                ? ContentOf({"application/json-patch+json", "application/merge-patch+json",
                             "application/apply-patch+yaml"},
                            schema)
                : ContentOf({"application/json", "application/yaml"}, schema);
    return body + (row.body == Body::kDeleteOptions ? "}" : ",\"required\":true}");
  }

  std::string ResponsesOf(const OperationRow& row, std::string_view subresource) const {
    const std::string schema = RefTo(DefinitionOf(row, subresource));
    std::string json = ",\"responses\":{";
    for (const int code : row.codes) {
      if (code == 0) continue;
      json += "\"" + std::to_string(code) + "\":{\"description\":" + AsJson(PhraseOf(code)) + ",";
      json += v2() ? "\"schema\":" + schema
                   : ContentOf({"application/json", "application/yaml"}, schema);
      json += "},";
    }
    return json + "\"401\":{\"description\":\"Unauthorized\"}}";
  }

  std::string DescriptionOf(const OperationRow& row, std::string_view subresource) const {
    std::string text(row.operation);
    if (!subresource.empty()) text.append(" ").append(subresource).append(" of");
    if (row.action == "list") {
      text += " objects of kind ";
    } else if (row.action == "post" || row.action == "delete") {
      text += ArticleOf(documented_.kind);
    } else {
      text += row.action == "deletecollection" ? " " : " the specified ";
    }
    return text + documented_.kind;
  }

  std::string IdOf(const OperationRow& row, Where where, std::string_view subresource) const {
    std::string object(row.id_middle);
    if (documented_.namespaced && where != Where::kAllNamespaces) object += "Namespaced";
    object += documented_.kind;
    if (!subresource.empty()) {
      object += static_cast<char>(std::toupper(static_cast<unsigned char>(subresource[0])));
      object += subresource.substr(1);
    }
    if (where == Where::kAllNamespaces) object += "ForAllNamespaces";
    return std::string(row.id_begin) +
           openapi::ValidOperationId(openapi::OperationWordOf(documented_.group), true) +
           openapi::ValidOperationId(documented_.version, true) +
           openapi::ValidOperationId(object, true);
  }

  std::string TagOf() const {
    return openapi::ValidOperationId(openapi::OperationWordOf(documented_.group), false) + "_" +
           openapi::ValidOperationId(documented_.version, false);
  }

  void AppendOperation(const OperationRow& row, Where where, std::string_view subresource,
                       const ParameterList& own) {
    out_ += AsJson(row.method) + ":{\"description\":" + AsJson(DescriptionOf(row, subresource));
    if (v2()) {
      out_ += ",\"consumes\":" + ConsumesOf(row) +
              ",\"produces\":" + AsJsonList({"application/json", "application/yaml"}) +
              ",\"schemes\":[\"https\"]";
    }
    out_ += ",\"tags\":[" + AsJson(TagOf()) +
            "],\"operationId\":" + AsJson(IdOf(row, where, subresource));
    const bool has_body = row.body != Body::kNone;
    const std::string definition = has_body ? BodyDefinition(row, subresource) : "";
    const std::string body = has_body && v2() ? BodyOfV2(row, definition) : "";
    AppendParameters(own, body.empty() ? nullptr : &body, out_);
    if (has_body && !v2()) out_ += BodyOfV3(row, definition);
    out_ += ResponsesOf(row, subresource);
    out_ += ",\"x-kubernetes-action\":" + AsJson(row.action) +
            ",\"x-kubernetes-group-version-kind\":{\"group\":" + AsJson(documented_.group) +
            ",\"kind\":" + AsJson(documented_.kind) +
            ",\"version\":" + AsJson(documented_.version) + "}}";
  }

  const DocumentedVersion& documented_;
  const openapi::Format form_;
  std::string& out_;
  std::map<std::string, std::string>& shared_;
  bool first_ = true;
};

}  // namespace

void AppendPaths(const DocumentedVersion& documented, openapi::Format form, std::string& out,
                 std::map<std::string, std::string>& parameters) {
  PathWriter writer(documented, form, out, parameters);
  if (documented.namespaced) writer.Add(Where::kAllNamespaces, "", std::span(&kListRow, 1));
  writer.Add(Where::kCollection, "", kCollectionRows);
  writer.Add(Where::kItem, "", kItemRows);
  if (documented.status) writer.Add(Where::kItem, "status", kSubresourceRows);
  if (documented.scale) writer.Add(Where::kItem, "scale", kSubresourceRows);
}

}  // namespace apiserver::v0::apiextensions
