#include "cel/syntax/expression_parser.h"

namespace apiserver::v0::cel::syntax {

Ast ExpressionParser::Run(Issues& issues) {
  PushFrame({});
  bool more = BeginOperand();
  while (more) more = wants_operand_ ? ReadOperand() : ReadOperator();
  issues = reader_.TakeIssues();
  const bool stopped = !frames_.empty();  // The end of the text clears them.
  for (Frame& frame : frames_) {
    // cel-go does not look at a key without a colon.
    if (frame.kind == FrameKind::kKey) wrong_.resize(std::min(wrong_.size(), frame.issues));
    Mute(frame);
  }
  if (!reader_.limited()) {
    for (Issue& wrong : wrong_) issues.Add(wrong.offset, std::move(wrong.message));
    if (!stopped && operands_.back().height > kDepthMax) {
      issues.Add(kNoOffset, "max recursion depth exceeded");
    }
  }
  if (!stopped && issues.empty()) ast_.set_root(operands_.back().node);
  return std::move(ast_);
}

Frame ExpressionParser::NewFrame(FrameKind kind, std::uint32_t offset) const {
  Frame frame;
  frame.kind = kind;
  frame.offset = offset;
  frame.operands = operands_.size();
  frame.entries = entries_.size();
  frame.operators = operators_.size();
  return frame;
}

void ExpressionParser::PushFrame(Frame frame) {
  if (!frames_.empty()) frame.depths = top().depths;
  const bool relation =
      frame.kind == FrameKind::kBinary && frame.precedence == Precedence::kRelation;
  if (frame.kind >= FrameKind::kStart) {
    ++frame.depths.expressions;
    ++frame.depths.relations;
    ++frame.depths.sums;
  } else if (relation) {
    ++frame.depths.relations;
  } else if (frame.kind == FrameKind::kBinary) {
    ++frame.depths.sums;
  }
  frames_.push_back(std::move(frame));
}

std::vector<NodeId> ExpressionParser::PopOperands(std::size_t from, std::uint32_t& height) {
  std::vector<NodeId> nodes;
  nodes.reserve(operands_.size() - from);
  for (std::size_t i = from; i < operands_.size(); ++i) {
    nodes.push_back(operands_[i].node);
    height = std::max(height, operands_[i].height);
  }
  operands_.resize(from);
  return nodes;
}

bool ExpressionParser::CheckDepth() {
  const Depths& depths = top().depths;
  if (std::max({depths.expressions, depths.relations, depths.sums}) <= kDepthMax) return true;
  reader_.StopAtLimit("expression recursion limit exceeded: " + std::to_string(kDepthMax));
  return false;
}

bool ExpressionParser::BeginOperand() {
  wants_operand_ = true;
  return CheckDepth();
}

bool ExpressionParser::Expect(TokenKind kind) {
  if (reader_.kind() == kind) return reader_.Expect(kind, {});
  if (kind == TokenKind::kEnd) return reader_.Expect(kind, {});
  return reader_.Expect(kind, kind == TokenKind::kColon ? kOperandStart : AfterConstruct());
}

// The tokens that may come after the construct of the top frame, which would be complete: it is an
// operand of what the frames below say.
TokenSet ExpressionParser::AfterConstruct() const {
  TokenSet after = kBinaryOperators | TokenSet{TokenKind::kDot, TokenKind::kLeftBracket};
  for (std::size_t i = frames_.size() - 1; i-- > 0;) {
    switch (frames_[i].kind) {
      case FrameKind::kUnary:
      case FrameKind::kBinary:
      case FrameKind::kLogic:
        break;
      case FrameKind::kThen:
        return after | TokenSet{TokenKind::kColon};
      case FrameKind::kElse:
        after = after | TokenSet{TokenKind::kQuestionMark};
        break;
      case FrameKind::kStart:
        return after | TokenSet{TokenKind::kQuestionMark, TokenKind::kEnd};
      case FrameKind::kNested:
        return after | TokenSet{TokenKind::kQuestionMark, TokenKind::kRightParenthesis};
      case FrameKind::kIndex:
        return after | TokenSet{TokenKind::kQuestionMark, TokenKind::kRightBracket};
      case FrameKind::kArguments:
        return after |
               TokenSet{TokenKind::kQuestionMark, TokenKind::kComma, TokenKind::kRightParenthesis};
      case FrameKind::kElement:
        return after | kListEnd | TokenSet{TokenKind::kQuestionMark};
      case FrameKind::kKey:
        return after | TokenSet{TokenKind::kQuestionMark, TokenKind::kColon};
      case FrameKind::kValue:
      case FrameKind::kField:
        return after | kBraceEnd | TokenSet{TokenKind::kQuestionMark};
    }
  }
  return after;
}

Ast Parse(const SourceText& source, const ParseOptions& options, Issues& issues) {
  if (source.size() > kExpressionSizeMax) {
    issues.Add(kNoOffset,
               "expression code point size exceeds limit: size: " + std::to_string(source.size()) +
                   ", limit " + std::to_string(kExpressionSizeMax));
    return {};
  }
  return ExpressionParser(source, options).Run(issues);
}

}  // namespace apiserver::v0::cel::syntax
