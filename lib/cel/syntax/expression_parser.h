#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/syntax/ast.h"
#include "cel/syntax/parser.h"
#include "cel/syntax/source.h"
#include "cel/syntax/token_reader.h"

// The parser behind Parse(). It keeps operators in the order of their precedence on a stack of its
// own: operands that are complete, and frames for what waits for another operand. Deep nesting
// costs memory for frames, never stack.
namespace apiserver::inline v0::cel::syntax {

// The precedence of binary operators, from loose to tight.
enum class Precedence : std::uint8_t { kOr, kAnd, kRelation, kSum, kProduct };

enum class FrameKind : std::uint8_t {
  // Operators that wait for their right operand.
  kUnary,
  kBinary,
  kLogic,  // A chain of && or ||.
  kThen,   // a ? here
  kElse,   // a ? b : here
  // Constructs with an expression inside.
  kStart,
  kNested,  // (here)
  kIndex,
  kArguments,
  kElement,
  kKey,
  kValue,
  kField,
};

// How often the grammar's rules that enter themselves have been entered: ANTLR's parser counts
// each.
struct Depths {
  std::uint32_t expressions = 0;
  std::uint32_t relations = 0;
  std::uint32_t sums = 0;
};

inline constexpr std::size_t kNotMuted = static_cast<std::size_t>(-1);

// An operator or construct that is not complete.
struct Frame {
  FrameKind kind = FrameKind::kStart;
  Precedence precedence = Precedence::kOr;
  bool member = false;       // kArguments: the operand below `operands` is the target.
  bool optional = false;     // kIndex: a[?b].
  Depths depths;             // The counts of this frame and those below it.
  std::uint32_t offset = 0;  // The place of the node to be made.
  std::size_t operands = 0;  // The stack's height below what belongs to this frame.
  std::size_t entries = 0;
  std::size_t operators = 0;  // kLogic: where its operators' offsets begin.
  std::size_t issues = 0;     // kKey: the number of issues before the key.
  // The number of issues before a part that cel-go does not look at; issues beyond are dropped.
  std::size_t muted = kNotMuted;
  std::uint32_t first_field = 0;  // kField: the offset of the first field.
  std::string name;               // The operator, function or message type.
};

struct Operand {
  NodeId node = kNoNode;
  std::uint32_t height = 0;  // The nodes below each other that kDepthMax counts.
};

struct BinaryOperator {
  TokenKind token;
  Precedence precedence;
  std::string_view name;
};

inline constexpr TokenSet kOptionalOperandStart =
    kOperandStart | TokenSet{TokenKind::kQuestionMark};
inline constexpr TokenSet kFieldName = {TokenKind::kIdentifier, TokenKind::kQuotedIdentifier};
inline constexpr TokenSet kFieldStart = kFieldName | TokenSet{TokenKind::kQuestionMark};
inline constexpr TokenSet kListEnd = {TokenKind::kRightBracket, TokenKind::kComma};
inline constexpr TokenSet kBraceEnd = {TokenKind::kRightBrace, TokenKind::kComma};

class ExpressionParser {
 public:
  ExpressionParser(const SourceText& source, const ParseOptions& options)
      : options_(options), reader_(source) {}

  Ast Run(Issues& issues);

 private:
  // Each Read* function takes what it is named after. False: the reader has stopped, or all is
  // read.
  [[nodiscard]] bool ReadOperand();
  [[nodiscard]] bool ReadNots();
  [[nodiscard]] bool ReadMinuses();
  [[nodiscard]] bool ReadPrimary();
  [[nodiscard]] bool ReadNumber(const Token& sign);
  void ReadText();
  [[nodiscard]] bool ReadName();
  [[nodiscard]] bool ReadCall(Frame call);
  [[nodiscard]] bool ReadMessage(std::string type);
  [[nodiscard]] bool ReadField();
  [[nodiscard]] bool ReadList();
  [[nodiscard]] bool ReadElement();
  [[nodiscard]] bool ReadMap();
  [[nodiscard]] bool ReadKey();

  [[nodiscard]] bool ReadOperator();
  [[nodiscard]] bool ReadSelect();
  [[nodiscard]] bool ReadIndex();
  [[nodiscard]] bool ReadBinary(const BinaryOperator& binary);
  [[nodiscard]] bool ReadQuestionMark();

  // Each End* function continues after an expression that is complete inside a construct.
  [[nodiscard]] bool EndExpression();
  [[nodiscard]] bool EndThen();
  [[nodiscard]] bool EndIndex();
  [[nodiscard]] bool EndArgument();
  [[nodiscard]] bool EndElement();
  [[nodiscard]] bool EndKey();
  [[nodiscard]] bool EndValue();
  [[nodiscard]] bool CloseCall();
  [[nodiscard]] bool CloseList();
  [[nodiscard]] bool CloseBraces();

  // Expects an operand inside the top frame. False: it is too deep.
  [[nodiscard]] bool BeginOperand();
  [[nodiscard]] bool CheckDepth();
  [[nodiscard]] bool Expect(TokenKind kind);
  TokenSet AfterConstruct() const;

  // Makes nodes of operators above the topmost construct that bind tighter than, or as tight as,
  // `precedence`.
  void Reduce(Precedence precedence);
  void ReduceTop();
  NodeId Balance(const Frame& frame, std::size_t low, std::size_t high);
  // Makes the node of a call or what its macro is expanded to. kNoNode: the tree has become too
  // large.
  NodeId MakeCall(const Frame& frame, NodeId target, std::span<const NodeId> arguments);

  Frame& top() { return frames_.back(); }
  Frame NewFrame(FrameKind kind, std::uint32_t offset) const;
  void PushFrame(Frame frame);
  void Push(NodeId node, std::uint32_t height) {
    operands_.push_back({node, height});
    wants_operand_ = false;
  }
  // Takes the operands of a frame off the stack: their nodes, and the largest of their heights.
  std::vector<NodeId> PopOperands(std::size_t from, std::uint32_t& height);
  void Wrong(std::uint32_t offset, std::string message) {
    wrong_.push_back({offset, std::move(message)});
  }
  NodeId Refuse(std::uint32_t offset, std::string message) {
    Wrong(offset, std::move(message));
    return ast_.AddUnspecified(offset);
  }
  // Drops the issues of a part that cel-go does not look at, once it is complete.
  void Mute(Frame& frame) {
    if (frame.muted != kNotMuted) wrong_.resize(std::min(wrong_.size(), frame.muted));
    frame.muted = kNotMuted;
  }
  // The name that a token of kFieldName stands for; empty if it has backticks and must not have
  // any.
  std::string FieldName(const Token& token) const;

  const ParseOptions& options_;
  TokenReader reader_;
  Ast ast_;
  std::vector<Frame> frames_;
  std::vector<Operand> operands_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> operators_;  // Offsets of && and || of open chains.
  std::vector<Issue> wrong_;              // Issues beside syntax errors.
  bool wants_operand_ = true;
};

}  // namespace apiserver::inline v0::cel::syntax
