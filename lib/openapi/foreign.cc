#include "apiserver/openapi/foreign.h"

#include <utility>

#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "openapi/merge.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::MapBuilder;
using runtime::Member;
using runtime::Value;

Value MapOf(const std::map<std::string_view, Value>& members, runtime::Arena& arena) {
  MapBuilder map(arena);
  for (const auto& [name, value] : members) map.Add(name, value);
  return map.Build();
}

Value JsonOf(const V2Parts& parts, runtime::Arena& arena) {
  MapBuilder paths(arena);
  for (const Member& path : parts.paths) paths.Add(path.key, path.value);
  MapBuilder document(arena);
  document.Add("paths", paths.Build());
  document.Add("definitions", MapOf(parts.definitions, arena));
  document.Add("parameters", MapOf(parts.parameters, arena));
  return document.Build();
}

// The paths and definitions that a foreign document adds.
class MergedFragment final : public Fragment {
 public:
  MergedFragment(V2Merger::Texts texts, std::string hash)
      : texts_(std::move(texts)), hash_(std::move(hash)) {}

  std::string_view hash() const override { return hash_; }
  Info info() const override { return {}; }
  std::span<const std::string_view> References() const override { return {}; }
  std::vector<runtime::KindPtr> Kinds() const override { return {}; }
  void AppendPaths(Format format, std::string& json,
                   std::map<std::string, std::string>& parameters) const override {
    if (format != Format::kV2) return;
    json += texts_.paths;
    parameters.insert(texts_.parameters.begin(), texts_.parameters.end());
  }
  void AppendDefinitions(Format format, std::string& json) const override {
    if (format == Format::kV2) json += texts_.definitions;
  }

 private:
  const V2Merger::Texts texts_;
  const std::string hash_;
};

std::string HashOf(const V2Merger::Texts& texts) {
  std::string all = texts.paths + "\n" + texts.definitions;
  for (const auto& [name, parameter] : texts.parameters) {
    all.append("\n").append(name).append("\n").append(parameter);
  }
  return HexDigestOf(all);
}

}  // namespace

Result<ForeignV2Ptr> ReadForeignV2(std::string_view json, const runtime::GroupVersion& version) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value document,
                   codec::ParseJson(json, arena, nullptr, {.depth_max = kForeignDepthMax}));
  if (!IsV2(document)) {
    return Status(Reason::kInvalid, "the document is no OpenAPI v2");
  }
  V2Parts parts(document);
  KeepVersion(version, parts);
  auto read = std::make_shared<ForeignV2>();
  read->version = version;
  codec::AppendJson(JsonOf(parts, arena), read->json);
  read->hash = HexDigestOf(read->json);
  return ForeignV2Ptr(std::move(read));
}

V2Names NamesIn(const V2Base& base) {
  V2Names names;
  runtime::Arena arena;
  const auto document = codec::ParseJson(base.document.json, arena);
  if (!document.ok()) return names;
  const V2Parts parts(*document);
  for (const Member& path : parts.paths) names.paths.emplace(path.key);
  for (const auto& [name, definition] : parts.definitions) {
    names.definitions.emplace(name, DigestOfDefinition(definition, arena));
  }
  for (const auto& [name, parameter] : parts.parameters) {
    names.parameters.emplace(name, DigestOf(parameter));
  }
  return names;
}

std::vector<FragmentPtr> MergeForeignV2(V2Names taken, std::span<const ForeignV2Ptr> foreign) {
  std::vector<runtime::Arena> arenas(foreign.size());
  V2Merger merger(std::move(taken));
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    const auto document = codec::ParseJson(foreign[i]->json, arenas[i]);
    merger.Add(V2Parts(document.ok() ? *document : Value()));
  }
  std::vector<FragmentPtr> fragments;
  for (V2Merger::Texts& texts : merger.Finish()) {
    if (texts.paths.empty()) continue;
    std::string hash = HashOf(texts);
    fragments.push_back(std::make_shared<const MergedFragment>(std::move(texts), std::move(hash)));
  }
  return fragments;
}

}  // namespace apiserver::v0::openapi
