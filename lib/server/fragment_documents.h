#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/runtime/names.h"
#include "server/lazy.h"

namespace apiserver::inline v0::server {

// Documents of OpenAPI v3 that are made of fragments alone. Each is made when it is first asked
// for, and the last ones are kept: clients ask for few, and all of them would take much memory. Any
// thread.
class FragmentDocuments {
 public:
  using Document = Lazy<openapi::Document>;

  explicit FragmentDocuments(Executor& pool) : pool_(pool) {}

  // Returns the document of a version's fragments.
  std::shared_ptr<Document> Of(const runtime::GroupVersion& version,
                               std::vector<openapi::FragmentPtr> fragments);

  // The version of every document, which is made once.
  static constexpr std::uint64_t kVersion = 1;
  // How many documents are kept; a real one has 50 KiB to a few MiB.
  static constexpr std::size_t kKeptMax = 16;

 private:
  struct Kept {
    runtime::GroupVersion version;
    std::string etag;
    std::shared_ptr<Document> document;
  };

  Executor& pool_;
  Guarded<std::list<Kept>> kept_;  // The one that was asked for last stands first.
};

}  // namespace apiserver::inline v0::server
