#include "cel/syntax/expression_parser.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include "cel/syntax/literal.h"
#include "cel/syntax/operators.h"

namespace apiserver::v0::cel::syntax {
namespace {

// Names of fields that are no names of variables and functions. true, false, null and in are
// tokens.
constexpr std::string_view kReserved[] = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

// Tokens that may follow a minus: no exclamation mark among them.
constexpr TokenSet kAfterMinus = {
    TokenKind::kLeftBracket, TokenKind::kLeftBrace, TokenKind::kLeftParenthesis,
    TokenKind::kDot,         TokenKind::kMinus,     TokenKind::kTrue,
    TokenKind::kFalse,       TokenKind::kNull,      TokenKind::kDouble,
    TokenKind::kInt,         TokenKind::kUint,      TokenKind::kString,
    TokenKind::kBytes,       TokenKind::kIdentifier};

bool IsNumber(TokenKind kind) { return kind == TokenKind::kInt || kind == TokenKind::kDouble; }

// The constant of a number token; nullopt if it is out of range.
std::optional<Constant> NumberConstant(TokenKind kind, std::string_view text, bool negative) {
  if (kind == TokenKind::kInt) return ParseInt(text, negative);
  if (kind == TokenKind::kUint) return ParseUint(text);
  return ParseDouble(text, negative);
}

}  // namespace

bool ExpressionParser::ReadOperand() {
  if (!reader_.Sync(kOperandStart)) return false;
  if (reader_.kind() == TokenKind::kNot) return ReadNots();
  if (reader_.kind() == TokenKind::kMinus) return ReadMinuses();
  return ReadPrimary();
}

bool ExpressionParser::ReadNots() {
  Frame frame = NewFrame(FrameKind::kUnary, reader_.Peek().offset);
  frame.name = operators::kLogicalNot;
  bool odd = false;
  while (reader_.kind() == TokenKind::kNot) {
    reader_.Take();
    odd = !odd;
    if (!kOperandStart.Has(reader_.kind())) {
      reader_.StopAtUnwanted(kOperandStart);
      return false;
    }
  }
  if (odd) PushFrame(std::move(frame));
  return ReadPrimary();
}

bool ExpressionParser::ReadMinuses() {
  if (IsNumber(reader_.kind(1))) return ReadPrimary();
  Frame frame = NewFrame(FrameKind::kUnary, reader_.Peek().offset);
  frame.name = operators::kNegate;
  bool odd = false;
  while (reader_.kind() == TokenKind::kMinus) {
    if (!kAfterMinus.Has(reader_.kind(1))) {
      reader_.StopWithoutAlternative(1);
      return false;
    }
    reader_.Take();
    odd = !odd;
  }
  if (odd) PushFrame(std::move(frame));
  return ReadPrimary();
}

bool ExpressionParser::ReadPrimary() {
  const Token token = reader_.Peek();
  switch (token.kind) {
    case TokenKind::kMinus:
    case TokenKind::kInt:
    case TokenKind::kDouble:
    case TokenKind::kUint:
      return ReadNumber(token);
    case TokenKind::kString:
    case TokenKind::kBytes:
      ReadText();
      return true;
    case TokenKind::kTrue:
    case TokenKind::kFalse:
      reader_.Take();
      Push(ast_.AddConstant(token.offset, token.kind == TokenKind::kTrue), 0);
      return true;
    case TokenKind::kNull:
      reader_.Take();
      Push(ast_.AddConstant(token.offset, std::monostate()), 0);
      return true;
    case TokenKind::kLeftParenthesis:
      reader_.Take();
      PushFrame(NewFrame(FrameKind::kNested, token.offset));
      return BeginOperand();
    case TokenKind::kLeftBracket:
      return ReadList();
    case TokenKind::kLeftBrace:
      return ReadMap();
    default:
      return ReadName();
  }
}

bool ExpressionParser::ReadNumber(const Token& sign) {
  const bool negative = sign.kind == TokenKind::kMinus;
  if (negative && !IsNumber(reader_.kind(1))) {
    reader_.StopWithoutAlternative(1);
    return false;
  }
  if (negative) reader_.Take();
  const Token token = reader_.Take();
  const std::optional<Constant> value = NumberConstant(token.kind, reader_.text(token), negative);
  if (value) {
    Push(ast_.AddConstant(sign.offset, *value), 0);
    return true;
  }
  const std::string_view type = token.kind == TokenKind::kInt    ? "int"
                                : token.kind == TokenKind::kUint ? "uint"
                                                                 : "double";
  Push(Refuse(sign.offset, "invalid " + std::string(type) + " literal"), 0);
  return true;
}

void ExpressionParser::ReadText() {
  const Token token = reader_.Take();
  const bool bytes = token.kind == TokenKind::kBytes;
  text::Read<std::string> read = Unquote(reader_.text(token).substr(bytes ? 1 : 0), bytes);
  std::string text;
  if (read.ok()) {
    text = *std::move(read);
  } else {
    Wrong(token.offset, read.error().message());
  }
  Constant value = bytes ? Constant(Bytes{std::move(text)}) : Constant(std::move(text));
  Push(ast_.AddConstant(token.offset, std::move(value)), 0);
}

// A variable, a call of a free function, or the type of a message: [.]a, [.]f(, [.]a.b{.
bool ExpressionParser::ReadName() {
  const std::uint32_t offset = reader_.Peek().offset;
  std::string name;
  if (reader_.kind() == TokenKind::kDot) {
    if (reader_.kind(1) != TokenKind::kIdentifier) {
      reader_.StopWithoutAlternative(1);
      return false;
    }
    reader_.Take();
    name = ".";
  }
  std::size_t last = 0;
  while (reader_.kind(last + 1) == TokenKind::kDot &&
         reader_.kind(last + 2) == TokenKind::kIdentifier) {
    last += 2;
  }
  const bool message = reader_.kind(last + 1) == TokenKind::kLeftBrace;
  for (std::size_t i = 0; message && i < last; ++i) name += reader_.text(reader_.Take());

  const Token token = reader_.Take();
  const std::string_view word = reader_.text(token);
  name += word;
  if (message) return ReadMessage(std::move(name));

  const bool reserved =
      std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved);
  if (reserved) Wrong(offset, "reserved identifier: " + std::string(word));
  if (reader_.kind() == TokenKind::kLeftParenthesis) {
    Frame call = NewFrame(FrameKind::kArguments, reserved ? offset : reader_.Peek().offset);
    if (reserved) call.muted = wrong_.size();
    call.name = std::move(name);
    return ReadCall(std::move(call));
  }
  Push(reserved ? ast_.AddUnspecified(offset) : ast_.AddIdentifier(token.offset, name), 0);
  return true;
}

bool ExpressionParser::ReadCall(Frame call) {
  reader_.Take();
  PushFrame(std::move(call));
  if (!reader_.Sync(kOperandStart | TokenSet{TokenKind::kRightParenthesis})) return false;
  return reader_.kind() == TokenKind::kRightParenthesis ? CloseCall() : BeginOperand();
}

bool ExpressionParser::ReadMessage(std::string type) {
  const Token brace = reader_.Take();
  Frame frame = NewFrame(FrameKind::kField, brace.offset);
  frame.name = std::move(type);
  frame.first_field = reader_.Peek().offset;
  PushFrame(std::move(frame));
  if (!reader_.Sync(kFieldStart | kBraceEnd)) return false;
  return kFieldStart.Has(reader_.kind()) ? ReadField() : CloseBraces();
}

std::string ExpressionParser::FieldName(const Token& token) const {
  std::string_view name = reader_.text(token);
  if (token.kind == TokenKind::kIdentifier) return std::string(name);
  if (!options_.quoted_fields) return {};
  return std::string(name.substr(1, name.size() - 2));
}

bool ExpressionParser::ReadField() {
  const Token first = reader_.Peek();
  const bool optional = first.kind == TokenKind::kQuestionMark;
  if (optional) reader_.Take();
  if (!reader_.Sync(kFieldName)) return false;
  const Token field = reader_.Take();
  const std::string name = FieldName(field);
  entries_.push_back({reader_.Peek().offset, ast_.AddName(name), optional});
  if (!Expect(TokenKind::kColon)) return false;
  if (optional && !options_.optional_syntax) {
    Wrong(first.offset, "unsupported syntax '?'");
    top().muted = wrong_.size();
  } else if (name.empty()) {
    Wrong(top().first_field, "unsupported syntax: '`'");
    top().muted = wrong_.size();
  }
  return BeginOperand();
}

bool ExpressionParser::ReadList() {
  PushFrame(NewFrame(FrameKind::kElement, reader_.Take().offset));
  if (!reader_.Sync(kOptionalOperandStart | kListEnd)) return false;
  return kOptionalOperandStart.Has(reader_.kind()) ? ReadElement() : CloseList();
}

bool ExpressionParser::ReadElement() {
  const bool optional = reader_.kind() == TokenKind::kQuestionMark;
  if (optional) {
    const Token mark = reader_.Take();
    if (!options_.optional_syntax) Wrong(mark.offset, "unsupported syntax '?'");
  }
  entries_.push_back({.optional = optional});
  return BeginOperand();
}

bool ExpressionParser::ReadMap() {
  PushFrame(NewFrame(FrameKind::kKey, reader_.Take().offset));
  if (!reader_.Sync(kOptionalOperandStart | kBraceEnd)) return false;
  return kOptionalOperandStart.Has(reader_.kind()) ? ReadKey() : CloseBraces();
}

bool ExpressionParser::ReadKey() {
  top().kind = FrameKind::kKey;
  top().issues = wrong_.size();
  const bool optional = reader_.kind() == TokenKind::kQuestionMark;
  if (optional) {
    const Token mark = reader_.Take();
    if (!options_.optional_syntax) {
      Wrong(mark.offset, "unsupported syntax '?'");
      top().muted = wrong_.size();
    }
  }
  entries_.push_back({.optional = optional});
  return BeginOperand();
}

}  // namespace apiserver::v0::cel::syntax
