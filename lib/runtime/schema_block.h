#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/schema.h"
#include "runtime/patterns.h"

namespace apiserver::inline v0::runtime {

// The bytes that descriptions lie in, shared by the schemas that were read from them.
struct SchemaSource {
  explicit SchemaSource(std::shared_ptr<const std::string> text) : bytes(std::move(text)) {}
  mutable std::atomic<std::uint32_t> owners = 1;
  const std::shared_ptr<const std::string> bytes;
};

// A counted reference to a Pattern or SchemaSource.
template <class T>
class Counted {
 public:
  Counted() = default;
  // Takes over a reference that is counted already.
  explicit Counted(const T* counted) : counted_(counted) {}
  Counted(const Counted& other) : counted_(other.counted_) {
    if (counted_ != nullptr) counted_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Counted(Counted&& other) noexcept : counted_(other.Release()) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(counted_, other.counted_);
    return *this;
  }
  ~Counted() {
    if (counted_ != nullptr && counted_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete counted_;
    }
  }

  const T* get() const { return counted_; }
  const T* Release() { return std::exchange(counted_, nullptr); }
  bool shared() const { return counted_->owners.load(std::memory_order_acquire) > 1; }

 private:
  const T* counted_ = nullptr;
};

// Lays a schema out in one piece of memory: the Schema, its fields, a slot for each rare part it
// has, its list map keys, required names and junctors, its values, its texts.
class SchemaBlock {
 public:
  // `source` has what the parts' source_description name, `pattern` the compiled pattern; null
  // where there is none.
  SchemaBlock(const SchemaParts& parts, Counted<SchemaSource> source, Counted<Pattern> pattern);
  SchemaPtr Make();

  static std::uint32_t Hash(const Schema& schema);
  // Whether two schemas of one pool, whose parts are of that pool too, are the same.
  static bool Equal(const Schema& a, const Schema& b);
  static bool IsShared(const Schema& schema) { return schema.owners_.load() > 1; }
  static void Destroy(const Schema* schema);

 private:
  using Slots = std::array<std::uint64_t, Schema::kFirstMark>;

  void Gather();
  void GatherConstraints();
  void GatherRules();
  void GatherStructural();
  void AddText(Schema::Part part, std::string_view text);
  void AddNumber(Schema::Part part, std::uint64_t number);
  void AddMark(Schema::Part part, bool holds);
  void AddValue(const Value& value);
  template <class Number>
  void AddLimit(Schema::Part part, const std::optional<Number>& limit);

  std::size_t Size() const;
  void WriteFields(Schema& schema);
  void WriteSlots();
  // Write the words behind the slots.
  void WriteTexts(const std::vector<std::string>& texts);
  void WriteJunctors();
  void WriteValues();
  std::size_t JunctorCount() const;
  // The number of words behind the slots.
  std::size_t Words() const;
  Value Stored(const Value& value);
  static std::uint32_t PlaceOf(const SourceText& text);
  // Copies `text` to the end of what is written; returns its distance.
  std::uint32_t Write(std::string_view text);

  static std::size_t SlotCount(std::uint32_t mask) {
    return static_cast<std::size_t>(std::popcount(mask & (Schema::Bit(Schema::kFirstMark) - 1)));
  }
  // The memory that content alone decides: fields and slots, list map keys, texts.
  static std::array<std::string_view, 3> Comparable(const Schema& schema);

  const SchemaParts& parts_;
  Counted<SchemaSource> source_;
  Counted<Pattern> pattern_;
  std::unique_ptr<Arena> arena_;
  std::uint32_t mask_ = 0;
  Slots numbers_ = {};
  std::array<std::string_view, Schema::kFirstMark> texts_ = {};
  // Enum values, then the defaults of fields, then the schema's own, then the list of rules.
  std::vector<Value> values_;
  std::size_t text_bytes_ = 0;
  char* memory_ = nullptr;
  std::uint32_t slots_at_ = 0;
  std::uint32_t keys_at_ = 0;
  std::uint32_t written_ = 0;  // Where the next word behind the slots goes.
  std::uint32_t values_at_ = 0;
  std::uint32_t end_ = 0;  // End of the written part.
};

}  // namespace apiserver::inline v0::runtime
