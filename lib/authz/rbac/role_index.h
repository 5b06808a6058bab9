#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/rbac.h"

namespace apiserver::inline v0::authz::rbac {

// Numbers by text, several for one text: open addressing, filled once. A text has one slot however
// often it occurs: a role that names one resource a hundred thousand times must not cost the
// square.
class TextTable {
 public:
  using Entry = std::pair<std::string_view, std::uint32_t>;
  // The texts are borrowed.
  void Fill(std::vector<Entry> entries);
  // True if `accept` returns true for one of the numbers of `text`.
  template <class Accept>
  bool AnyOf(std::string_view text, std::uint64_t hash, const Accept& accept) const {
    if (slots_.empty()) return false;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask; slots_[at].used; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.hash != hash || slot.text != text) continue;
      for (std::uint32_t i = slot.begin; i < slot.end; ++i) {
        if (accept(numbers_[i])) return true;
      }
      return false;
    }
    return false;
  }
  static std::uint64_t Hash(std::string_view text) { return std::hash<std::string_view>()(text); }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::string_view text;
    std::uint32_t begin = 0;  // The range of its numbers.
    std::uint32_t end = 0;
    bool used = false;
  };
  std::vector<Slot> slots_;  // A power of two, at most half of them used; or empty.
  std::vector<std::uint32_t> numbers_;
};

// A request, with the hashes that every role's index needs. Borrows the attributes.
class Question {
 public:
  explicit Question(const auth::Attributes& asked);
  Question(const Question&) = delete;  // It refers to itself.
  Question& operator=(const Question&) = delete;
  ~Question() = default;

  const auth::Attributes& asked() const { return asked_; }

 private:
  friend class RoleIndex;
  const auth::Attributes& asked_;
  std::string buffer_;
  std::string_view text_;  // The text to look up: "pods", "pods/log", or the path.
  std::uint64_t hash_ = 0;
  std::string any_;  // "*/log"; empty without a subresource.
  std::uint64_t any_hash_ = 0;
};

// A role, indexed by the resources and URLs of its rules, so that a decision does not depend on
// their number. Immutable.
class RoleIndex {
 public:
  explicit RoleIndex(Role role);
  RoleIndex(const RoleIndex&) = delete;  // The tables refer to it.
  RoleIndex& operator=(const RoleIndex&) = delete;
  ~RoleIndex() = default;

  const Role& role() const { return role_; }
  bool Allows(const Question& question) const;
  // True if a rule is for objects of some names only.
  bool has_resource_names() const { return has_resource_names_; }

 private:
  bool AllowsResource(const Question& question) const;
  bool AllowsPath(const Question& question) const;

  const Role role_;
  bool has_resource_names_ = false;
  TextTable resources_;
  std::vector<std::uint32_t> all_resources_;  // Rules with the resource "*".
  TextTable urls_;
  std::vector<std::pair<std::string_view, std::uint32_t>> url_prefixes_;
};

}  // namespace apiserver::inline v0::authz::rbac
