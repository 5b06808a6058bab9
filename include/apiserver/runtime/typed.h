#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/quantity.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/time.h"
#include "apiserver/runtime/value.h"

// Objects as plain C++ structs, which the program apiserver-gen writes from a kind's schema:
//
//   APISERVER_ASSIGN_OR_RETURN(zoo::Pet pet, runtime::FromObject<zoo::Pet>(object));
//   pet.spec.replicas = 3;
//   runtime::ToObject(pet, object);
//
// A struct copies what it is read from: it is for controllers, strategies and tests, where a
// misspelt field should not compile. Members of the object that the struct does not have, as of a
// newer version, stay as they are when it is written back. Any thread; nothing here blocks.
namespace apiserver::inline v0::runtime::typed {

// JSON's base64 text, or the bytes of a field of that type.
struct Bytes {
  std::string bytes;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

// A time that JSON writes with microseconds: meta/v1 MicroTime.
struct MicroTime {
  UnixTime time;
  // True for Go's zero time, which is left out.
  bool IsAbsent() const { return time.is_zero(); }
  friend bool operator==(const MicroTime&, const MicroTime&) = default;
};

// A number or a text: util/intstr.
using IntOrString = std::variant<std::int64_t, std::string>;

// Any JSON value, with the memory that it lives in.
struct Any {
  OwnedValue value;
  // True for null, which is left out.
  bool IsAbsent() const { return value.get().is_null(); }
  friend bool operator==(const Any& a, const Any& b) { return a.value.get() == b.value.get(); }
};

// The way a struct's ForEachField() describes a field besides name and member.
struct FieldOptions {
  // Has to be there when the struct is read, and is written even if it is an empty list or map.
  bool required = false;
  // The members that tell the items of a list apart: an item that is written keeps what the
  // object's item with the same keys has beside the struct's fields.
  std::initializer_list<std::string_view> keys = {};
};

// The way to read a required member that is absent, as from an object that was stored before the
// member was required, or from a part of an object.
enum class Missing : std::uint8_t {
  kRefused,  // An error with the member's path.
  kZero,     // It reads as the C++ type's zero.
};

// The first value that is not of its field's type, or not there.
struct Mismatch {
  std::string path = "";                // "spec.replicas".
  std::string problem = "";             // "is a text, not an integer".
  Missing missing = Missing::kRefused;  // Set by the reader.

  // Puts a member or an index in front of the path. Returns false.
  bool In(std::string_view outer);
  // Returns the error of reading `what`.
  Status ToStatus(std::string_view what) const;
};

// The JSON form of T: Read() returns false for a value of another type; Write() makes the value in
// `arena`, and takes over from `before` what T does not know; Absent() tells if it is left out.
// This one is that of structs with a ForEachField().
template <class T>
struct Form;

// The types whose forms are no templates: typed.cc has them.
template <class T>
concept Scalar = std::same_as<T, bool> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, double> || std::same_as<T, std::string> ||
    std::same_as<T, Bytes> || std::same_as<T, UnixTime> || std::same_as<T, MicroTime> ||
    std::same_as<T, std::chrono::nanoseconds> || std::same_as<T, Quantity> ||
    std::same_as<T, IntOrString> || std::same_as<T, Any>;

// The forms of scalars.
template <Scalar T>
struct Form<T> {
  // Reads it.
  static bool Read(Value from, T& to, Mismatch& mismatch);
  // Writes it.
  static Value Write(const T& from, Value before, Arena& arena, FieldOptions options);
  // Tells if it is left out: a zero time and null are.
  static bool Absent(const T& value) {
    if constexpr (std::same_as<T, UnixTime>) {
      return value.is_zero();
    } else if constexpr (requires { value.IsAbsent(); }) {
      return value.IsAbsent();
    } else {
      return false;
    }
  }
};

// Says in `mismatch` that a container is expected. Returns false.
bool NotA(const char* container, Value from, Mismatch& mismatch);
// Says in `mismatch` that a required member is absent. Returns false.
bool IsMissing(std::string_view name, Mismatch& mismatch);

// Tells if `value` is read as what `as` is.
template <class T>
bool Says(Value value, const T& as) {
  T read{};
  Mismatch mismatch{.missing = Missing::kZero};
  return !value.is_null() && Form<T>::Read(value, read, mismatch) && read == as;
}

// Writes `from` unless `before` says the same already, and then returns that.
template <class T>
Value WriteOver(const T& from, Value before, Arena& arena, FieldOptions options) {
  return Says(before, from) ? before : Form<T>::Write(from, before, arena, options);
}

// A value, or none: null and an absent member.
template <class T>
struct Form<std::optional<T>> {
  // Reads it.
  static bool Read(Value from, std::optional<T>& to, Mismatch& mismatch) {
    to.reset();
    return from.is_null() || Form<T>::Read(from, to.emplace(), mismatch);
  }
  // Writes it.
  static Value Write(const std::optional<T>& from, Value before, Arena& arena,
                     FieldOptions options) {
    return from ? Form<T>::Write(*from, before, arena, options) : Value();
  }
  // Tells if it is left out.
  static bool Absent(const std::optional<T>& value) { return !value; }
};

// A list; an empty one is an absent member.
template <class T>
struct Form<std::vector<T>> {
  // Reads it.
  static bool Read(Value from, std::vector<T>& to, Mismatch& mismatch) {
    to.clear();
    if (!from.is_list() && !from.is_null()) return NotA("a list", from, mismatch);
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      // By a value of its own: a vector of bools has no elements to refer to.
      T item{};
      if (!Form<T>::Read(from.items()[i], item, mismatch)) {
        return mismatch.In("[" + std::to_string(i) + "]");
      }
      to[i] = std::move(item);
    }
    return true;
  }
  // Writes it.
  static Value Write(const std::vector<T>& from, Value before, Arena& arena, FieldOptions options) {
    ListBuilder list(arena);
    for (std::size_t i = 0; i < from.size(); ++i) {
      // An item without keys takes nothing over from another one that has its place.
      Value old = before.at(i);
      if (options.keys.size() > 0) {
        old = Find(before, Form<T>::Write(from[i], {}, arena, {}), options);
      } else if (!Says<T>(old, from[i])) {
        old = {};
      }
      list.Add(WriteOver<T>(from[i], old, arena, {}));
    }
    return list.Build();
  }
  // Tells if it is left out.
  static bool Absent(const std::vector<T>& list) { return list.empty(); }

 private:
  // Returns the item of `list` with the keys of `item`. Null: there is none.
  static Value Find(Value list, Value item, FieldOptions options) {
    for (const Value& other : list.items()) {
      const auto same = [&](std::string_view key) { return other[key] == item[key]; };
      if (std::ranges::all_of(options.keys, same)) return other;
    }
    return {};
  }
};

// A map; an empty one is an absent member.
template <class T>
struct Form<std::map<std::string, T>> {
  // Reads it.
  static bool Read(Value from, std::map<std::string, T>& to, Mismatch& mismatch) {
    to.clear();
    if (!from.is_map() && !from.is_null()) return NotA("a map", from, mismatch);
    for (const Member& member : from.members()) {
      if (!Form<T>::Read(member.value, to[std::string(member.key)], mismatch)) {
        return mismatch.In("[" + std::string(member.key) + "]");
      }
    }
    return true;
  }
  // Writes it.
  static Value Write(const std::map<std::string, T>& from, Value before, Arena& arena,
                     FieldOptions /*options*/) {
    MapBuilder map(arena, from.size());
    for (const auto& [key, value] : from) {
      map.Add(arena.Copy(key), WriteOver(value, before[key], arena, {}));
    }
    return map.Build();
  }
  // Tells if it is left out.
  static bool Absent(const std::map<std::string, T>& map) { return map.empty(); }
};

// Sets members of a map in their places, and appends those that it does not have.
class MemberWriter {
 public:
  // Begins with the members of `before`.
  MemberWriter(Value before, Arena& arena);
  // Returns a member as it is now. Null: there is none.
  Value Before(std::string_view name) const;
  // A null value removes the member.
  void Set(std::string_view name, Value value);
  // Returns the map.
  Value Build();

 private:
  Arena& arena_;
  std::vector<Member> members_;
};

// A struct: an object that may have further members.
template <class T>
struct Form {
  // Reads it.
  static bool Read(Value from, T& to, Mismatch& mismatch) {
    to = T{};
    if (!from.is_map() && !from.is_null()) return NotA("an object", from, mismatch);
    bool read = true;
    T::ForEachField([&]<class M>(std::string_view name, M T::*member, FieldOptions options = {}) {
      if (!read) return;
      const Value* const value = from.Find(name);
      if (value == nullptr && options.required && mismatch.missing == Missing::kRefused) {
        read = IsMissing(name, mismatch);
      } else if (value != nullptr && !value->is_null()) {
        read = Form<M>::Read(*value, to.*member, mismatch) || mismatch.In(name);
      }
    });
    return read;
  }
  // Writes it.
  static Value Write(const T& from, Value before, Arena& arena, FieldOptions /*options*/) {
    MemberWriter writer(before, arena);
    T::ForEachField([&]<class M>(std::string_view name, M T::*member, FieldOptions options = {}) {
      const M& value = from.*member;
      const Value old = writer.Before(name);
      // A zero time and null are left out in any case.
      constexpr bool kContainer = requires { value.begin(); };
      if (Form<M>::Absent(value) && !(kContainer && options.required)) {
        // An empty list or map may be there, but one that was not empty may not.
        if (old.size() > 0 || !(old.is_list() || old.is_map())) writer.Set(name, {});
        return;
      }
      writer.Set(name, WriteOver(value, old, arena, options));
    });
    return writer.Build();
  }
  // Tells if it is left out.
  static bool Absent(const T& /*value*/) { return false; }
};

// Returns an error unless `object` is of the group, kind and version.
Status CheckKind(const Object& object, std::string_view group, std::string_view version,
                 std::string_view kind);
// Returns an error unless `kind` has the version.
Status CheckVersion(const Kind& kind, std::string_view version);

}  // namespace apiserver::inline v0::runtime::typed

namespace apiserver::inline v0::runtime {

// Reads a struct, list, map or scalar. kInvalid, with the path: a member is of another type, or a
// required one is absent, unless `missing` allows that. Other absent members, and null, read as the
// C++ type's zero.
template <class T>
Result<T> FromValue(Value value, typed::Missing missing = typed::Missing::kRefused) {
  T read{};
  typed::Mismatch mismatch{.missing = missing};
  if (!typed::Form<T>::Read(value, read, mismatch)) return mismatch.ToStatus("value");
  return read;
}

// Writes it into `arena`; what `before` has beside the fields of T stays.
template <class T>
Value ToValue(const T& from, Arena& arena, Value before = {}) {
  return typed::WriteOver(from, before, arena, {});
}

// Reads an object. kInvalid: it is of another kind or version than T, or as FromValue() says. The
// error of parsing its stored bytes, if it has one.
template <class T>
Result<T> FromObject(const Object& object, typed::Missing missing = typed::Missing::kRefused) {
  if (Status status = typed::CheckKind(object, T::kGroup, T::kVersion, T::kKind); !status.ok()) {
    return status;
  }
  T read{};
  typed::Mismatch mismatch{.missing = missing};
  if (!typed::Form<T>::Read(object.root(), read, mismatch)) return mismatch.ToStatus(T::kKind);
  return read;
}

// Writes the struct over the object's content; what the struct does not have stays. kInvalid: the
// object is of another kind or version than T, and is left as it was.
template <class T>
Status ToObject(const T& from, Object& object) {
  if (Status status = typed::CheckKind(object, T::kGroup, T::kVersion, T::kKind); !status.ok()) {
    return status;
  }
  object.SetRoot(typed::WriteOver(from, object.root(), object.arena(), {}));
  return {};
}

// Makes an object of `kind`, which has to be T's and to have T's version. kInvalid: it is not.
template <class T>
Result<std::unique_ptr<Object>> NewObject(const T& from, const KindPtr& kind) {
  if (Status status = typed::CheckVersion(*kind, T::kVersion); !status.ok()) return status;
  auto object = std::make_unique<Object>(kind, T::kVersion);
  if (Status status = ToObject(from, *object); !status.ok()) return status;
  return object;
}

}  // namespace apiserver::inline v0::runtime
