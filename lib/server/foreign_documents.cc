#include "server/foreign_documents.h"

#include <utility>

namespace apiserver::v0::server {

std::vector<openapi::FragmentPtr> ForeignDocuments::Merged(
    const std::shared_ptr<const openapi::V2Base>& base,
    const std::vector<openapi::FragmentPtr>& own,
    const std::vector<openapi::ForeignV2Ptr>& foreign) {
  if (foreign.empty()) {
    *kept_.Lock() = {};
    return {};
  }
  std::string of = openapi::EtagOf(*base, own);
  for (const openapi::ForeignV2Ptr& each : foreign) of.append("\n").append(each->hash);
  Kept kept = *kept_.Lock();
  if (kept.base == base && kept.of == of) return kept.merged;
  if (kept.base != base) {
    kept.base = base;
    kept.names = openapi::NamesIn(*base);
  }
  openapi::V2Names taken = kept.names;
  for (const openapi::FragmentPtr& each : own) {
    for (std::string& name : each->Names()) taken.definitions.emplace(std::move(name), "");
  }
  kept.of = std::move(of);
  kept.merged = openapi::MergeForeignV2(std::move(taken), foreign);
  *kept_.Lock() = kept;
  return kept.merged;
}

}  // namespace apiserver::v0::server
