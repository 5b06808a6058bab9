#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "cel/syntax/ast.h"
#include "text/hex.h"

namespace apiserver::testing {

// Writes a syntax tree as nested lists: `(call@2 _+_ (id@0 a) (c@4 i:1))`. Strings are hexadecimal.
class TreeText {
 public:
  // `places`: with the offset of every node behind an @.
  explicit TreeText(const cel::syntax::Ast& ast, bool places = true) : ast_(ast), places_(places) {}

  std::string Write() {
    Node(ast_.root());
    return std::move(out_);
  }

 private:
  using NodeId = cel::syntax::NodeId;

  void Place(std::uint32_t offset) {
    if (places_) out_ += '@' + std::to_string(offset);
  }

  void Open(std::string_view kind, NodeId id) {
    out_ += '(';
    out_ += kind;
    Place(ast_.node(id).offset);
  }

  void Word(std::string_view word) {
    out_ += ' ';
    out_ += word;
  }

  void Hex(std::string_view kind, std::string_view bytes) {
    Word(kind);
    text::AppendHex(bytes, out_);
  }

  void Value(const cel::syntax::Constant& value) {
    if (std::holds_alternative<std::monostate>(value)) Word("null");
    if (const auto* held = std::get_if<bool>(&value)) Word(*held ? "true" : "false");
    if (const auto* held = std::get_if<std::int64_t>(&value)) Word("i:" + std::to_string(*held));
    if (const auto* held = std::get_if<std::uint64_t>(&value)) Word("u:" + std::to_string(*held));
    if (const auto* held = std::get_if<std::string>(&value)) Hex("s:", *held);
    if (const auto* held = std::get_if<cel::syntax::Bytes>(&value)) Hex("b:", held->value);
    if (const auto* held = std::get_if<double>(&value)) {
      std::string bytes;
      const auto bits = std::bit_cast<std::uint64_t>(*held);
      for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
      Hex("d:", bytes);
    }
  }

  void Children(NodeId id) {
    for (const NodeId child : ast_.children(id)) {
      out_ += ' ';
      Node(child);
    }
  }

  void List(NodeId id) {
    for (std::size_t i = 0; i < ast_.entry_count(id); ++i) {
      out_ += ast_.entry(id, i).optional ? " ?" : " ";
      Node(ast_.children(id)[i]);
    }
  }

  void Entries(NodeId id) {
    const bool map = ast_.node(id).kind == cel::syntax::NodeKind::kMap;
    for (std::size_t i = 0; i < ast_.entry_count(id); ++i) {
      const cel::syntax::Entry entry = ast_.entry(id, i);
      out_ += entry.optional ? " [?" : " [";
      Place(entry.offset);
      out_ += ' ';
      if (map) {
        Node(ast_.children(id)[2 * i]);
      } else {
        out_ += ast_.name(entry.field);
      }
      out_ += ' ';
      Node(ast_.children(id)[map ? 2 * i + 1 : i]);
      out_ += ']';
    }
  }

  void Loop(NodeId id) {
    const cel::syntax::Comprehension loop = ast_.comprehension(id);
    Word(ast_.name(loop.variable));
    Word(loop.second_variable == cel::syntax::kNoName ? "-" : ast_.name(loop.second_variable));
    Word(ast_.name(loop.accumulator));
    Children(id);
  }

  // Recurses: trees of tests are not deep.
  void Node(NodeId id) {
    const cel::syntax::Node& node = ast_.node(id);
    constexpr std::array kKinds = {"unspecified", "c",   "id",  "sel", "call",
                                   "list",        "map", "msg", "loop"};
    std::string_view kind = kKinds[static_cast<std::size_t>(node.kind)];
    if (node.test_only) kind = "has";
    if (node.has_target) kind = "mcall";
    Open(kind, id);
    switch (node.kind) {
      case cel::syntax::NodeKind::kConstant:
        Value(ast_.constant(id));
        break;
      case cel::syntax::NodeKind::kList:
        List(id);
        break;
      case cel::syntax::NodeKind::kMap:
        Entries(id);
        break;
      case cel::syntax::NodeKind::kMessage:
        Word(ast_.name_of(id));
        Entries(id);
        break;
      case cel::syntax::NodeKind::kComprehension:
        Loop(id);
        break;
      default:
        Word(ast_.name_of(id));
        Children(id);
    }
    out_ += ')';
  }

  const cel::syntax::Ast& ast_;
  bool places_;
  std::string out_;
};

}  // namespace apiserver::testing
