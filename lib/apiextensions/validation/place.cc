#include "apiextensions/validation/place.h"

#include <vector>

namespace apiserver::v0::apiextensions {

field::Path Place::ToPath() const {
  std::vector<const Place*> steps;
  const Place* at = this;
  for (; at->root_ == nullptr; at = at->parent_) steps.push_back(at);
  field::Path path = *at->root_;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    switch ((*step)->step_) {
      case Step::kChild:
        path = path.Child((*step)->name_);
        break;
      case Step::kKey:
        path = path.Key((*step)->name_);
        break;
      default:
        path = path.Index((*step)->index_);
        break;
    }
  }
  return path;
}

}  // namespace apiserver::v0::apiextensions
