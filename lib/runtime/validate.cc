#include "apiserver/runtime/validate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "runtime/custom_check.h"
#include "runtime/custom_findings.h"
#include "runtime/custom_lists.h"
#include "runtime/field_list.h"
#include "runtime/formats.h"
#include "runtime/patterns.h"
#include "runtime/plain_json.h"
#include "runtime/scalar.h"
#include "runtime/unknown_paths.h"
#include "runtime/value_kinds.h"
#include "runtime/walk.h"

namespace apiserver::v0::runtime {

namespace {

// A bound as Go prints it beside this value.
std::string Printed(double bound, const Value& value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (value.type() == Value::Type::kInt && std::trunc(bound) == bound &&
      std::fabs(bound) < kTwo63) {
    return std::to_string(static_cast<std::int64_t>(bound));
  }
  return DoubleText(bound);
}

// -1, 0, 1. An integer is compared as one where the bound is one too.
int CompareTo(const Value& value, double bound) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (value.type() == Value::Type::kInt && std::trunc(bound) == bound &&
      std::fabs(bound) < kTwo63) {
    const auto whole = static_cast<std::int64_t>(bound);
    return value.AsInt() < whole ? -1 : value.AsInt() > whole ? 1 : 0;
  }
  return value.AsDouble() < bound ? -1 : value.AsDouble() > bound ? 1 : 0;
}

// Follows MultipleOf of go-openapi, which forgives a relative error of 1e-9.
bool IsMultiple(const Value& value, double factor) {
  if (value.type() == Value::Type::kInt && std::trunc(factor) == factor && factor >= 1) {
    return value.AsInt() % static_cast<std::int64_t>(factor) == 0;
  }
  const double times = factor < 1 ? 1 / factor * value.AsDouble() : value.AsDouble() / factor;
  const double distance = std::fabs(times - std::round(times));
  return distance <= 1e-9 * std::max(1.0, std::fabs(times));
}

// The state that all values of one check share.
struct Whole {
  std::string_view begin;  // Prefix of each path, left out of messages. Empty: the whole object.
  bool duplicates;         // True: duplicate items in sets and list maps are errors.
  field::ErrorList& errors;
};

// The findings about one value of a Go type, whose types are right but for what the schema of a
// custom resource around it says. Messages are those of kube-openapi's validation, as
// apiextensions-apiserver hands them on.
class ValueCheck {
 public:
  ValueCheck(const Schema& schema, const Value& value, const Walk* walk, Whole& whole)
      : schema_(schema),
        limits_(schema.constraints()),
        value_(value),
        walk_(walk),
        whole_(whole),
        errors_(whole.errors) {}

  void Run() {
    // Go's nil, which decoding takes for any type.
    if (value_.is_null()) return;
    CheckType();
    if (IsText(value_)) CheckText();
    if (value_.is_number()) CheckNumber();
    if (value_.is_list()) CheckList();
    if (!limits_.enum_values().empty()) CheckEnum();
    if (value_.is_map()) CheckMap();
  }

 private:
  // Made only for findings: most values are right.
  std::string Walked() const { return walk_ != nullptr ? walk_->Path() : ""; }
  field::Path Where() const {
    std::string path = Walked();
    if (whole_.begin.empty()) return field::Path(std::move(path));
    const bool separate = !path.empty() && path.front() != '[';
    return field::Path(std::string(whole_.begin).append(separate ? "." : "").append(path));
  }
  std::string InBody(const std::string& rest) const { return Walked() + " in body " + rest; }
  void Invalid(const std::string& rest) {
    errors_.InvalidPrinted(Where(), PlainJson(value_), InBody(rest));
  }
  void WrongType(std::string_view wanted, std::string_view found) {
    errors_.TypeInvalid(
        Where(), field::Quote(found),
        InBody("must be of type " + std::string(wanted) + ": " + field::Quote(found)));
  }

  bool TypeFits(std::string_view wanted) const {
    const std::string_view found = CustomTypeOf(value_);
    if (found == wanted || value_.type() == Value::Type::kRaw) return true;
    if (wanted == "number") return found == "integer";
    if (wanted != "integer" || found != "number") return false;
    return std::trunc(value_.AsDouble()) == value_.AsDouble();
  }
  void CheckType() {
    if (schema_.type == SchemaType::kAny || schema_.type == SchemaType::kRaw) return;
    const std::string_view found = CustomTypeOf(value_);
    if (schema_.type == SchemaType::kIntOrString) {
      if (found != "string" && !TypeFits("integer")) WrongType("integer,string", found);
      return;
    }
    const std::string_view wanted = OpenApiType(schema_);
    if (TypeFits(wanted)) return CheckRange();
    // Go compares formats first, and names those, unless it looks at text, a list or null.
    const bool by_format =
        !limits_.format().empty() && !IsText(value_) && !value_.is_list() && !value_.is_null();
    if (!by_format) return WrongType(wanted, found);
    WrongType(limits_.format(), found == "integer" ? "int64" : found == "number" ? "float64" : "");
  }
  void CheckRange() {
    if (schema_.type != SchemaType::kInteger || limits_.format() != "int32") return;
    const double number = value_.AsDouble();
    const bool fits = number >= std::numeric_limits<std::int32_t>::min() &&
                      number <= std::numeric_limits<std::int32_t>::max();
    if (fits) return;
    // Go loses the path here.
    errors_.Invalid(field::Path(std::string(whole_.begin)), "",
                    "Checked value must be of type integer with format int32 in " + Walked());
  }

  void CheckText() {
    const std::string_view text = value_.AsString();
    // As Go, one finding at a time.
    if (limits_.max_length() && CodePoints(text) > *limits_.max_length()) {
      errors_.TooLong(Where(), *limits_.max_length());
    } else if (limits_.min_length() && CodePoints(text) < *limits_.min_length()) {
      Invalid("should be at least " + std::to_string(*limits_.min_length()) + " chars long");
    } else if (const Pattern* const pattern = limits_.compiled_pattern();
               pattern != nullptr && !pattern->Matches(text)) {
      Invalid("should match '" + pattern->text() + "'");
    }
    if (schema_.type == SchemaType::kString && !MatchesFormat(limits_.format(), text)) {
      WrongType(limits_.format(), text);
    }
  }

  void CheckNumber() {
    if (limits_.multiple_of() && *limits_.multiple_of() > 0 &&
        !IsMultiple(value_, *limits_.multiple_of())) {
      Invalid("should be a multiple of " + Printed(*limits_.multiple_of(), value_));
    }
    if (limits_.minimum()) {
      const int order = CompareTo(value_, *limits_.minimum());
      if (order < 0 || (order == 0 && limits_.exclusive_minimum())) {
        Invalid((limits_.exclusive_minimum() ? "should be greater than "
                                             : "should be greater than or equal to ") +
                Printed(*limits_.minimum(), value_));
      }
    }
    if (!limits_.maximum()) return;
    const int order = CompareTo(value_, *limits_.maximum());
    if (order > 0 || (order == 0 && limits_.exclusive_maximum())) {
      Invalid((limits_.exclusive_maximum() ? "should be less than "
                                           : "should be less than or equal to ") +
              Printed(*limits_.maximum(), value_));
    }
  }

  void CheckList() {
    const auto size = static_cast<std::int64_t>(value_.size());
    if (limits_.min_items() && size < *limits_.min_items()) {
      errors_.InvalidPrinted(
          Where(), std::to_string(size),
          InBody("should have at least " + std::to_string(*limits_.min_items()) + " items"));
    }
    if (limits_.max_items() && size > *limits_.max_items()) {
      errors_.TooMany(Where(), value_.size(), static_cast<std::size_t>(*limits_.max_items()));
    }
    if (limits_.unique_items() && !Repeated(value_.items()).empty()) {
      errors_.Invalid(Where(), "", InBody("shouldn't contain duplicates"));
    }
    if (!whole_.duplicates) return;
    if (schema_.list_type == Schema::ListType::kSet) CheckSet();
    if (schema_.list_type == Schema::ListType::kMap) CheckListMap();
  }

  // The index of each value's second appearance.
  template <class Items>
  static std::vector<std::size_t> Repeated(const Items& items) {
    std::unordered_map<std::string, int> counts;
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (++counts[PlainJson(items[i])] == 2) repeated.push_back(i);
    }
    return repeated;
  }
  void CheckSet() {
    for (const std::size_t i : Repeated(value_.items())) {
      if (errors_.full()) break;
      errors_.Add({field::Error::Type::kDuplicate, Where().Index(i).text(),
                   PlainJson(value_.items()[i]), ""});
    }
  }
  void CheckListMap() {
    Arena arena;
    std::vector<std::string_view> sorted = schema_.list_map_keys();
    std::sort(sorted.begin(), sorted.end());
    std::vector<Value> keys;
    for (const Value& item : value_.items()) {
      MapBuilder key(arena);
      for (const std::string_view name : sorted) {
        if (const Value* const value = item.Find(name)) key.Add(name, *value);
      }
      keys.push_back(key.Build());
    }
    for (const std::size_t i : Repeated(keys)) {
      if (errors_.full()) break;
      errors_.Add(
          {field::Error::Type::kDuplicate, Where().Index(i).text(), PlainJson(keys[i]), ""});
    }
  }

  void CheckEnum() {
    std::vector<std::string> supported;
    for (const Value& candidate : limits_.enum_values()) {
      // In JSON, 1 and 1.0 are the same number.
      const bool equal = candidate.is_number() && value_.is_number()
                             ? candidate.AsDouble() == value_.AsDouble()
                             : candidate == value_;
      if (equal) return;
      supported.push_back(candidate.is_string() ? std::string(candidate.AsString())
                                                : PlainJson(candidate));
    }
    errors_.NotSupportedPrinted(Where(), PlainJson(value_), supported);
  }

  void CheckMap() {
    const auto size = static_cast<std::int64_t>(value_.size());
    if (limits_.min_properties() && size < *limits_.min_properties()) {
      errors_.InvalidPrinted(Where(), std::to_string(size),
                             InBody("should have at least " +
                                    std::to_string(*limits_.min_properties()) + " properties"));
    }
    if (limits_.max_properties() && size > *limits_.max_properties()) {
      errors_.TooMany(Where(), value_.size(), static_cast<std::size_t>(*limits_.max_properties()));
    }
    if (schema_.type != SchemaType::kStruct) return;
    const FieldList fields(schema_);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      if (field.required && value_.Find(field.name()) == nullptr) {
        errors_.Required(Where().Child(field.name()));
      }
    }
  }

  const Schema& schema_;
  const ConstraintsView limits_;
  const Value& value_;
  const Walk* walk_;  // Null at the root.
  Whole& whole_;
  field::ErrorList& errors_;
};

void CheckTree(const Schema& top, const Value& root, Whole& whole) {
  ValueCheck(top, root, nullptr, whole).Run();
  Walk walk;
  walk.Run(top, root,
           [&](const Schema& parent, std::string_view key, const Value& child) -> const Schema* {
             if (whole.errors.full()) return nullptr;
             // Metadata is checked by rules of its own.
             if (whole.begin.empty() && walk.frames().size() == 1 && key == "metadata") {
               return nullptr;
             }
             bool known = false;
             const Schema* const schema = MemberSchema(parent, key, known);
             if (schema == nullptr) return nullptr;
             // A struct's types are right, so most of it need not be looked at.
             if (!schema->limits_values) return nullptr;
             ValueCheck(*schema, child, &walk, whole).Run();
             return schema;
           });
}

const Schema* SchemaOf(const Object& object) {
  const KindVersion* const version = object.kind().FindVersion(object.version());
  return version == nullptr ? nullptr : version->schema.get();
}

bool IsCustom(const Object& object) {
  return object.kind().semantics() == Semantics::kCustomResource;
}

// Validates a custom object, in the place of `old` if that is not null. Sets and list maps are
// checked everywhere, whatever the part is.
field::ErrorList CheckCustom(const Object& object, const Object* old, SchemaPart part) {
  field::ErrorList errors;
  const Schema* const schema = SchemaOf(object);
  if (part == SchemaPart::kNone || schema == nullptr) return errors;
  constexpr std::string_view kStatus = "status";
  const Value root = object.root();
  const Value before = old == nullptr ? Value() : old->root();
  if (part == SchemaPart::kObject) {
    CustomCheck().Run({schema, root, old == nullptr ? nullptr : &before, true}, errors);
  } else {
    const Value* const status = root.Find(kStatus);
    const Field* const field = schema->FindField(kStatus);
    const Value* const replaced = before.Find(kStatus);
    if (status != nullptr && field != nullptr) {
      CustomCheck().Run({field->schema.get(), *status, replaced, false, kStatus}, errors);
    }
  }
  field::ErrorList duplicates;
  if (old != nullptr) CheckCustomLists(*schema, before, duplicates);
  // An object may keep its duplicates, and then have others as well.
  if (duplicates.empty()) CheckCustomLists(*schema, root, errors);
  return errors;
}

field::ErrorList Check(const Object& object, SchemaPart part, bool duplicates) {
  if (IsCustom(object)) return CheckCustom(object, nullptr, part);
  field::ErrorList errors;
  const KindVersion* const version = object.kind().FindVersion(object.version());
  if (part == SchemaPart::kNone || version == nullptr || version->schema == nullptr) return errors;
  Whole whole{"", duplicates, errors};
  if (part == SchemaPart::kObject) {
    CheckTree(*version->schema, object.root(), whole);
    return errors;
  }
  whole.begin = "status";
  const Value* const status = object.root().Find(whole.begin);
  const Field* const field = version->schema->FindField(whole.begin);
  if (status != nullptr && field != nullptr) CheckTree(*field->schema, *status, whole);
  return errors;
}

bool HasDuplicates(const field::ErrorList& errors) {
  return std::any_of(errors.begin(), errors.end(), [](const field::Error& error) {
    return error.type == field::Error::Type::kDuplicate;
  });
}

}  // namespace

field::ErrorList ValidateSchema(const Object& object) {
  return Check(object, SchemaPart::kObject, true);
}

field::ErrorList ValidateSchemaPart(const Object& object, SchemaPart part) {
  return Check(object, part, true);
}

field::ErrorList ValidateSchemaPart(const Object& object, const Object& old, SchemaPart part) {
  if (IsCustom(object)) return CheckCustom(object, &old, part);
  field::ErrorList errors = Check(object, part, true);
  if (!HasDuplicates(errors) || !HasDuplicates(Check(old, part, true))) return errors;
  // Once more instead of leaving some out: a list of errors has an end.
  return Check(object, part, false);
}

}  // namespace apiserver::v0::runtime
