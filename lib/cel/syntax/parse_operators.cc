#include "cel/syntax/expression_parser.h"

#include <array>

#include "cel/syntax/operators.h"

namespace apiserver::v0::cel::syntax {
namespace {

constexpr BinaryOperator kBinary[] = {
    {TokenKind::kOr, Precedence::kOr, operators::kLogicalOr},
    {TokenKind::kAnd, Precedence::kAnd, operators::kLogicalAnd},
    {TokenKind::kLess, Precedence::kRelation, operators::kLess},
    {TokenKind::kLessEquals, Precedence::kRelation, operators::kLessOrEqual},
    {TokenKind::kGreater, Precedence::kRelation, operators::kGreater},
    {TokenKind::kGreaterEquals, Precedence::kRelation, operators::kGreaterOrEqual},
    {TokenKind::kEquals, Precedence::kRelation, operators::kEqual},
    {TokenKind::kNotEquals, Precedence::kRelation, operators::kNotEqual},
    {TokenKind::kIn, Precedence::kRelation, operators::kIn},
    {TokenKind::kPlus, Precedence::kSum, operators::kAdd},
    {TokenKind::kMinus, Precedence::kSum, operators::kSubtract},
    {TokenKind::kStar, Precedence::kProduct, operators::kMultiply},
    {TokenKind::kSlash, Precedence::kProduct, operators::kDivide},
    {TokenKind::kPercent, Precedence::kProduct, operators::kModulo},
};

}  // namespace

bool ExpressionParser::ReadOperator() {
  const TokenKind kind = reader_.kind();
  if (kind == TokenKind::kDot) return ReadSelect();
  if (kind == TokenKind::kLeftBracket) return ReadIndex();
  if (top().kind == FrameKind::kUnary) ReduceTop();
  for (const BinaryOperator& binary : kBinary) {
    if (binary.token == kind) return ReadBinary(binary);
  }
  return kind == TokenKind::kQuestionMark ? ReadQuestionMark() : EndExpression();
}

// a.b, a.?b and a.f(.
bool ExpressionParser::ReadSelect() {
  const bool optional = reader_.kind(1) == TokenKind::kQuestionMark;
  if (!optional && !kFieldName.Has(reader_.kind(1))) {
    reader_.StopWithoutAlternative(1);
    return false;
  }
  const Token dot = reader_.Take();
  if (optional) reader_.Take();
  if (!reader_.Sync(kFieldName)) return false;
  const Token field = reader_.Take();
  const bool call = !optional && field.kind == TokenKind::kIdentifier &&
                    reader_.kind() == TokenKind::kLeftParenthesis;
  if (call) {
    Frame frame = NewFrame(FrameKind::kArguments, reader_.Peek().offset);
    frame.member = true;
    frame.name = reader_.text(field);
    return ReadCall(std::move(frame));
  }
  const std::string name = FieldName(field);
  if (name.empty()) Wrong(field.offset, "unsupported syntax: '`'");
  Operand& operand = operands_.back();
  ++operand.height;
  if (!optional) {
    operand.node = ast_.AddSelect(dot.offset, operand.node, name);
  } else if (options_.optional_syntax) {
    const NodeId key = ast_.AddConstant(field.offset, name);
    operand.node =
        ast_.AddCall(dot.offset, operators::kOptionalSelect, std::array{operand.node, key});
  } else {
    operand.node = Refuse(dot.offset, "unsupported syntax '.?'");
  }
  return true;
}

bool ExpressionParser::ReadIndex() {
  Frame frame = NewFrame(FrameKind::kIndex, reader_.Take().offset);
  if (!reader_.Sync(kOptionalOperandStart)) return false;
  frame.optional = reader_.kind() == TokenKind::kQuestionMark;
  if (frame.optional) reader_.Take();
  PushFrame(std::move(frame));
  return BeginOperand();
}

bool ExpressionParser::ReadBinary(const BinaryOperator& binary) {
  const bool logic = binary.precedence <= Precedence::kAnd;
  const Token token = reader_.Take();
  if (!logic) {
    Reduce(binary.precedence);
    Frame frame = NewFrame(FrameKind::kBinary, token.offset);
    --frame.operands;
    frame.precedence = binary.precedence;
    frame.name = binary.name;
    PushFrame(std::move(frame));
    return BeginOperand();
  }
  // A chain stays open as long as its own operator follows.
  Reduce(static_cast<Precedence>(static_cast<int>(binary.precedence) + 1));
  if (top().kind != FrameKind::kLogic || top().precedence != binary.precedence) {
    Frame frame = NewFrame(FrameKind::kLogic, token.offset);
    --frame.operands;
    frame.precedence = binary.precedence;
    frame.name = binary.name;
    PushFrame(std::move(frame));
  }
  operators_.push_back(token.offset);
  return BeginOperand();
}

bool ExpressionParser::ReadQuestionMark() {
  Reduce(Precedence::kOr);
  // The middle operand of a conditional is no conditional without parentheses.
  if (top().kind == FrameKind::kThen) return EndThen();
  Frame frame = NewFrame(FrameKind::kThen, reader_.Take().offset);
  --frame.operands;
  PushFrame(std::move(frame));
  return BeginOperand();
}

void ExpressionParser::Reduce(Precedence precedence) {
  while ((top().kind == FrameKind::kBinary || top().kind == FrameKind::kLogic) &&
         top().precedence >= precedence) {
    ReduceTop();
  }
}

void ExpressionParser::ReduceTop() {
  const Frame frame = std::move(top());
  frames_.pop_back();
  std::uint32_t height = 0;
  NodeId node = kNoNode;
  if (frame.kind == FrameKind::kLogic) {
    node = Balance(frame, 0, operators_.size() - frame.operators - 1);
    PopOperands(frame.operands, height);
    operators_.resize(frame.operators);
  } else {
    const std::vector<NodeId> nodes = PopOperands(frame.operands, height);
    node = ast_.AddCall(frame.offset, frame.name, nodes);
    if (frame.kind != FrameKind::kUnary) ++height;
  }
  Push(node, height);
}

// Makes a balanced tree of the operators from `low` to `high` of a chain. It recurses as deep as
// the tree: seventeen calls for the longest expression.
NodeId ExpressionParser::Balance(const Frame& frame, std::size_t low, std::size_t high) {
  const auto operand = [&](std::size_t index) { return operands_[frame.operands + index].node; };
  const std::size_t middle = (low + high + 1) / 2;
  const NodeId left = middle == low ? operand(middle) : Balance(frame, low, middle - 1);
  const NodeId right = middle == high ? operand(middle + 1) : Balance(frame, middle + 1, high);
  return ast_.AddCall(operators_[frame.operators + middle], frame.name, std::array{left, right});
}

}  // namespace apiserver::v0::cel::syntax
