#include "cel/estimate/sizes.h"

#include <algorithm>

#include "apiserver/cel/names.h"
#include "apiserver/runtime/schema.h"
#include "cel/environment_state.h"

namespace apiserver::inline v0::cel::estimate {
namespace {

using runtime::Schema;
using runtime::SchemaType;

// Bytes of JSON texts with their quotation marks: k8s.io/apiserver/pkg/cel/limits.go.
constexpr std::int64_t kMinTextBytes = 2;
constexpr std::int64_t kMinDurationBytes = 3;
constexpr std::int64_t kDateBytes = 12;
constexpr std::int64_t kMinDateTimeBytes = 21;
constexpr std::int64_t kMaxDateTimeBytes = 32;
constexpr std::int64_t kMaxDurationBytes = 32;
constexpr std::int64_t kMinBoolBytes = 4;
constexpr std::int64_t kMinNumberBytes = 1;
constexpr std::int64_t kEmptyContainerBytes = 2;
// A comma for each item; a key of one character with its marks, a colon and a comma for each entry.
constexpr std::int64_t kItemBytes = 1;
constexpr std::int64_t kEntryBytes = 6;
constexpr std::int64_t kFieldBytes = 4;
// UTF-8 needs at most so many bytes for a code point of maxLength.
constexpr std::int64_t kBytesPerCodePoint = 4;

enum class TextFormat : std::uint8_t { kPlain, kBytes, kDuration, kDate, kDateTime };

TextFormat FormatOf(const Schema& schema) {
  if (schema.type == SchemaType::kBytes) return TextFormat::kBytes;
  if (schema.type == SchemaType::kTime || schema.type == SchemaType::kMicroTime) {
    return TextFormat::kDateTime;
  }
  if (schema.type != SchemaType::kString) return TextFormat::kPlain;
  const std::string_view format = schema.constraints().format();
  if (format == "byte") return TextFormat::kBytes;
  if (format == "duration") return TextFormat::kDuration;
  if (format == "date") return TextFormat::kDate;
  if (format == "date-time") return TextFormat::kDateTime;
  return TextFormat::kPlain;
}

std::uint64_t NotNegative(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

std::uint64_t LongestEnumValue(std::span<const runtime::Value> values) {
  std::uint64_t longest = 0;
  for (const runtime::Value& value : values) {
    if (value.is_string()) longest = std::max<std::uint64_t>(longest, value.size());
  }
  return longest;
}

std::uint64_t MaxTextSize(const Schema& schema) {
  const std::optional<std::int64_t> max_length = schema.constraints().max_length();
  constexpr auto kLongest = static_cast<std::uint64_t>(kRequestBytes - kMinTextBytes);
  switch (FormatOf(schema)) {
    case TextFormat::kBytes:
      return max_length ? NotNegative(*max_length) : kLongest;
    case TextFormat::kDuration:
      return kMaxDurationBytes;
    case TextFormat::kDate:
      return kDateBytes;
    case TextFormat::kDateTime:
      return kMaxDateTimeBytes;
    case TextFormat::kPlain:
      break;
  }
  if (max_length) return NotNegative(*max_length) * kBytesPerCodePoint;
  const std::span<const runtime::Value> values = schema.constraints().enum_values();
  if (schema.type != SchemaType::kIntOrString && !values.empty()) return LongestEnumValue(values);
  return kLongest;
}

std::int64_t MinTextBytes(const Schema& schema) {
  switch (FormatOf(schema)) {
    case TextFormat::kDuration:
      return kMinDurationBytes;
    case TextFormat::kDate:
      return kDateBytes;
    case TextFormat::kDateTime:
      return kMinDateTimeBytes;
    case TextFormat::kPlain:
    case TextFormat::kBytes:
      break;
  }
  return kMinTextBytes;
}

// An object whose additional properties may be anything: expressions see no member of it.
bool IsFreeForm(const Schema& schema) {
  return schema.type == SchemaType::kMap && schema.items() == runtime::AnySchema();
}

// Finds a field by the name that expressions spell. Null: the schema has none.
const Schema* FieldByEscapedName(const Schema& schema, std::string_view name) {
  if (schema.type != SchemaType::kStruct) return nullptr;
  const std::optional<std::string> property = Unescape(name);
  if (!property || Escape(*property) != name) return nullptr;
  const runtime::Field* const field = schema.FindField(*property);
  return field == nullptr ? nullptr : field->schema.get();
}

}  // namespace

Path::Path(std::string_view variable)
    : memory_(std::make_shared<std::vector<std::string_view>>(1, variable)), size_(1) {}

std::span<const std::string_view> Path::steps() const {
  if (memory_ == nullptr) return {};
  return {memory_->data(), size_};
}

Path Path::Append(std::string_view step) const {
  Path longer = *this;
  if (memory_ == nullptr || size_ == memory_->size()) {
    longer.memory_ =
        std::make_shared<std::vector<std::string_view>>(steps().begin(), steps().end());
    longer.memory_->resize(size_ == 0 ? 1 : 2 * size_);
  }
  (*longer.memory_)[longer.size_++] = step;
  return longer;
}

Path Path::AppendToCopy(std::string_view step) const {
  Path copy;
  copy.memory_ = std::make_shared<std::vector<std::string_view>>(steps().begin(), steps().end());
  copy.memory_->push_back(step);
  copy.size_ = size_ + 1;
  return copy;
}

const Schema* DeclaredSizes::RootOf(std::string_view name) const {
  for (const std::string_view variable : {name, std::string_view("self")}) {
    const std::optional<std::uint32_t> index = environment_.state().FindVariable(variable);
    if (!index) continue;
    if (const Schema* const schema = environment_.variable(*index).schema.get()) return schema;
  }
  return nullptr;
}

std::optional<std::uint64_t> DeclaredSizes::MaxSize(const Path& path, const Type&) {
  if (path.empty()) return std::nullopt;
  const Schema* schema = RootOf(path.steps().front());
  bool is_key = false;  // The keys of maps are strings that no schema bounds.
  for (const std::string_view step : path.steps().subspan(1)) {
    if (schema == nullptr || is_key) return std::nullopt;
    const bool has_items = schema->items() != nullptr && !IsFreeForm(*schema);
    if (step == "@items" || step == "@values") {
      schema = has_items ? schema->items().get() : nullptr;
    } else if (step == "@keys") {
      is_key = has_items && schema->type == SchemaType::kMap;
      if (!is_key) return std::nullopt;
    } else {
      schema = FieldByEscapedName(*schema, step);
    }
  }
  if (is_key) return 0;
  if (schema == nullptr || !IsVisible(*schema)) return std::nullopt;
  return MaxSizeOf(*schema);
}

bool DeclaredSizes::IsVisible(const Schema& schema) {
  const Schema* node = &schema;
  while ((node->type == SchemaType::kList || node->type == SchemaType::kMap) &&
         !IsFreeForm(*node)) {
    node = node->items().get();
  }
  return node->type != SchemaType::kAny && node->type != SchemaType::kRaw;
}

std::uint64_t DeclaredSizes::MaxSizeOf(const Schema& schema) {
  const runtime::ConstraintsView limits = schema.constraints();
  switch (schema.type) {
    case SchemaType::kList:
      if (limits.max_items()) return NotNegative(*limits.max_items());
      return NotNegative((kRequestBytes - kEmptyContainerBytes) /
                         (MinJsonSize(*schema.items()) + kItemBytes));
    case SchemaType::kMap:
      if (IsFreeForm(schema)) return 0;
      if (limits.max_properties()) return NotNegative(*limits.max_properties());
      return NotNegative((kRequestBytes - kEmptyContainerBytes) /
                         (MinJsonSize(*schema.items()) + kEntryBytes));
    case SchemaType::kString:
    case SchemaType::kBytes:
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
    case SchemaType::kDuration:
    case SchemaType::kQuantity:
    case SchemaType::kIntOrString:
      return MaxTextSize(schema);
    default:
      return 0;
  }
}

std::int64_t DeclaredSizes::MinJsonSize(const Schema& schema) {
  const auto known = min_json_sizes_.find(&schema);
  if (known != min_json_sizes_.end()) return known->second;
  const std::int64_t size = MinJsonSizeOf(schema);
  min_json_sizes_.emplace(&schema, size);
  return size;
}

// Recurses through required fields only, whose depth the schema loader bounds.
std::int64_t DeclaredSizes::MinJsonSizeOf(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kBoolean:
      return kMinBoolBytes;
    case SchemaType::kInteger:
    case SchemaType::kNumber:
    case SchemaType::kIntOrString:
      return kMinNumberBytes;
    case SchemaType::kStruct:
      break;
    case SchemaType::kList:
    case SchemaType::kMap:
      return kEmptyContainerBytes;
    default:
      return MinTextBytes(schema);
  }
  std::int64_t size = kEmptyContainerBytes;
  for (const runtime::Field& field : schema.fields()) {
    if (!field.required || field.default_value() != nullptr || !IsVisible(*field.schema)) continue;
    size +=
        static_cast<std::int64_t>(field.name().size()) + MinJsonSize(*field.schema) + kFieldBytes;
  }
  return size;
}

}  // namespace apiserver::inline v0::cel::estimate
