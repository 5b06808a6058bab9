#include "server/fragment_documents.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::server {

namespace {

FragmentDocuments::Document::Made MakeV3Of(const runtime::GroupVersion& version,
                                           const std::vector<openapi::FragmentPtr>& fragments) {
  const openapi::Input input{.info = fragments.front()->info(),
                             .kinds = {},
                             .routes = {},
                             .fragments = fragments,
                             .fragment_versions = {version}};
  return {std::make_shared<const openapi::Document>(openapi::BuildV3(input)),
          FragmentDocuments::kVersion};
}

}  // namespace

std::shared_ptr<FragmentDocuments::Document> FragmentDocuments::Of(
    const runtime::GroupVersion& version, std::vector<openapi::FragmentPtr> fragments) {
  const std::string etag = openapi::EtagOf(fragments);
  const auto kept = kept_.Lock();
  const auto found = std::ranges::find(*kept, version, &Kept::version);
  if (found != kept->end()) {
    if (found->etag == etag) {
      kept->splice(kept->begin(), *kept, found);
      return found->document;
    }
    kept->erase(found);
  }
  auto document = std::make_shared<Document>(
      pool_, [version, fragments = std::move(fragments)] { return MakeV3Of(version, fragments); });
  kept->push_front({version, etag, document});
  if (kept->size() > kKeptMax) kept->pop_back();
  return document;
}

}  // namespace apiserver::v0::server
