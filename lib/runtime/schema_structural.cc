#include "apiserver/runtime/schema_node.h"

// The parts of a schema that only structural schemas of CustomResourceDefinitions have.
namespace apiserver::v0::runtime {

std::size_t Schema::WordsBehindSlots() const {
  std::size_t words = 0;
  for (const Part part : {kListMapKeys, kRequired, kJunctors}) {
    const std::uint64_t* const slot = Slot(part);
    words += slot == nullptr ? 0 : *slot >> 32U;
  }
  return words;
}

std::vector<std::string_view> Schema::Texts(Part part) const {
  std::vector<std::string_view> found;
  const std::uint64_t* const slot = Slot(part);
  if (slot == nullptr) return found;
  const auto* const texts =
      reinterpret_cast<const std::uint64_t*>(Here() + static_cast<std::uint32_t>(*slot));
  for (std::size_t i = 0; i < *slot >> 32U; ++i) {
    found.push_back(
        TextAt(static_cast<std::uint32_t>(texts[i]), static_cast<std::uint32_t>(texts[i] >> 32U)));
  }
  return found;
}

std::vector<std::string_view> Schema::required_names() const { return Texts(kRequired); }

const Value* Schema::default_value() const {
  const std::uint64_t* const slot = Slot(kDefault);
  if (slot == nullptr) return nullptr;
  return reinterpret_cast<const Value*>(Here() + static_cast<std::uint32_t>(*slot));
}

std::span<const SchemaPtr> Schema::Junctors() const {
  const std::uint64_t* const slot = Slot(kJunctors);
  if (slot == nullptr) return {};
  const auto* const sizes =
      reinterpret_cast<const std::uint64_t*>(Here() + static_cast<std::uint32_t>(*slot));
  return {reinterpret_cast<const SchemaPtr*>(sizes + 1), (*slot >> 32U) - 1};
}

std::span<const SchemaPtr> Schema::Junctor(std::uint32_t which) const {
  const std::span<const SchemaPtr> all = Junctors();
  if (all.empty()) return {};
  const std::uint64_t sizes = *(reinterpret_cast<const std::uint64_t*>(all.data()) - 1);
  const auto size = [sizes](std::uint32_t i) {
    return sizes >> (i * kJunctorBits) & ((std::uint64_t{1} << kJunctorBits) - 1);
  };
  std::size_t begin = 0;
  for (std::uint32_t i = 0; i < which; ++i) begin += size(i);
  return all.subspan(begin, size(which));
}

const SchemaPtr& Schema::not_of() const {
  const std::span<const SchemaPtr> found = Junctor(3);
  return found.empty() ? kNone : found.front();
}

}  // namespace apiserver::v0::runtime
