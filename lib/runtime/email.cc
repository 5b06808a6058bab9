#include "runtime/email.h"

#include <algorithm>

#include "text/ip.h"
#include "text/utf8.h"

namespace apiserver::v0::runtime {

namespace {

bool IsVisible(unsigned char c) { return c > ' ' && c != 0x7F; }

// A character of an atom. Everything beyond ASCII is one.
bool IsAtomText(unsigned char c) {
  return IsVisible(c) &&
         std::string_view("()[];@\\,<>\":").find(static_cast<char>(c)) == std::string_view::npos;
}

class Address {
 public:
  explicit Address(std::string_view text) : rest_(text) {}

  bool Whole() {
    Skip();
    if (rest_.empty() || !Mailbox()) return false;
    return Comments() && rest_.empty();
  }

 private:
  void Skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Mailbox() {
    const std::string_view begin = rest_;
    if (Spec()) return true;
    rest_ = begin;
    if (!rest_.starts_with('<') && !Phrase()) return false;
    Skip();
    return Take('<') && Spec() && Take('>');
  }

  // local@domain
  bool Spec() {
    Skip();
    if (rest_.empty()) return false;
    if (rest_.starts_with('"') ? !Quoted(1) : !Atom(false)) return false;
    if (!Take('@')) return false;
    Skip();
    if (rest_.empty()) return false;
    return rest_.starts_with('[') ? Literal() : Atom(false);
  }

  bool Atom(bool permissive) {
    const auto* const found = std::find_if_not(rest_.begin(), rest_.end(), [](char c) {
      return IsAtomText(static_cast<unsigned char>(c));
    });
    const std::string_view atom(rest_.data(), static_cast<std::size_t>(found - rest_.begin()));
    if (atom.empty() || !text::ValidUtf8(atom)) return false;
    rest_.remove_prefix(atom.size());
    const bool dots =
        atom.starts_with('.') || atom.ends_with('.') || atom.find("..") != std::string_view::npos;
    return permissive || !dots;
  }

  // Takes a quoted text of at least `size_min` bytes.
  bool Quoted(std::size_t size_min) {
    std::size_t size = 0;
    bool escaped = false;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      const auto c = static_cast<unsigned char>(rest_[i]);
      if (c == '"' && !escaped) {
        const bool valid = text::ValidUtf8(rest_.substr(1, i - 1));
        rest_.remove_prefix(i + 1);
        return valid && size >= size_min;
      }
      if (c == '\\' && !escaped) {
        escaped = true;
        continue;
      }
      if (!IsVisible(c) && c != ' ' && c != '\t') return false;
      escaped = false;
      ++size;
    }
    return false;
  }

  bool Literal() {
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view address = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text::IsIpv4(address) || text::IsIpv6(address);
  }

  // The name before an address: words, with comments behind each.
  bool Phrase() {
    bool any = false;
    while (true) {
      if (any && !Comments()) return false;
      Skip();
      if (rest_.empty()) return any;
      const std::string_view begin = rest_;
      if (rest_.starts_with('"') ? !Quoted(0) : !Atom(true)) {
        rest_ = begin;
        return any;
      }
      any = true;
    }
  }

  bool Comments() {
    Skip();
    while (Take('(')) {
      int depth = 1;
      while (!rest_.empty() && depth > 0) {
        if (rest_.front() == '\\' && rest_.size() > 1) {
          rest_.remove_prefix(1);
        } else if (rest_.front() == '(') {
          ++depth;
        } else if (rest_.front() == ')') {
          --depth;
        }
        rest_.remove_prefix(1);
      }
      if (depth > 0) return false;
      Skip();
    }
    return true;
  }

  std::string_view rest_;
};

}  // namespace

bool IsEmail(std::string_view text) { return Address(text).Whole(); }

}  // namespace apiserver::v0::runtime
