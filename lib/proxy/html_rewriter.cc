#include "proxy/html_rewriter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "text/ascii.h"
#include "text/go_url.h"
#include "text/hex.h"

namespace apiserver::v0::proxy {
namespace {

// Elements and their attributes with URLs. http://www.w3.org/TR/REC-html40/index/attributes.html
constexpr std::pair<std::string_view, std::string_view> kUrlAttributes[] = {
    {"a", "href"},          {"applet", "codebase"},   {"area", "href"},
    {"audio", "src"},       {"base", "href"},         {"blockquote", "cite"},
    {"body", "background"}, {"button", "formaction"}, {"command", "icon"},
    {"del", "cite"},        {"embed", "src"},         {"form", "action"},
    {"frame", "longdesc"},  {"frame", "src"},         {"head", "profile"},
    {"html", "manifest"},   {"iframe", "longdesc"},   {"iframe", "src"},
    {"img", "longdesc"},    {"img", "src"},           {"img", "usemap"},
    {"input", "src"},       {"input", "usemap"},      {"input", "formaction"},
    {"ins", "cite"},        {"link", "href"},         {"object", "classid"},
    {"object", "codebase"}, {"object", "data"},       {"object", "usemap"},
    {"q", "cite"},          {"script", "src"},        {"source", "src"},
    {"video", "poster"},    {"video", "src"}};

// Elements whose content is text up to their end tag.
constexpr std::string_view kRawText[] = {"iframe", "noembed",  "noframes", "plaintext", "script",
                                         "style",  "textarea", "title",    "xmp"};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns whether `text` is `lower` in any case.
bool Is(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(),
                                                   [](char c, char l) { return Lower(c) == l; });
}

void AppendUtf8(std::uint32_t rune, std::string& out) {
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xc0 | (rune >> 6));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xe0 | (rune >> 12));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (rune >> 18));
    out += static_cast<char>(0x80 | ((rune >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  }
}

// Returns the code point of "#38" or "#x26".
std::optional<std::uint32_t> NumericReference(std::string_view name) {
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  if (name.empty() || name.size() > 7) return std::nullopt;
  std::uint32_t rune = 0;
  for (const char c : name) {
    const int digit = hex ? text::HexValue(c) : text::IsDigit(c) ? c - '0' : -1;
    if (digit < 0) return std::nullopt;
    rune = rune * (hex ? 16 : 10) + static_cast<std::uint32_t>(digit);
  }
  const bool valid = rune > 0 && rune < 0x110000 && (rune < 0xd800 || rune > 0xdfff);
  return valid ? std::optional(rune) : std::nullopt;
}

// Returns what the reference `name` ("amp", "#38") stands for. nullopt: it is not known here.
std::optional<std::uint32_t> Reference(std::string_view name) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  if (name.starts_with('#')) return NumericReference(name);
  for (const auto& [known, c] : kNamed) {
    if (name == known) return static_cast<std::uint32_t>(c);
  }
  return std::nullopt;
}

// Decodes the references of an attribute's value.
std::string Unescape(std::string_view value) {
  std::string text;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const std::size_t end = value[at] == '&' ? value.substr(at, 12).find(';') : std::string::npos;
    const auto rune =
        end != std::string::npos ? Reference(value.substr(at + 1, end - 1)) : std::nullopt;
    if (rune) {
      AppendUtf8(*rune, text);
      at += end;
    } else {
      text += value[at];
    }
  }
  return text;
}

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

class HtmlRewriting final {
 public:
  HtmlRewriting(std::string_view page, const LocationRewriter& rewriter)
      : page_(page), rewriter_(rewriter) {}

  std::string Run() {
    while (at_ < page_.size()) Markup();
    Copy(page_.size());
    return std::move(out_);
  }

 private:
  // Copies the page up to `end` as it is.
  void Copy(std::size_t end) {
    out_.append(page_.substr(copied_, end - copied_));
    copied_ = end;
  }
  char At(std::size_t at) const { return at < page_.size() ? page_[at] : '\0'; }
  // Moves behind the next `mark`, or to the end of the page.
  void SkipBehind(std::string_view mark) {
    const std::size_t found = page_.find(mark, at_);
    at_ = found == std::string_view::npos ? page_.size() : found + mark.size();
  }
  void SkipSpace() {
    while (at_ < page_.size() && IsSpace(page_[at_])) ++at_;
  }

  void Markup();
  void Comment();
  void Tag(bool start);
  void Attribute(std::string_view element, bool start);
  void Value(std::string_view element, std::string_view name, bool start);
  void RawText(std::string_view element);
  void Substitute(std::size_t begin, std::size_t end, std::string_view value);

  const std::string_view page_;
  const LocationRewriter& rewriter_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;
};

// Goes on to the next '<' and behind what it begins.
void HtmlRewriting::Markup() {
  at_ = std::min(page_.find('<', at_), page_.size());
  if (at_ == page_.size()) return;
  const char next = At(at_ + 1);
  if (text::IsLetter(next)) {
    ++at_;
    Tag(/*start=*/true);
  } else if (next == '/' && text::IsLetter(At(at_ + 2))) {
    at_ += 2;
    Tag(/*start=*/false);
  } else if (next == '!' || next == '?' || next == '/') {
    Comment();
  } else {
    ++at_;
  }
}

// "<!-->" and "<!--->" are whole comments.
void HtmlRewriting::Comment() {
  if (page_.substr(at_, 4) != "<!--") return SkipBehind(">");
  at_ += 4;
  if (page_.substr(at_).starts_with('>') || page_.substr(at_).starts_with("->")) {
    return SkipBehind(">");
  }
  SkipBehind("-->");
}

void HtmlRewriting::Tag(bool start) {
  const std::size_t begin = at_;
  while (at_ < page_.size() && !IsSpace(page_[at_]) && page_[at_] != '/' && page_[at_] != '>') {
    ++at_;
  }
  const std::string_view element = page_.substr(begin, at_ - begin);
  while (at_ < page_.size() && page_[at_] != '>') {
    if (IsSpace(page_[at_]) || page_[at_] == '/') {
      ++at_;
    } else {
      Attribute(element, start);
    }
  }
  if (at_ < page_.size()) ++at_;
  if (start) RawText(element);
}

void HtmlRewriting::Attribute(std::string_view element, bool start) {
  const std::size_t begin = at_++;  // A name may begin with '='.
  while (at_ < page_.size() && !IsSpace(page_[at_]) &&
         std::string_view("/>=").find(page_[at_]) == std::string_view::npos) {
    ++at_;
  }
  const std::string_view name = page_.substr(begin, at_ - begin);
  SkipSpace();
  if (At(at_) != '=') return;
  ++at_;
  SkipSpace();
  Value(element, name, start);
}

void HtmlRewriting::Value(std::string_view element, std::string_view name, bool start) {
  const char quote = At(at_);
  const bool quoted = quote == '"' || quote == '\'';
  const std::size_t begin = at_;
  std::string_view value;
  if (quoted) {
    ++at_;
    SkipBehind(std::string_view(&quote, 1));
    const bool closed = at_ > begin + 1 && page_[at_ - 1] == quote;
    if (!closed) return;
    value = page_.substr(begin + 1, at_ - begin - 2);
  } else {
    while (at_ < page_.size() && !IsSpace(page_[at_]) && page_[at_] != '>') ++at_;
    value = page_.substr(begin, at_ - begin);
  }
  const bool url = start && std::any_of(std::begin(kUrlAttributes), std::end(kUrlAttributes),
                                        [&](const auto& row) {
                                          return Is(element, row.first) && Is(name, row.second);
                                        });
  if (url) Substitute(begin, at_, value);
}

// A value that is no URL stays as it is, and so does one that is not changed.
void HtmlRewriting::Substitute(std::size_t begin, std::size_t end, std::string_view value) {
  const std::string before = Unescape(value);
  auto url = text::ParseGoUrl(before);
  if (!url.ok()) return;
  const std::string after = rewriter_.Rewrite(*std::move(url));
  if (after == before) return;
  Copy(begin);
  out_ += '"';
  AppendEscaped(after, out_);
  out_ += '"';
  copied_ = end;
}

// The text ends before an end tag of the element, whatever its case.
void HtmlRewriting::RawText(std::string_view element) {
  const bool raw = std::any_of(std::begin(kRawText), std::end(kRawText),
                               [&](std::string_view each) { return Is(element, each); });
  if (!raw) return;
  if (Is(element, "plaintext")) {
    at_ = page_.size();
    return;
  }
  while (at_ < page_.size()) {
    at_ = std::min(page_.find("</", at_), page_.size());
    const std::string_view rest = page_.substr(at_);
    const std::string_view name = rest.size() > 2 ? rest.substr(2, element.size()) : "";
    const char behind = At(at_ + 2 + element.size());
    const bool same = name.size() == element.size() &&
                      std::equal(name.begin(), name.end(), element.begin(),
                                 [](char a, char b) { return Lower(a) == Lower(b); });
    if (same && (IsSpace(behind) || behind == '/' || behind == '>' || behind == '\0')) return;
    at_ = std::min(at_ + 2, page_.size());
  }
}

}  // namespace

std::string RewriteHtml(std::string_view page, const LocationRewriter& rewriter) {
  return HtmlRewriting(page, rewriter).Run();
}

}  // namespace apiserver::v0::proxy
