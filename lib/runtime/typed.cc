#include "apiserver/runtime/typed.h"

#include <limits>

#include "text/base64.h"

namespace apiserver::v0::runtime::typed {
namespace {

std::string_view NameOf(Value::Type type) {
  switch (type) {
    case Value::Type::kNull:
      return "null";
    case Value::Type::kBool:
      return "a boolean";
    case Value::Type::kInt:
    case Value::Type::kDouble:
      return "a number";
    case Value::Type::kString:
      return "a text";
    case Value::Type::kList:
      return "a list";
    case Value::Type::kMap:
      return "an object";
    case Value::Type::kRaw:
    case Value::Type::kBytes:
      break;
  }
  return "bytes";
}

bool Not(std::string_view expected, Value from, Mismatch& mismatch) {
  mismatch.problem = "is " + std::string(NameOf(from.type())) + ", not " + std::string(expected);
  return false;
}

// A text that has to be parsed further.
template <class T>
bool Take(Result<T> parsed, T& to, Mismatch& mismatch) {
  if (!parsed.ok()) {
    mismatch.problem = "cannot be read: " + std::string(parsed.status().message());
    return false;
  }
  to = std::move(parsed).value();
  return true;
}

template <class Int>
bool ReadInt(Value from, Int& to, Mismatch& mismatch) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  const std::int64_t number = from.AsInt(kNone);
  // A fallback is told from the same number by asking with another one.
  if (!from.is_number() || (number == kNone && from.AsInt(0) == 0)) {
    return Not("an integer", from, mismatch);
  }
  if (number < std::numeric_limits<Int>::min() || number > std::numeric_limits<Int>::max()) {
    mismatch.problem = "is too large for its type: " + std::to_string(number);
    return false;
  }
  to = static_cast<Int>(number);
  return true;
}

Value TextOf(std::string_view text, Arena& arena) { return Value::String(arena.Copy(text)); }

}  // namespace

bool Mismatch::In(std::string_view outer) {
  const bool joined = path.empty() || path.front() == '[';
  path = std::string(outer) + (joined ? "" : ".") + path;
  return false;
}

Status Mismatch::ToStatus(std::string_view what) const {
  const std::string where = path.empty() ? std::string(what) : std::string(what) + " " + path;
  return {Reason::kInvalid, where + " " + problem};
}

bool NotA(const char* container, Value from, Mismatch& mismatch) {
  return Not(container, from, mismatch);
}

bool IsMissing(std::string_view name, Mismatch& mismatch) {
  mismatch.problem = "is required, but absent";
  return mismatch.In(name);
}

template <>
bool Form<bool>::Read(Value from, bool& to, Mismatch& mismatch) {
  if (from.type() != Value::Type::kBool) return Not("a boolean", from, mismatch);
  to = from.AsBool();
  return true;
}
template <>
Value Form<bool>::Write(const bool& from, Value, Arena&, FieldOptions) {
  return Value::Bool(from);
}

template <>
bool Form<std::int32_t>::Read(Value from, std::int32_t& to, Mismatch& mismatch) {
  return ReadInt(from, to, mismatch);
}
template <>
Value Form<std::int32_t>::Write(const std::int32_t& from, Value, Arena&, FieldOptions) {
  return Value::Int(from);
}

template <>
bool Form<std::int64_t>::Read(Value from, std::int64_t& to, Mismatch& mismatch) {
  return ReadInt(from, to, mismatch);
}
template <>
Value Form<std::int64_t>::Write(const std::int64_t& from, Value, Arena&, FieldOptions) {
  return Value::Int(from);
}

template <>
bool Form<double>::Read(Value from, double& to, Mismatch& mismatch) {
  if (!from.is_number()) return Not("a number", from, mismatch);
  to = from.AsDouble();
  return true;
}
template <>
Value Form<double>::Write(const double& from, Value, Arena&, FieldOptions) {
  return Value::Double(from);
}

template <>
bool Form<std::string>::Read(Value from, std::string& to, Mismatch& mismatch) {
  if (!from.is_string()) return Not("a text", from, mismatch);
  to = from.AsString();
  return true;
}
template <>
Value Form<std::string>::Write(const std::string& from, Value, Arena& arena, FieldOptions) {
  return TextOf(from, arena);
}

template <>
bool Form<Bytes>::Read(Value from, Bytes& to, Mismatch& mismatch) {
  if (from.type() == Value::Type::kBytes) {
    to.bytes = from.AsString();
    return true;
  }
  if (!from.is_string()) return Not("bytes", from, mismatch);
  auto bytes = text::DecodeBase64(from.AsString());
  if (!bytes) {
    mismatch.problem = "is no base64";
    return false;
  }
  to.bytes = std::move(*bytes);
  return true;
}
template <>
Value Form<Bytes>::Write(const Bytes& from, Value, Arena& arena, FieldOptions) {
  return Value::Bytes(arena.Copy(from.bytes));
}

template <>
bool Form<UnixTime>::Read(Value from, UnixTime& to, Mismatch& mismatch) {
  if (!from.is_string()) return Not("a time", from, mismatch);
  return Take(ParseTime(from.AsString()), to, mismatch);
}
template <>
Value Form<UnixTime>::Write(const UnixTime& from, Value, Arena& arena, FieldOptions) {
  return TextOf(FormatTime(from), arena);
}

template <>
bool Form<MicroTime>::Read(Value from, MicroTime& to, Mismatch& mismatch) {
  if (!from.is_string()) return Not("a time", from, mismatch);
  return Take(ParseMicroTime(from.AsString()), to.time, mismatch);
}
template <>
Value Form<MicroTime>::Write(const MicroTime& from, Value, Arena& arena, FieldOptions) {
  return TextOf(FormatMicroTime(from.time), arena);
}

template <>
bool Form<std::chrono::nanoseconds>::Read(Value from, std::chrono::nanoseconds& to,
                                          Mismatch& mismatch) {
  if (!from.is_string()) return Not("a duration", from, mismatch);
  return Take(ParseDuration(from.AsString()), to, mismatch);
}
template <>
Value Form<std::chrono::nanoseconds>::Write(const std::chrono::nanoseconds& from, Value,
                                            Arena& arena, FieldOptions) {
  return TextOf(FormatDuration(from), arena);
}

template <>
bool Form<Quantity>::Read(Value from, Quantity& to, Mismatch& mismatch) {
  if (from.type() == Value::Type::kInt) {
    to = Quantity(from.AsInt());
    return true;
  }
  if (!from.is_string()) return Not("a quantity", from, mismatch);
  return Take(Quantity::Parse(from.AsString()), to, mismatch);
}
template <>
Value Form<Quantity>::Write(const Quantity& from, Value, Arena& arena, FieldOptions) {
  return TextOf(from.ToString(), arena);
}

template <>
bool Form<IntOrString>::Read(Value from, IntOrString& to, Mismatch& mismatch) {
  if (from.is_string()) {
    to = std::string(from.AsString());
    return true;
  }
  std::int64_t number = 0;
  if (!ReadInt(from, number, mismatch)) return Not("an integer or a text", from, mismatch);
  to = number;
  return true;
}
template <>
Value Form<IntOrString>::Write(const IntOrString& from, Value, Arena& arena, FieldOptions) {
  if (const auto* number = std::get_if<std::int64_t>(&from)) return Value::Int(*number);
  return TextOf(std::get<std::string>(from), arena);
}

template <>
bool Form<Any>::Read(Value from, Any& to, Mismatch&) {
  to.value = OwnedValue(from);
  return true;
}
template <>
Value Form<Any>::Write(const Any& from, Value, Arena& arena, FieldOptions) {
  return Copy(from.value.get(), arena);
}

MemberWriter::MemberWriter(Value before, Arena& arena)
    : arena_(arena), members_(before.members().begin(), before.members().end()) {}

Value MemberWriter::Before(std::string_view name) const {
  const auto found = std::ranges::find(members_, name, &Member::key);
  return found == members_.end() ? Value() : found->value;
}

void MemberWriter::Set(std::string_view name, Value value) {
  const auto found = std::ranges::find(members_, name, &Member::key);
  if (value.is_null()) {
    if (found != members_.end()) members_.erase(found);
  } else if (found != members_.end()) {
    found->value = value;
  } else {
    members_.push_back({arena_.Copy(name), value});
  }
}

Value MemberWriter::Build() {
  MapBuilder map(arena_, members_.size());
  for (const Member& member : members_) map.Add(member.key, member.value);
  return map.Build();
}

Status CheckKind(const Object& object, std::string_view group, std::string_view version,
                 std::string_view kind) {
  const Kind& is = object.kind();
  if (is.group() == group && is.kind() == kind && object.version() == version) {
    return object.load_status();
  }
  const GroupVersionKind wanted{std::string(group), std::string(version), std::string(kind)};
  return {Reason::kInvalid,
          "the object is a " + object.gvk().ToString() + ", not a " + wanted.ToString()};
}

Status CheckVersion(const Kind& kind, std::string_view version) {
  if (kind.FindVersion(version) != nullptr) return {};
  return {Reason::kInvalid, "the kind " + kind.kind() + " has no version " + std::string(version)};
}

}  // namespace apiserver::v0::runtime::typed
