#pragma once

#include <optional>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::admission::policy {

// A value of a request that may be made when an expression first reads it: few read `request`.
// Copies share what is made. Used by one thread.
class LateValue {
 public:
  // Makes a value once, and keeps it.
  class Maker {
   public:
    virtual ~Maker() = default;
    const runtime::Value& Get() {
      if (!made_) made_ = Make();
      return *made_;
    }

   private:
    virtual runtime::Value Make() = 0;

    std::optional<runtime::Value> made_;
  };

  // Is null.
  LateValue() = default;
  // A value that is there.
  LateValue(const runtime::Value& value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  // Borrows the maker.
  explicit LateValue(Maker& maker) : maker_(&maker) {}

  // Returns the value, which lives as long as what it was made from.
  runtime::Value Get() const { return maker_ == nullptr ? value_ : maker_->Get(); }

 private:
  runtime::Value value_;
  Maker* maker_ = nullptr;
};

}  // namespace apiserver::inline v0::admission::policy
