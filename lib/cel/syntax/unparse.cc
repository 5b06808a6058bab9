#include "cel/syntax/unparse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/syntax/operators.h"
#include "text/ascii.h"
#include "text/hex.h"

namespace apiserver::v0::cel::syntax {
namespace {

using std::string_view;

// The precedence of a node's text, from loose to tight.
enum class Level : std::uint8_t {
  kConditional,
  kOr,
  kAnd,
  kRelation,
  kSum,
  kProduct,
  kUnary,
  kOperand
};

struct Sign {
  string_view function;
  string_view text;
  Level level;
};

constexpr Sign kBinarySigns[] = {
    {operators::kLogicalOr, " || ", Level::kOr},
    {operators::kLogicalAnd, " && ", Level::kAnd},
    {operators::kLess, " < ", Level::kRelation},
    {operators::kLessOrEqual, " <= ", Level::kRelation},
    {operators::kGreater, " > ", Level::kRelation},
    {operators::kGreaterOrEqual, " >= ", Level::kRelation},
    {operators::kEqual, " == ", Level::kRelation},
    {operators::kNotEqual, " != ", Level::kRelation},
    {operators::kIn, " in ", Level::kRelation},
    {operators::kAdd, " + ", Level::kSum},
    {operators::kSubtract, " - ", Level::kSum},
    {operators::kMultiply, " * ", Level::kProduct},
    {operators::kDivide, " / ", Level::kProduct},
    {operators::kModulo, " % ", Level::kProduct},
};

const Sign* FindBinary(string_view function) {
  const auto* found = std::find_if(std::begin(kBinarySigns), std::end(kBinarySigns),
                                   [&](const Sign& sign) { return sign.function == function; });
  return found == std::end(kBinarySigns) ? nullptr : found;
}

bool IsPlainField(string_view name) {
  const bool word = name == "true" || name == "false" || name == "null" || name == "in";
  return !word && !name.empty() && !text::IsDigit(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '_'; });
}

std::string FieldText(string_view name) {
  return IsPlainField(name) ? std::string(name) : "`" + std::string(name) + "`";
}

// A quoted literal. Bytes outside ASCII are escaped in a bytes literal and stand as they are in a
// string.
std::string QuotedText(string_view value, bool bytes) {
  std::string out = bytes ? "b\"" : "\"";
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7F || (bytes && code > 0x7F)) {
      out += "\\x";
      text::AppendHex(string_view(&c, 1), out);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string DoubleText(double value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  std::string out(digits.data(), end);
  // An integer's digits are no double literal.
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string ConstantText(const Constant& value) {
  if (const auto* held = std::get_if<bool>(&value)) return *held ? "true" : "false";
  if (const auto* held = std::get_if<std::int64_t>(&value)) return std::to_string(*held);
  if (const auto* held = std::get_if<std::uint64_t>(&value)) return std::to_string(*held) + "u";
  if (const auto* held = std::get_if<double>(&value)) return DoubleText(*held);
  if (const auto* held = std::get_if<std::string>(&value)) return QuotedText(*held, false);
  if (const auto* held = std::get_if<Bytes>(&value)) return QuotedText(held->value, true);
  return "null";
}

// Writes parts from a stack, so that deep trees take no more stack of the thread than others.
class Unparser {
 public:
  explicit Unparser(const Ast& ast) : ast_(ast) { CountTerms(); }

  std::string Run() {
    if (ast_.root() == kNoNode) return {};
    open_.push_back(Operand(ast_.root(), Level::kConditional));
    while (!open_.empty()) {
      const Part part = std::move(open_.back());
      open_.pop_back();
      if (part.node == kNoNode) {
        out_ += part.text;
      } else {
        Write(part);
      }
    }
    return std::move(out_);
  }

 private:
  // A text, or a node that is to become one: in parentheses if it binds less tightly than `level`.
  struct Part {
    NodeId node = kNoNode;
    Level level = Level::kConditional;
    std::string text;
  };
  using Parts = std::vector<Part>;

  static Part Text(string_view text) { return {.text = std::string(text)}; }
  static Part Operand(NodeId node, Level level) { return {.node = node, .level = level}; }

  // The node as it was written: the call of a macro instead of what it was expanded to.
  NodeId Written(NodeId id) const {
    const NodeId call = ast_.macro_call(id);
    return call == kNoNode ? id : call;
  }

  bool IsCallOf(NodeId id, string_view function) const {
    return ast_.node(id).kind == NodeKind::kCall && ast_.name_of(id) == function;
  }

  const Sign* BinaryOf(NodeId id) const {
    const bool binary = ast_.node(id).kind == NodeKind::kCall && ast_.children(id).size() == 2;
    return binary ? FindBinary(ast_.name_of(id)) : nullptr;
  }

  Level LevelOf(NodeId id) const {
    if (const Sign* sign = BinaryOf(id)) return sign->level;
    if (IsCallOf(id, operators::kConditional)) return Level::kConditional;
    const bool unary = IsCallOf(id, operators::kNegate) || IsCallOf(id, operators::kLogicalNot);
    return unary ? Level::kUnary : Level::kOperand;
  }

  // Chains of && and || are parsed to balanced trees. Finds the trees that are balanced so, which
  // need no parentheses inside.
  void CountTerms() {
    terms_.resize(ast_.size(), 1);
    balanced_.resize(ast_.size(), true);
    for (NodeId id = 0; id < ast_.size(); ++id) {
      const Sign* sign = BinaryOf(id);
      if (sign == nullptr || sign->level > Level::kAnd) continue;
      const NodeId left = ast_.children(id)[0];
      const NodeId right = ast_.children(id)[1];
      const bool chained_left = IsCallOf(left, sign->function);
      const bool chained_right = IsCallOf(right, sign->function);
      const std::size_t left_terms = chained_left ? terms_[left] : 1;
      terms_[id] = left_terms + (chained_right ? terms_[right] : 1);
      balanced_[id] = left_terms == (terms_[id] - 1) / 2 + 1 &&
                      (!chained_left || balanced_[left]) && (!chained_right || balanced_[right]);
    }
  }

  void Write(const Part& part) {
    const NodeId id = Written(part.node);
    Parts parts;
    const bool enclosed = LevelOf(id) < part.level;
    if (enclosed) parts.push_back(Text("("));
    AddNode(id, parts);
    if (enclosed) parts.push_back(Text(")"));
    std::move(parts.rbegin(), parts.rend(), std::back_inserter(open_));
  }

  void AddNode(NodeId id, Parts& parts) const {
    switch (ast_.node(id).kind) {
      case NodeKind::kUnspecified:
        break;
      case NodeKind::kConstant:
        parts.push_back(Text(ConstantText(ast_.constant(id))));
        break;
      case NodeKind::kIdentifier:
        parts.push_back(Text(ast_.name_of(id)));
        break;
      case NodeKind::kSelect:
        AddSelect(id, parts);
        break;
      case NodeKind::kCall:
        AddCall(id, parts);
        break;
      case NodeKind::kList:
      case NodeKind::kMap:
      case NodeKind::kMessage:
        AddEntries(id, parts);
        break;
      case NodeKind::kComprehension:
        // Not reached from a root that the parser made: loops are written as macros.
        AddList("@loop(", ast_.children(id), ")", parts);
        break;
    }
  }

  void AddSelect(NodeId id, Parts& parts) const {
    const bool test = ast_.node(id).test_only;
    if (test) parts.push_back(Text("has("));
    parts.push_back(Operand(ast_.children(id)[0], Level::kOperand));
    parts.push_back(Text("." + FieldText(ast_.name_of(id)) + (test ? ")" : "")));
  }

  void AddCall(NodeId id, Parts& parts) const {
    const std::span<const NodeId> children = ast_.children(id);
    if (const Sign* sign = BinaryOf(id)) {
      const auto tighter = static_cast<Level>(static_cast<int>(sign->level) + 1);
      const bool chain = sign->level <= Level::kAnd && balanced_[id];
      const bool left = sign->level > Level::kAnd || chain;
      parts.push_back(Operand(children[0], left ? sign->level : tighter));
      parts.push_back(Text(sign->text));
      parts.push_back(Operand(children[1], chain ? sign->level : tighter));
    } else if (IsCallOf(id, operators::kConditional)) {
      parts.push_back(Operand(children[0], Level::kOr));
      parts.push_back(Text(" ? "));
      parts.push_back(Operand(children[1], Level::kOr));
      parts.push_back(Text(" : "));
      parts.push_back(Operand(children[2], Level::kConditional));
    } else if (LevelOf(id) == Level::kUnary) {
      AddUnary(id, parts);
    } else if (IsCallOf(id, operators::kOptionalSelect)) {
      const auto* field = std::get_if<std::string>(&ast_.constant(children[1]));
      parts.push_back(Operand(children[0], Level::kOperand));
      parts.push_back(Text(".?" + FieldText(field == nullptr ? "" : *field)));
    } else if (IsCallOf(id, operators::kIndex) || IsCallOf(id, operators::kOptionalIndex)) {
      parts.push_back(Operand(children[0], Level::kOperand));
      parts.push_back(Text(IsCallOf(id, operators::kIndex) ? "[" : "[?"));
      parts.push_back(Operand(children[1], Level::kConditional));
      parts.push_back(Text("]"));
    } else {
      AddFunction(id, parts);
    }
  }

  void AddUnary(NodeId id, Parts& parts) const {
    const NodeId operand = ast_.children(id)[0];
    const bool negates = IsCallOf(id, operators::kNegate);
    parts.push_back(Text(negates ? "-" : "!"));
    // A minus before a number would become part of it.
    const bool enclosed = negates && BeginsWithNumber(operand);
    if (enclosed) parts.push_back(Text("("));
    parts.push_back(Operand(operand, enclosed ? Level::kConditional : Level::kOperand));
    if (enclosed) parts.push_back(Text(")"));
  }

  bool BeginsWithNumber(NodeId id) const {
    id = Written(id);
    while (LevelOf(id) == Level::kOperand && !ast_.children(id).empty()) {
      const Node& node = ast_.node(id);
      const bool index = IsCallOf(id, operators::kIndex) ||
                         IsCallOf(id, operators::kOptionalIndex) ||
                         IsCallOf(id, operators::kOptionalSelect);
      const bool selects = node.kind == NodeKind::kSelect && !node.test_only;
      if (!selects && !index && !node.has_target) return false;
      id = Written(ast_.children(id)[0]);
    }
    if (ast_.node(id).kind != NodeKind::kConstant) return false;
    const Constant& value = ast_.constant(id);
    return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
  }

  void AddFunction(NodeId id, Parts& parts) const {
    const NodeId target = ast_.target(id);
    if (target != kNoNode) {
      parts.push_back(Operand(target, Level::kOperand));
      parts.push_back(Text("."));
    }
    AddList(std::string(ast_.name_of(id)) + "(", ast_.arguments(id), ")", parts);
  }

  static void AddList(string_view open, std::span<const NodeId> nodes, string_view close,
                      Parts& parts) {
    parts.push_back(Text(open));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0) parts.push_back(Text(", "));
      parts.push_back(Operand(nodes[i], Level::kConditional));
    }
    parts.push_back(Text(close));
  }

  // A list, map or message.
  void AddEntries(NodeId id, Parts& parts) const {
    const std::span<const NodeId> children = ast_.children(id);
    const NodeKind kind = ast_.node(id).kind;
    const bool list = kind == NodeKind::kList;
    const bool map = kind == NodeKind::kMap;
    parts.push_back(Text(list ? "[" : std::string(ast_.name_of(id)) + "{"));
    for (std::size_t i = 0; i < ast_.entry_count(id); ++i) {
      const Entry entry = ast_.entry(id, i);
      parts.push_back(Text((i > 0 ? ", " : "") + std::string(entry.optional ? "?" : "")));
      if (map) parts.push_back(Operand(children[2 * i], Level::kConditional));
      if (kind == NodeKind::kMessage) parts.push_back(Text(FieldText(ast_.name(entry.field))));
      if (!list) parts.push_back(Text(": "));
      parts.push_back(Operand(children[map ? 2 * i + 1 : i], Level::kConditional));
    }
    parts.push_back(Text(list ? "]" : "}"));
  }

  const Ast& ast_;
  std::vector<std::size_t> terms_;
  std::vector<bool> balanced_;
  Parts open_;
  std::string out_;
};

}  // namespace

std::string Unparse(const Ast& ast) { return Unparser(ast).Run(); }

}  // namespace apiserver::v0::cel::syntax
