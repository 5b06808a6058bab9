#pragma once

#include <memory>

#include "apiextensions/control/facts.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::apiextensions {

// The content of a definition in v1, for as long as documents are made of it. One that nobody has
// parsed is parsed aside: its tree is many times the size of its bytes, and is not kept for
// documents.
class Opened {
 public:
  // `definition` must outlive this.
  explicit Opened(const runtime::ObjectPtr& definition)
      : copy_(definition->loaded() && definition->version() == "v1" ? nullptr
                                                                    : ReadOnce(*definition)),
        root_(copy_ ? copy_->root() : definition->root()) {}

  runtime::Value root() const { return root_; }

 private:
  std::unique_ptr<runtime::Object> copy_;
  runtime::Value root_;
};

}  // namespace apiserver::inline v0::apiextensions
