#include <openssl/sha.h>

#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiextensions/documents/definitions.h"
#include "apiextensions/documents/documented_version.h"
#include "apiextensions/documents/documents.h"
#include "apiextensions/documents/opened.h"
#include "apiextensions/documents/operations.h"
#include "apiserver/codec/json.h"
#include "apiserver/registry/scale.h"
#include "text/hex.h"

namespace apiserver::v0::apiextensions {

namespace {

// Changes whenever other documents are made of the same definition.
constexpr std::string_view kMaker = "3";

// The last one is that of the scale subresource alone.
constexpr std::string_view kReferences[] = {"io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
                                            "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
                                            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                                            "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
                                            "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
                                            "io.k8s.api.autoscaling.v1.Scale"};

template <class Number>
void AppendBytesOf(Number number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendText(std::string_view text, std::string& bytes) {
  AppendBytesOf(text.size(), bytes);
  bytes += text;
}

// Appends what a value is, in a form that no other value has. JSON would do, but to escape all
// texts was a tenth of a start with thousands of definitions. Does not recurse.
void AppendForm(const runtime::Value& root, std::string& bytes) {
  std::vector<const runtime::Value*> open = {&root};
  while (!open.empty()) {
    const runtime::Value& value = *open.back();
    open.pop_back();
    bytes += static_cast<char>(value.type());
    switch (value.type()) {
      case runtime::Value::Type::kNull:
        break;
      case runtime::Value::Type::kBool:
        bytes += value.AsBool() ? '1' : '0';
        break;
      case runtime::Value::Type::kInt:
        AppendBytesOf(value.AsInt(), bytes);
        break;
      case runtime::Value::Type::kDouble:
        AppendBytesOf(value.AsDouble(), bytes);
        break;
      case runtime::Value::Type::kString:
        AppendText(value.AsString(), bytes);
        break;
      case runtime::Value::Type::kList:
      case runtime::Value::Type::kMap:
        AppendBytesOf(value.size(), bytes);
        for (const runtime::Value& item : value.items()) open.push_back(&item);
        for (const runtime::Member& member : value.members()) {
          AppendText(member.key, bytes);
          open.push_back(&member.value);
        }
        break;
      default:
        codec::AppendJson(value, bytes);
    }
  }
}

// Returns the hash of all that the documents are made of. Nothing else of the definition counts: a
// condition or a label changes no document.
std::string HashOfInputs(const DocumentedVersion& documented) {
  std::string inputs(kMaker);
  for (const std::string* const text : {&documented.group, &documented.version, &documented.plural,
                                        &documented.kind, &documented.list_kind}) {
    inputs += '\0' + *text;
  }
  inputs += '\0';
  for (const bool flag : {documented.namespaced, documented.status, documented.scale,
                          documented.preserve_unknown_fields}) {
    inputs += flag ? '1' : '0';
  }
  AppendForm(documented.schema, inputs);
  AppendForm(documented.selectable_fields, inputs);
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  SHA512(reinterpret_cast<const unsigned char*>(inputs.data()), inputs.size(), digest.data());
  std::string hex;
  text::AppendUpperHex(digest, hex);
  return hex;
}

class VersionFragment final : public openapi::Fragment {
 public:
  VersionFragment(runtime::ObjectPtr definition, DocumentedVersion documented, bool structural)
      : definition_(std::move(definition)),
        structural_(structural),
        hash_(HashOfInputs(documented)),
        names_(std::move(documented)) {
    // They belong to a copy that does not outlive the constructor's caller.
    names_.schema = names_.selectable_fields = runtime::Value();
  }

  std::string_view hash() const override { return hash_; }
  // Upstream's own words, by which the document of a group version is known as that of definitions.
  openapi::Info info() const override { return {"Kubernetes CRD Swagger", "v0.1.0"}; }

  std::span<const std::string_view> References() const override {
    return std::span(kReferences).first(std::size(kReferences) - (names_.scale ? 0 : 1));
  }
  std::vector<runtime::KindPtr> Kinds() const override {
    if (!names_.scale) return {};
    return {registry::ScaleKind()};
  }

  std::vector<std::string> Names() const override {
    return {DefinitionNameOf(names_.group, names_.version, names_.kind),
            DefinitionNameOf(names_.group, names_.version, names_.list_kind)};
  }

  void AppendPaths(openapi::Format format, std::string& json,
                   std::map<std::string, std::string>& parameters) const override {
    apiextensions::AppendPaths(names_, format, json, parameters);
  }

  void AppendDefinitions(openapi::Format format, std::string& json) const override {
    const Opened opened(definition_);
    if (const auto documented = DocumentedVersionOf(opened.root(), names_.version, structural_)) {
      apiextensions::AppendDefinitions(*documented, format, json);
    }
  }

 private:
  const runtime::ObjectPtr definition_;
  const bool structural_;
  const std::string hash_;
  DocumentedVersion names_;
};

}  // namespace

openapi::FragmentPtr NewFragment(runtime::ObjectPtr definition, runtime::Value root,
                                 std::string_view version, bool structural) {
  auto documented = DocumentedVersionOf(root, version, structural);
  if (!documented) return nullptr;
  return std::make_shared<const VersionFragment>(std::move(definition), *std::move(documented),
                                                 structural);
}

openapi::FragmentPtr NewFragment(const runtime::ObjectPtr& definition, std::string_view version,
                                 bool structural) {
  const Opened opened(definition);
  return NewFragment(definition, opened.root(), version, structural);
}

}  // namespace apiserver::v0::apiextensions
