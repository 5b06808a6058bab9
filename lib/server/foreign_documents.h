#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/openapi/foreign.h"
#include "apiserver/openapi/spec.h"

namespace apiserver::inline v0::server {

// The documents of OpenAPI v2 of other servers, merged into that of this one. They are merged again
// only when one of them, or what stands before them, has changed. Any thread.
class ForeignDocuments {
 public:
  // Returns what stands behind `base` and the fragments of this server.
  std::vector<openapi::FragmentPtr> Merged(const std::shared_ptr<const openapi::V2Base>& base,
                                           const std::vector<openapi::FragmentPtr>& own,
                                           const std::vector<openapi::ForeignV2Ptr>& foreign);

 private:
  struct Kept {
    std::shared_ptr<const openapi::V2Base> base;
    openapi::V2Names names;  // Those of the base.
    std::string of;          // The hashes of what was merged.
    std::vector<openapi::FragmentPtr> merged;
  };

  Guarded<Kept> kept_;
};

}  // namespace apiserver::inline v0::server
