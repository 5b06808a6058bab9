#include "generator/identifiers.h"

#include <algorithm>
#include <sstream>

namespace apiserver::v0::generator {
namespace {

constexpr std::size_t kColumns = 100;

// Keywords of C++20, its alternative words for operators, and names that headers of the C library
// define as macros.
constexpr std::string_view kReserved =
    " EOF NULL alignas alignof and and_eq asm assert auto bitand bitor bool break case "
    "catch char char16_t char32_t char8_t class co_await co_return co_yield compl "
    "concept const const_cast consteval constexpr constinit continue decltype default "
    "delete do double dynamic_cast else enum errno explicit export extern false float "
    "for friend goto if inline int linux long major makedev minor mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert "
    "static_cast stderr stdin stdout struct switch template this thread_local throw true "
    "try typedef typeid typename union unix unsigned using virtual void volatile wchar_t "
    "while xor xor_eq ";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsReserved(std::string_view name) {
  return kReserved.find(" " + std::string(name) + " ") != std::string_view::npos;
}

// Names with two underscores, or with one before a capital, belong to the compiler.
std::string Characters(std::string_view name) {
  std::string to;
  for (const char c : name) {
    if (IsLetter(c) || IsDigit(c)) {
      to += c;
    } else if (to.empty() || to.back() != '_') {
      to += '_';
    }
  }
  if (to.empty()) return "field";
  if (to.front() == '_' || IsDigit(to.front())) to.insert(0, "field");
  return to;
}

}  // namespace

bool IsNamespace(std::string_view name) {
  for (;;) {
    const std::size_t end = std::min(name.find("::"), name.size());
    const std::string_view part = name.substr(0, end);
    if (part.empty() || MemberName(part) != part || part == "std") return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 2);
  }
}

std::string MemberName(std::string_view name) {
  std::string to = Characters(name);
  if (IsReserved(to)) to += '_';
  return to;
}

std::string Capitalized(std::string_view name) {
  std::string to = Characters(name);
  if (to[0] >= 'a' && to[0] <= 'z') to[0] = static_cast<char>(to[0] - 'a' + 'A');
  return to;
}

std::string Unique(std::string name, std::set<std::string>& taken) {
  // A digit, as two underscores belong to the compiler.
  const std::string base = name;
  for (int i = 2; !taken.insert(name).second; ++i) {
    name = base + (base.back() == '_' ? "" : "_") + std::to_string(i);
  }
  return name;
}

std::string Literal(std::string_view text) {
  static constexpr std::string_view kDigits = "01234567";
  std::string to = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (byte < 0x20 || byte == 0x7f || c == '?') {
      // Three digits end an octal escape; a question mark could begin a trigraph.
      to += {'\\', kDigits[byte >> 6U], kDigits[byte >> 3U & 7U], kDigits[byte & 7U]};
    } else {
      to += c;
    }
  }
  return to + '"';
}

std::string Comment(std::string_view text, std::string_view indent) {
  std::string clean(text);
  for (char& c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    // A backslash at the end of a line would make the next one part of the comment.
    if (byte <= 0x20 || byte == 0x7f) c = ' ';
    if (c == '\\') c = '/';
  }
  std::string to;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) to += std::string(indent) + "//" + line + "\n";
    line.clear();
  };
  std::istringstream words(clean);
  for (std::string word; words >> word;) {
    if (indent.size() + 3 + line.size() + word.size() > kColumns) end_line();
    line += " " + word;
  }
  end_line();
  return to;
}

}  // namespace apiserver::v0::generator
