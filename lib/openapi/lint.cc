#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/spec.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::Value;

// Visits every value of a document once; iterative, since documents may be untrusted.
class Linter {
 public:
  explicit Linter(Value document) : document_(document) {
    definitions_ = document["definitions"];
    prefix_ = "#/definitions/";
    if (definitions_.is_null()) {
      definitions_ = document["components"]["schemas"];
      prefix_ = "#/components/schemas/";
    }
  }

  std::vector<std::string> Run() {
    CheckKinds();
    std::vector<Value> open{document_};
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      for (const Value& item : value.items()) open.push_back(item);
      for (const runtime::Member& member : value.members()) {
        if (member.key == "$ref" && member.value.is_string()) CheckRef(member.value.AsString());
        if (member.key == "operationId") CheckOperation(member.value.AsString());
        open.push_back(member.value);
      }
    }
    return std::move(problems_);
  }

 private:
  void CheckRef(std::string_view ref) {
    constexpr std::string_view kParameters = "#/parameters/";
    if (ref.starts_with(kParameters)) {
      ref.remove_prefix(kParameters.size());
      if (document_["parameters"].Find(ref)) return;
      problems_.push_back("$ref to no parameter: " + std::string(ref));
      return;
    }
    if (!ref.starts_with(prefix_)) {
      problems_.push_back("$ref to another place: " + std::string(ref));
      return;
    }
    ref.remove_prefix(prefix_.size());
    // Clients look definitions up by the text as it is: an escaped '/' breaks some of them.
    if (ref.find('~') != std::string_view::npos) {
      problems_.push_back("$ref with an escape: " + std::string(ref));
    }
    if (!definitions_.Find(ref)) problems_.push_back("$ref to nothing: " + std::string(ref));
  }

  void CheckOperation(std::string_view id) {
    if (!operations_.insert(std::string(id)).second) {
      problems_.push_back("operation id used twice: " + std::string(id));
    }
  }

  void CheckKinds() {
    std::set<std::string> seen;
    for (const runtime::Member& definition : definitions_.members()) {
      for (const Value& gvk : definition.value["x-kubernetes-group-version-kind"].items()) {
        const std::string name = std::string(gvk["group"].AsString()) + "/" +
                                 std::string(gvk["version"].AsString()) + " " +
                                 std::string(gvk["kind"].AsString());
        if (!seen.insert(name).second) problems_.push_back("kind defined twice: " + name);
      }
    }
  }

  Value document_;
  Value definitions_;
  std::string prefix_;
  std::set<std::string> operations_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> Lint(const std::string& json) {
  runtime::Arena arena;
  const auto document = codec::ParseJson(json, arena);
  if (!document.ok()) return {std::string(document.status().message())};
  return Linter(*document).Run();
}

}  // namespace apiserver::v0::openapi
