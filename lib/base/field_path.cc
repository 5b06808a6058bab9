#include "apiserver/base/field_path.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "text/quote.h"

namespace apiserver::v0::field {
namespace {

// `cause` is the reason of a cause in a Status; `words` and the value are printed as by
// field.Error.ErrorBody in k8s.io/apimachinery.
struct TypeRow {
  std::string_view cause;
  std::string_view words;
  bool prints_value;
};

// Indexed by Error::Type.
constexpr std::array kTypes = {
    TypeRow{"FieldValueRequired", "Required value", false},
    TypeRow{"FieldValueInvalid", "Invalid value", true},
    TypeRow{"FieldValueDuplicate", "Duplicate value", true},
    TypeRow{"FieldValueNotSupported", "Unsupported value", true},
    TypeRow{"FieldValueForbidden", "Forbidden", false},
    TypeRow{"FieldValueTooLong", "Too long", false},
    TypeRow{"FieldValueTooMany", "Too many", true},
    TypeRow{"FieldValueNotFound", "Not found", true},
    TypeRow{"FieldValueTypeInvalid", "Invalid value", true},
    TypeRow{"InternalError", "Internal error", false},
    TypeRow{"FieldValueTooFew", "Too few", true},
    TypeRow{"FieldValueTooShort", "Too short", false},
};
static_assert(kTypes.size() == static_cast<std::size_t>(Error::Type::kTooShort) + 1);

const TypeRow& RowOf(Error::Type type) { return kTypes.at(static_cast<std::size_t>(type)); }

// Go prints the path of an object's root, a nil *Path, like this.
std::string FieldOf(const Path& path) { return path.text().empty() ? "<nil>" : path.text(); }

// Writes "may not be more than 1 byte" and "may not be more than 2 bytes".
std::string Count(long limit, std::string_view before, std::string_view one) {
  std::string out(before);
  out += ' ';
  out += std::to_string(limit);
  out += ' ';
  out += one;
  if (limit != 1) out += 's';
  return out;
}

constexpr std::string_view kCut = "...";

// Appends a part to the text of a path, in one allocation: paths are made for each field that is
// checked, and most of those are right.
std::string Joined(const std::string& path, std::string_view before, std::string_view part,
                   std::string_view after) {
  // A longer path helps no reader, and an object could make it megabytes.
  if (path.size() >= kTextBytesMax) return path;
  std::string text;
  text.reserve(path.size() + before.size() + std::min(part.size(), kTextBytesMax) + after.size());
  text.append(path).append(before);
  if (part.size() <= kTextBytesMax) {
    text.append(part);
  } else {
    text.append(Shorten(part));
  }
  text.append(after);
  if (text.size() > kTextBytesMax) return Shorten(text);
  return text;
}

// Takes the bytes of an unfinished UTF-8 sequence off the end.
std::string_view WholeCharacters(std::string_view text, std::string_view all) {
  constexpr std::size_t kSequenceMax = 4;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(all[at]) & 0xC0U) == 0x80U;
  };
  std::size_t size = text.size();
  for (std::size_t i = 0; i < kSequenceMax && size > 0 && size < all.size(); ++i, --size) {
    if (!continues(size)) return text.substr(0, size);
  }
  return text;
}

}  // namespace

std::string Shorten(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::string out(WholeCharacters(text.substr(0, bytes_max - kCut.size()), text));
  out += kCut;
  return out;
}

std::string Quote(std::string_view text) { return text::Quote(text); }

// The rest of a long text is not even read: it may be megabytes, once for each error.
std::string QuoteShort(std::string_view text) {
  if (text.size() <= kTextBytesMax) return Shorten(Quote(text));
  return Shorten(Quote(WholeCharacters(text.substr(0, kTextBytesMax), text)));
}

Path Path::Child(std::string_view name) const {
  return Path(Joined(text_, text_.empty() ? "" : ".", name, ""));
}

Path Path::Index(std::size_t index) const { return Key(std::to_string(index)); }

Path Path::Key(std::string_view key) const { return Path(Joined(text_, "[", key, "]")); }

std::string Error::Body() const {
  const TypeRow& row = RowOf(type);
  std::string out(row.words);
  if (row.prints_value && !bad_value.empty()) {
    out += ": ";
    out += bad_value;
  }
  if (!detail.empty()) {
    out += ": ";
    out += detail;
  }
  return out;
}

std::string Error::Message() const { return field + ": " + Body(); }

std::string_view Error::CauseReason() const { return RowOf(type).cause; }

void ErrorList::Required(const Path& path, std::string detail) {
  Add({Error::Type::kRequired, FieldOf(path), "", std::move(detail)});
}

void ErrorList::Invalid(const Path& path, std::string_view bad_value, std::string detail) {
  // A full list needs no text, and quoting may be long.
  if (!Room()) return;
  InvalidPrinted(path, QuoteShort(bad_value), std::move(detail));
}

void ErrorList::InvalidPrinted(const Path& path, std::string printed, std::string detail) {
  Add({Error::Type::kInvalid, FieldOf(path), std::move(printed), std::move(detail)});
}

void ErrorList::Duplicate(const Path& path, std::string_view bad_value) {
  if (!Room()) return;
  DuplicatePrinted(path, QuoteShort(bad_value));
}

void ErrorList::DuplicatePrinted(const Path& path, std::string printed) {
  Add({Error::Type::kDuplicate, FieldOf(path), std::move(printed), ""});
}

void ErrorList::NotSupported(const Path& path, std::string_view bad_value,
                             const std::vector<std::string>& supported) {
  if (!Room()) return;
  NotSupportedPrinted(path, QuoteShort(bad_value), supported);
}

void ErrorList::NotSupportedPrinted(const Path& path, std::string printed,
                                    const std::vector<std::string>& supported) {
  std::string detail;
  for (const std::string& value : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += Quote(value);
  }
  Add({Error::Type::kNotSupported, FieldOf(path), std::move(printed), std::move(detail)});
}

void ErrorList::Forbidden(const Path& path, std::string detail) {
  Add({Error::Type::kForbidden, FieldOf(path), "", std::move(detail)});
}

void ErrorList::TooLong(const Path& path, long limit) {
  Add({Error::Type::kTooLong, FieldOf(path), "",
       limit < 0 ? "value is too long" : Count(limit, "may not be more than", "byte")});
}

void ErrorList::TooLongCharacters(const Path& path, long limit) {
  Add({Error::Type::kTooLong, FieldOf(path), "",
       limit < 0 ? "value is too long" : Count(limit, "may not be more than", "character")});
}

void ErrorList::TooShort(const Path& path, long limit) {
  Add({Error::Type::kTooShort, FieldOf(path), "",
       limit < 0 ? "value is too short" : Count(limit, "must be at least", "character")});
}

void ErrorList::TooMany(const Path& path, std::size_t actual, std::size_t limit) {
  Add({Error::Type::kTooMany, FieldOf(path), std::to_string(actual),
       Count(static_cast<long>(limit), "must have at most", "item")});
}

void ErrorList::TooFew(const Path& path, std::size_t actual, std::size_t limit) {
  Add({Error::Type::kTooFew, FieldOf(path), std::to_string(actual),
       Count(static_cast<long>(limit), "must have at least", "item")});
}

void ErrorList::NotFound(const Path& path, std::string_view bad_value) {
  if (!Room()) return;
  Add({Error::Type::kNotFound, FieldOf(path), QuoteShort(bad_value), ""});
}

void ErrorList::TypeInvalid(const Path& path, std::string printed, std::string detail) {
  Add({Error::Type::kTypeInvalid, FieldOf(path), std::move(printed), std::move(detail)});
}

void ErrorList::Internal(const Path& path, std::string detail) {
  Add({Error::Type::kInternal, FieldOf(path), "", std::move(detail)});
}

// Returns false, and counts the error, if the list is full: a hostile object must not make the
// answer grow without bound.
bool ErrorList::Room() {
  if (errors_.size() < kErrorsMax && bytes_ < kErrorBytesMax) return true;
  more_ = std::min(more_ + 1, kMoreCountedMax);
  return false;
}

void ErrorList::Add(Error error) {
  if (!Room()) return;
  for (std::string* text : {&error.field, &error.bad_value, &error.detail}) {
    if (text->size() > kTextBytesMax) *text = Shorten(*text);
    bytes_ += text->size();
  }
  errors_.push_back(std::move(error));
}

void ErrorList::Append(ErrorList other) {
  for (Error& error : other.errors_) Add(std::move(error));
  more_ = std::min(more_ + other.more_, kMoreCountedMax);
}

std::string ErrorList::More() const {
  return (full() ? "and at least " : "and ") + std::to_string(more_) + " more";
}

// Follows aggregate.Error in apimachinery's util/errors: one message stands alone, several stand in
// brackets, each once.
std::string ErrorList::Aggregate() const {
  // Looked up rather than searched for: a hostile object has as many errors as the list takes.
  std::unordered_set<std::string> seen;
  std::vector<const std::string*> distinct;
  for (const Error& error : errors_) {
    const auto [message, is_new] = seen.insert(error.Message());
    if (is_new) distinct.push_back(&*message);
  }
  if (distinct.empty()) return "";
  if (distinct.size() == 1 && more_ == 0) return *distinct.front();
  std::string out;
  for (const std::string* message : distinct) {
    out += out.empty() ? "[" : ", ";
    out += *message;
  }
  if (more_ > 0) out += ", " + More();
  out += ']';
  return out;
}

std::vector<StatusCause> ErrorList::Causes() const {
  std::vector<StatusCause> causes;
  causes.reserve(errors_.size() + 1);
  for (const Error& error : errors_) {
    causes.push_back({std::string(error.CauseReason()), error.Body(), error.field});
  }
  if (more_ > 0) causes.push_back({"", More(), ""});
  return causes;
}

}  // namespace apiserver::v0::field
