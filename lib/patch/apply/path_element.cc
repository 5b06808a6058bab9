#include <string>

#include "apiserver/patch/apply/field_set.h"

#include "patch/apply/value_order.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Member;

int CompareText(std::string_view a, std::string_view b) { return a.compare(b); }

int CompareKeys(std::span<const Member> a, std::span<const Member> b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    // Most names are the schema's own, at the same address.
    const bool same = a[i].key.data() == b[i].key.data() && a[i].key.size() == b[i].key.size();
    if (const int names = same ? 0 : CompareText(a[i].key, b[i].key); names != 0) return names;
    if (const int values = CompareValues(a[i].value, b[i].value); values != 0) return values;
  }
  if (a.size() == b.size()) return 0;
  return a.size() < b.size() ? -1 : 1;
}

}  // namespace

int PathElement::Compare(const PathElement& a, const PathElement& b) {
  if (a.kind_ != b.kind_) return a.kind_ < b.kind_ ? -1 : 1;
  switch (a.kind_) {
    case Kind::kFieldName:
      return CompareText(a.name_, b.name_);
    case Kind::kKey:
      return CompareKeys(a.key_, b.key_);
    case Kind::kValue:
      return CompareValues(a.value_, b.value_);
    case Kind::kIndex:
      if (a.index_ == b.index_) return 0;
      return a.index_ < b.index_ ? -1 : 1;
    case Kind::kUnknown:
      return 0;
  }
  return 0;
}

std::string PathElement::ToString() const {
  std::string out;
  switch (kind_) {
    case Kind::kFieldName:
      out.append(".").append(field_name());
      break;
    case Kind::kKey:
      out += '[';
      for (const Member& field : key()) {
        if (out.size() > 1) out += ',';
        out.append(field.key).push_back('=');
        AppendPathValue(field.value, out);
      }
      out += ']';
      break;
    case Kind::kValue:
      out += "[=";
      AppendPathValue(value_, out);
      out += ']';
      break;
    case Kind::kIndex:
      out.append("[").append(std::to_string(index())).append("]");
      break;
    case Kind::kUnknown:
      out = "{{invalid path element}}";
      break;
  }
  return out;
}

std::string PathString(PathView path) {
  std::string out;
  for (const PathElement& element : path) out += element.ToString();
  return out;
}

}  // namespace apiserver::v0::patch::apply
