#include <algorithm>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/field_set.h"

#include "text/base64.h"
#include "text/hex.h"
#include "text/scan.h"
#include "text/utf8.h"

// Writes the bytes of json-iterator, which keeps HTML in names but escapes it in values.
namespace apiserver::v0::patch::apply {

namespace {

using runtime::Member;
using runtime::Value;

void AppendControl(char c, std::string& out) {
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += text::HexDigit(byte >> 4U);
  out += text::HexDigit(byte);
}

// Returns false for a character that needs no escape.
bool AppendEscape(char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return true;
    case '\\':
      out += "\\\\";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    default:
      if (static_cast<unsigned char>(c) >= 0x20) return false;
      AppendControl(c, out);
      return true;
  }
}

// Appends the inside of a string; only quotes, backslashes and control characters are escaped.
void AppendName(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::size_t plain = text::PlainPrefix(text);
    out.append(text, 0, plain);
    if (plain == text.size()) return;
    AppendEscape(text[plain], out);
    text.remove_prefix(plain + 1);
  }
}

void AppendHtmlSafe(std::string_view text, std::string& out) {
  out += '"';
  for (;;) {
    const std::size_t plain = text::UnescapedPrefix(text);
    out.append(text, 0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    std::size_t length = 1;
    if (c == '<' || c == '>' || c == '&') {
      AppendControl(c, out);
    } else if (static_cast<unsigned char>(c) < 0x80) {
      if (!AppendEscape(c, out)) out += c;
    } else if (length = text::Utf8SequenceLength(text); length == 0) {
      length = 1;
      out += "\\ufffd";
    } else if (const std::string_view rune = text.substr(0, length);
               rune == "\xE2\x80\xA8" || rune == "\xE2\x80\xA9") {
      out += rune.back() == '\xA8' ? "\\u2028" : "\\u2029";
    } else {
      out += rune;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

// json-iterator writes exponents with at least two digits, codec without a leading zero.
void AppendFloat(const Value& value, std::string& out) {
  std::string text;
  codec::AppendJson(value, text);
  const std::size_t e = text.find("e-");
  if (e != std::string::npos && text.size() == e + 3) text.insert(e + 2, 1, '0');
  out += text;
}

// Values of keys nest no deeper than DecodeFieldsV1 and lists' keys allow; deeper parts are cut.
constexpr int kWrittenDepthMax = 256;

void AppendValue(const Value& value, int depth, std::string& out) {
  switch (value.type()) {
    case Value::Type::kDouble:
      AppendFloat(value, out);
      return;
    case Value::Type::kString:
      AppendHtmlSafe(value.AsString(), out);
      return;
    case Value::Type::kBytes: {
      std::string text;
      text::AppendBase64(value.AsString(), text);
      AppendHtmlSafe(text, out);
      return;
    }
    case Value::Type::kList:
      out += '[';
      for (std::size_t i = 0; i < value.size() && depth < kWrittenDepthMax; ++i) {
        if (i != 0) out += ',';
        AppendValue(value.items()[i], depth + 1, out);
      }
      out += ']';
      return;
    case Value::Type::kMap: {
      // Go's encoders sort the keys of a map, whatever order the client sent.
      std::vector<Member> members(value.members().begin(), value.members().end());
      std::sort(members.begin(), members.end(),
                [](const Member& a, const Member& b) { return a.key < b.key; });
      out += '{';
      for (std::size_t i = 0; i < members.size() && depth < kWrittenDepthMax; ++i) {
        if (i != 0) out += ',';
        AppendHtmlSafe(members[i].key, out);
        out += ':';
        AppendValue(members[i].value, depth + 1, out);
      }
      out += '}';
      return;
    }
    default:
      codec::AppendJson(value, out);
  }
}

// Follows Set.ToJSON of fieldpath: "." says that the place itself is owned, apart from what is
// below it, and is left out where nothing is below.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  void Level(FieldSet set, bool member) {
    out_ += '{';
    bool first = true;
    if (member) {
      out_ += "\".\":{}";
      first = false;
    }
    for (const FieldSet::Entry& entry : set.entries()) {
      // A place that cannot be named has no owner.
      if (entry.element.kind() == PathElement::Kind::kUnknown) continue;
      if (!first) out_ += ',';
      first = false;
      AppendElement(entry.element);
      if (entry.children.Empty()) {
        out_ += "{}";
      } else {
        Level(entry.children, entry.member);
      }
    }
    out_ += '}';
  }

 private:
  void AppendElement(const PathElement& element) {
    switch (element.kind()) {
      case PathElement::Kind::kFieldName:
        out_ += "\"f:";
        AppendName(element.field_name(), out_);
        break;
      case PathElement::Kind::kKey:
        out_ += "\"k:";
        scratch_ = "{";
        for (const Member& field : element.key()) {
          scratch_ += scratch_.size() > 1 ? ",\"" : "\"";
          AppendName(field.key, scratch_);
          scratch_ += "\":";
          AppendValue(field.value, 0, scratch_);
        }
        scratch_ += '}';
        // The key's JSON stands in a JSON string, so it is escaped once more.
        AppendName(scratch_, out_);
        break;
      case PathElement::Kind::kValue:
        out_ += "\"v:";
        scratch_.clear();
        AppendValue(element.value(), 0, scratch_);
        AppendName(scratch_, out_);
        break;
      case PathElement::Kind::kIndex:
        out_.append("\"i:").append(std::to_string(element.index()));
        break;
      case PathElement::Kind::kUnknown:
        return;
    }
    out_ += "\":";
  }

  std::string& out_;
  std::string scratch_;
};

}  // namespace

void AppendFieldsV1(FieldSet set, std::string& out) { Encoder(out).Level(set, /*member=*/false); }

}  // namespace apiserver::v0::patch::apply
