#include "cel/syntax/expression_parser.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "cel/syntax/operators.h"

namespace apiserver::v0::cel::syntax {

bool ExpressionParser::EndExpression() {
  Reduce(Precedence::kOr);
  while (top().kind == FrameKind::kElse) {
    // The operands below are the condition and the operand in the middle.
    ReduceTop();
  }
  switch (top().kind) {
    case FrameKind::kThen:
      return EndThen();
    case FrameKind::kNested:
      if (!Expect(TokenKind::kRightParenthesis)) return false;
      frames_.pop_back();
      return true;
    case FrameKind::kIndex:
      return EndIndex();
    case FrameKind::kArguments:
      return EndArgument();
    case FrameKind::kElement:
      return EndElement();
    case FrameKind::kKey:
      return EndKey();
    case FrameKind::kValue:
    case FrameKind::kField:
      return EndValue();
    default:
      if (Expect(TokenKind::kEnd)) frames_.clear();
      return false;
  }
}

bool ExpressionParser::EndThen() {
  if (!Expect(TokenKind::kColon)) return false;
  top().kind = FrameKind::kElse;
  ++top().depths.expressions;
  top().name = operators::kConditional;
  return BeginOperand();
}

bool ExpressionParser::EndIndex() {
  if (!Expect(TokenKind::kRightBracket)) return false;
  const Frame frame = std::move(top());
  frames_.pop_back();
  std::uint32_t height = 0;
  const std::vector<NodeId> nodes = PopOperands(frame.operands - 1, height);
  if (frame.optional && !options_.optional_syntax) {
    Push(Refuse(frame.offset, "unsupported syntax '[?'"), height + 1);
    return true;
  }
  const std::string_view name = frame.optional ? operators::kOptionalIndex : operators::kIndex;
  Push(ast_.AddCall(frame.offset, name, nodes), height + 1);
  return true;
}

bool ExpressionParser::EndArgument() {
  if (reader_.kind() != TokenKind::kComma) return CloseCall();
  reader_.Take();
  return BeginOperand();
}

bool ExpressionParser::CloseCall() {
  if (!Expect(TokenKind::kRightParenthesis)) return false;
  Frame frame = std::move(top());
  frames_.pop_back();
  std::uint32_t height = 0;
  const std::vector<NodeId> arguments = PopOperands(frame.operands, height);
  if (frame.muted != kNotMuted) {
    Mute(frame);
    Push(ast_.AddUnspecified(frame.offset), 0);
    return true;
  }
  NodeId target = kNoNode;
  if (frame.member) {
    height = std::max(height, operands_.back().height) + 1;
    target = operands_.back().node;
    operands_.pop_back();
  }
  const NodeId call = MakeCall(frame, target, arguments);
  if (call == kNoNode) return false;
  Push(call, height);
  return true;
}

NodeId ExpressionParser::MakeCall(const Frame& frame, NodeId target,
                                  std::span<const NodeId> arguments) {
  const std::optional<std::variant<NodeId, Issue>> expansion = ExpandMacro(
      ast_, options_.macros,
      {.function = frame.name, .target = target, .arguments = arguments, .offset = frame.offset});
  if (expansion) {
    if (const auto* wrong = std::get_if<Issue>(&*expansion)) {
      if (wrong->offset != kNoOffset) return Refuse(wrong->offset, wrong->message);
      reader_.StopAtLimit(wrong->message);
      return kNoNode;
    }
  }
  const NodeId written = target == kNoNode
                             ? ast_.AddCall(frame.offset, frame.name, arguments)
                             : ast_.AddMemberCall(frame.offset, frame.name, target, arguments);
  if (!expansion) return written;
  ast_.SetMacroCall(std::get<NodeId>(*expansion), written);
  return std::get<NodeId>(*expansion);
}

bool ExpressionParser::EndElement() {
  const bool another =
      reader_.kind() == TokenKind::kComma && kOptionalOperandStart.Has(reader_.kind(1));
  if (!another) return CloseList();
  reader_.Take();
  return ReadElement();
}

bool ExpressionParser::CloseList() {
  if (!reader_.Sync(kListEnd)) return false;
  if (reader_.kind() == TokenKind::kComma) reader_.Take();
  if (!Expect(TokenKind::kRightBracket)) return false;
  const Frame frame = std::move(top());
  frames_.pop_back();
  std::uint32_t height = 0;
  const std::vector<NodeId> elements = PopOperands(frame.operands, height);
  std::span<const Entry> entries = std::span(entries_).subspan(frame.entries);
  const bool optional = std::any_of(entries.begin(), entries.end(),
                                    [](const Entry& entry) { return entry.optional; });
  if (!optional) entries = {};
  Push(ast_.AddList(frame.offset, elements, entries), height);
  entries_.resize(frame.entries);
  return true;
}

bool ExpressionParser::EndKey() {
  entries_.back().offset = reader_.Peek().offset;
  if (!Expect(TokenKind::kColon)) return false;
  top().kind = FrameKind::kValue;
  return BeginOperand();
}

bool ExpressionParser::EndValue() {
  Mute(top());
  const bool map = top().kind == FrameKind::kValue;
  const TokenSet next = map ? kOptionalOperandStart : kFieldStart;
  const bool another = reader_.kind() == TokenKind::kComma && next.Has(reader_.kind(1));
  if (!another) return CloseBraces();
  reader_.Take();
  return map ? ReadKey() : ReadField();
}

bool ExpressionParser::CloseBraces() {
  if (!reader_.Sync(kBraceEnd)) return false;
  if (reader_.kind() == TokenKind::kComma) reader_.Take();
  if (!Expect(TokenKind::kRightBrace)) return false;
  const Frame frame = std::move(top());
  frames_.pop_back();
  std::uint32_t height = 0;
  const std::vector<NodeId> nodes = PopOperands(frame.operands, height);
  const std::span<const Entry> entries = std::span(entries_).subspan(frame.entries);
  Push(frame.kind == FrameKind::kField ? ast_.AddMessage(frame.offset, frame.name, nodes, entries)
                                       : ast_.AddMap(frame.offset, nodes, entries),
       height);
  entries_.resize(frame.entries);
  return true;
}

}  // namespace apiserver::v0::cel::syntax
