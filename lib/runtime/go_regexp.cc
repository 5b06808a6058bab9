#include "runtime/go_regexp.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "text/ascii.h"

namespace apiserver::v0::runtime {
namespace {

// RE2's words for errors are others than those of Go's regexp/syntax.
std::string_view GoErrorOf(re2::RE2::ErrorCode code) {
  using re2::RE2;
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "regexp/syntax: internal error";
  }
}

std::string ParseError(std::string_view what, std::string_view where) {
  std::string error = "error parsing regexp: ";
  return error.append(what).append(": `").append(where).append("`");
}

bool IsNameCharacter(char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '_'; }

// Takes the names out of (?P<name>…) and (?<name>…): RE2 of 2022 does not know the second form, and
// refuses a name that occurs twice. Finds \C, which only RE2 knows. Skips escapes, \Q…\E and
// character classes.
class Translator {
 public:
  explicit Translator(std::string_view text) : rest_(text) {}

  // Appends the pattern to `out`. Returns the error that Go finds; empty if there is none.
  std::string Translate(std::string& out) {
    while (!rest_.empty()) {
      if (rest_.starts_with("\\C")) return ParseError("invalid escape sequence", "\\C");
      if (rest_.starts_with("\\Q")) {
        const std::size_t end = rest_.find("\\E");
        Copy(end == std::string_view::npos ? rest_.size() : end + 2, out);
      } else if (rest_.front() == '\\') {
        Copy(2, out);
      } else if (rest_.front() == '[') {
        CopyClass(out);
      } else if (const std::size_t begin = NameBegin(); begin > 0) {
        if (std::string error = DropName(begin); !error.empty()) return error;
        out += '(';
      } else {
        Copy(1, out);
      }
    }
    return "";
  }

 private:
  void Copy(std::size_t bytes, std::string& out) {
    const std::string_view copied = rest_.substr(0, bytes);
    out += copied;
    rest_.remove_prefix(copied.size());
  }

  // Returns the position of a group's name. 0: no named group is here.
  std::size_t NameBegin() const {
    constexpr std::string_view kLong = "(?P<";
    constexpr std::string_view kShort = "(?<";
    if (rest_.starts_with(kLong) && rest_.size() > kLong.size()) return kLong.size();
    return rest_.starts_with(kShort) && rest_.size() > kShort.size() ? kShort.size() : 0;
  }

  std::string DropName(std::size_t begin) {
    constexpr std::string_view kWrong = "invalid named capture";
    const std::size_t end = rest_.find('>');
    if (end == std::string_view::npos) return ParseError(kWrong, rest_);
    const std::string_view name = rest_.substr(begin, end - begin);
    if (name.empty() || !std::ranges::all_of(name, IsNameCharacter)) {
      return ParseError(kWrong, rest_.substr(0, end + 1));
    }
    rest_.remove_prefix(end + 1);
    return "";
  }

  void CopyClass(std::string& out) {
    Copy(rest_.starts_with("[^") ? 2 : 1, out);
    // A bracket in the first place stands for itself.
    bool first = true;
    while (!rest_.empty() && (first || rest_.front() != ']')) {
      const std::size_t named_end = rest_.starts_with("[:") ? NamedEnd() : std::string::npos;
      if (named_end != std::string_view::npos) {
        Copy(named_end + 2, out);
      } else {
        // RE2 looks for the end of a name at each "[:", to the end of the pattern. An escaped
        // bracket means the same, but would show in the words of an error.
        if (rest_.starts_with("[:") && ++unnamed_ > kUnnamedMax) out += '\\';
        Copy(rest_.front() == '\\' ? 2 : 1, out);
      }
      first = false;
    }
    Copy(1, out);
  }

  // Returns the position of the next ":]". npos: there is none, which is looked for once.
  std::size_t NamedEnd() {
    if (!has_named_end_) return std::string_view::npos;
    const std::size_t end = rest_.find(":]");
    has_named_end_ = end != std::string_view::npos;
    return end;
  }

  // The number of "[:" without an end that are left as they are.
  static constexpr int kUnnamedMax = 100;

  std::string_view rest_;
  bool has_named_end_ = true;
  int unnamed_ = 0;
};

}  // namespace

std::unique_ptr<re2::RE2> CompileGoRegexp(std::string_view text, std::string& error) {
  std::string translated;
  error = Translator(text).Translate(translated);
  if (!error.empty()) return nullptr;
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled =
      std::make_unique<re2::RE2>(re2::StringPiece(translated.data(), translated.size()), options);
  if (compiled->ok()) return compiled;
  const re2::RE2::ErrorCode code = compiled->error_code();
  // These two show the whole pattern, as it was written.
  const bool whole = code == re2::RE2::ErrorMissingParen || code == re2::RE2::ErrorUnexpectedParen;
  error = ParseError(GoErrorOf(code), whole ? text : std::string_view(compiled->error_arg()));
  return nullptr;
}

}  // namespace apiserver::v0::runtime
