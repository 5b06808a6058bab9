#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/sync.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::patch::apply {

// The fields that the creators of the latest objects came to own. Most objects have the form of one
// before them, with other values, and then the same fields. Any thread.
class CreatedFields {
 public:
  // Returns what decides which fields an object with this content has: its keys, the types of its
  // values and, as items of lists may be owned by value, all that is in lists. Empty: too much.
  static std::string FormOf(const runtime::Value& content);

  // Returns the fields, as FieldsV1, of an object of that form. Nullopt: they are not known.
  std::optional<std::string> Find(std::string_view form) const;
  // Remembers them, in place of older ones if there are too many.
  void Add(std::string form, std::string_view fields);

 private:
  struct Entry {
    std::string form;
    std::string fields;

    std::size_t bytes() const { return form.size() + fields.size(); }
  };
  struct Known {
    std::deque<Entry> entries;  // The oldest is first.
    std::size_t bytes = 0;
  };

  Guarded<Known> known_;
};

}  // namespace apiserver::inline v0::patch::apply
