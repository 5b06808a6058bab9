#include "apiextensions/validation/names.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

// Lowers ASCII only: other letters are refused in any case.
std::string Lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void CheckLabel(std::string_view name, const Path& path, ErrorList& errors) {
  AddComplaints(meta::IsDNS1035Label(name), name, "", path, errors);
}

void CheckKind(std::string_view kind, const Path& path, ErrorList& errors) {
  AddComplaints(meta::IsDNS1035Label(Lowered(kind)), kind,
                "may have mixed case, but should otherwise match: ", path, errors);
}

void CheckLabels(const Value& names, const Path& path, ErrorList& errors) {
  for (std::size_t i = 0; i < names.size() && !errors.full(); ++i) {
    CheckLabel(names.at(i).AsString(), path.Index(i), errors);
  }
}

}  // namespace

void AddComplaints(const meta::Complaints& complaints, std::string_view value,
                   std::string_view prefix, const Path& path, ErrorList& errors) {
  if (complaints.empty()) return;
  std::string detail(prefix);
  for (std::size_t i = 0; i < complaints.size(); ++i) detail += (i == 0 ? "" : ",") + complaints[i];
  errors.Invalid(path, value, std::move(detail));
}

void ValidateNames(const Value& names, const Path& path, ErrorList& errors) {
  const auto text = [&names](std::string_view key) { return names[key].AsString(); };
  for (const std::string_view key : {"plural", "singular"}) {
    if (!text(key).empty()) CheckLabel(text(key), path.Child(key), errors);
  }
  const std::string_view kind = text("kind");
  const std::string_view list_kind = text("listKind");
  if (!kind.empty()) CheckKind(kind, path.Child("kind"), errors);
  if (!list_kind.empty()) CheckKind(list_kind, path.Child("listKind"), errors);
  CheckLabels(names["shortNames"], path.Child("shortNames"), errors);
  if (!kind.empty() && kind == list_kind) {
    errors.Invalid(path.Child("listKind"), list_kind, "kind and listKind may not be the same");
  }
  CheckLabels(names["categories"], path.Child("categories"), errors);
}

void RequireNames(const Value& names, const Path& path, ErrorList& errors) {
  for (const std::string_view key : {"plural", "singular", "kind", "listKind"}) {
    if (names[key].AsString().empty()) errors.Required(path.Child(key));
  }
}

void ValidateGroup(std::string_view group, const Path& path, ErrorList& errors) {
  if (group.empty()) return errors.Required(path);
  const meta::Complaints complaints = meta::IsDNS1123Subdomain(group);
  if (!complaints.empty()) return AddComplaints(complaints, group, "", path, errors);
  if (group.find('.') == std::string_view::npos) {
    errors.Invalid(path, group, "should be a domain with at least one dot");
  }
}

void ValidateWord(std::string_view word, std::string_view first, std::string_view second,
                  const Path& path, ErrorList& errors) {
  if (word.empty()) return errors.Required(path);
  if (word == first || word == second) return;
  errors.NotSupported(path, word, {std::string(first), std::string(second)});
}

}  // namespace apiserver::v0::apiextensions
