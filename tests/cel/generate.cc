#include "cel/generate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "cel/generate_grammar.h"

namespace cel_test {
namespace {

constexpr int kDepth = 5;
constexpr int kChanceOfTerm = 35;
constexpr int kChanceOfWrongType = 2;
constexpr int kChanceOfDyn = 4;

// The types that T, K and V may stand for.
constexpr std::string_view kAnyTypes[] = {
    "bool",   "int",       "int",      "uint", "double",    "string",       "string",
    "bytes",  "timestamp", "duration", "dyn",  "list(int)", "list(string)", "map(string, int)",
    "net.IP",
};
// The types of whole expressions.
constexpr std::string_view kWholeTypes[] = {
    "bool",
    "bool",
    "bool",
    "bool",
    "bool",
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "string",
    "bytes",
    "timestamp",
    "duration",
    "dyn",
    "list(int)",
    "list(string)",
    "list(dyn)",
    "map(string, int)",
    "map(string, string)",
    "optional_type(int)",
    "optional_type(string)",
    "list(list(int))",
};

bool IsTypeVariable(const Shape& shape) {
  return shape.parameters.empty() && (shape.name == "T" || shape.name == "K" || shape.name == "V");
}

// Reads a shape and moves `text` behind it.
Shape TakeShape(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("(,)"), text.size());
  Shape shape = {std::string(text.substr(0, end))};
  text.remove_prefix(end);
  if (!text.starts_with('(')) return shape;
  while (text.starts_with('(') || text.starts_with(',')) {
    text.remove_prefix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    shape.parameters.push_back(TakeShape(text));
  }
  text.remove_prefix(1);  // ')'
  return shape;
}

struct ParsedProduction {
  Shape result;
  std::string_view pattern;
};

std::vector<ParsedProduction> Parse(std::span<const Production> productions) {
  std::vector<ParsedProduction> parsed;
  for (const Production& production : productions) {
    parsed.push_back({ParseShape(production.result), production.pattern});
  }
  return parsed;
}
const std::vector<ParsedProduction>& Productions() {
  static const std::vector<ParsedProduction> kParsed = Parse(kProductions);
  return kParsed;
}
const std::vector<ParsedProduction>& Literals() {
  static const std::vector<ParsedProduction> kParsed = Parse(kLiterals);
  return kParsed;
}

// Finds what the result's one type variable stands for, if the production can make `wanted`.
std::optional<Shape> Match(const Shape& result, const Shape& wanted) {
  if (IsTypeVariable(result)) return wanted;
  if (result.name != wanted.name || result.parameters.size() != wanted.parameters.size()) {
    return std::nullopt;
  }
  std::optional<Shape> variable = Shape();
  for (std::size_t i = 0; i < result.parameters.size(); ++i) {
    const std::optional<Shape> part = Match(result.parameters[i], wanted.parameters[i]);
    if (!part) return std::nullopt;
    if (!part->name.empty()) variable = part;
  }
  return variable;
}

// The end of the hole that begins at `open`: its brace.
std::size_t EndOfHole(std::string_view pattern, std::size_t open) {
  return pattern.find('}', open);
}

// A hole begins with a letter; a map's brace is followed by another hole or a question mark.
bool BeginsHole(std::string_view pattern, std::size_t at) {
  return pattern[at] == '{' && at + 1 < pattern.size() &&
         std::isalpha(static_cast<unsigned char>(pattern[at + 1])) != 0;
}

}  // namespace

std::uint64_t Random::Next() {
  if (bytes_.size() >= 2) {
    const std::uint64_t taken = bytes_[0] | std::uint64_t{bytes_[1]} << 8U;
    bytes_ = bytes_.subspan(2);
    return taken;
  }
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31U);
}

Shape ParseShape(std::string_view text) { return TakeShape(text); }

std::string TextOf(const Shape& shape) {
  std::string text = shape.name;
  for (std::size_t i = 0; i < shape.parameters.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + TextOf(shape.parameters[i]);
  }
  return shape.parameters.empty() ? text : text + ")";
}

Generator::Generator(Random random, std::vector<Term> terms)
    : random_(random), terms_(std::move(terms)) {}

std::string Generator::Expression() {
  return ExpressionOf(kWholeTypes[random_.Below(std::size(kWholeTypes))]);
}

std::string Generator::ExpressionOf(std::string_view type) {
  locals_.clear();
  return Make(ParseShape(type), 1 + static_cast<int>(random_.Below(kDepth)));
}

Shape Generator::AnyShape() { return ParseShape(kAnyTypes[random_.Below(std::size(kAnyTypes))]); }

std::string Generator::Make(const Shape& shape, int depth) {
  if (random_.Chance(kChanceOfWrongType)) return MakeTerm(AnyShape());
  if (shape.name != "dyn" && shape.name != "field" && random_.Chance(kChanceOfDyn)) {
    const bool wants_value = shape.parameters.empty() && shape.name.find('.') == std::string::npos;
    if (wants_value && depth > 0) return MakeTerm({"dyn"});
  }
  if (depth <= 0 || random_.Chance(kChanceOfTerm)) return MakeTerm(shape);
  std::vector<std::pair<const ParsedProduction*, Shape>> fitting;
  for (const ParsedProduction& production : Productions()) {
    if (const std::optional<Shape> variable = Match(production.result, shape)) {
      // Productions of every type would drown the few of a leaf.
      if (IsTypeVariable(production.result) && random_.Chance(60)) continue;
      fitting.emplace_back(&production, *variable);
    }
  }
  if (fitting.empty()) return MakeTerm(shape);
  const auto& [production, variable] = random_.Pick(fitting);
  Bindings types;
  if (!variable.name.empty()) types.push_back({"T", variable});
  return Fill(production->pattern, std::move(types), depth - 1);
}

// A variable of a loop, a term, or a literal of the shape.
std::string Generator::MakeTerm(const Shape& shape) {
  std::vector<std::string> fitting;
  for (const Binding& local : locals_) {
    // Loops should use their variables: each counts for several.
    if (local.shape == shape) fitting.insert(fitting.end(), 4, local.name);
  }
  for (const Term& term : terms_) {
    if (term.shape == shape) fitting.push_back(term.text);
  }
  if (!fitting.empty() && random_.Chance(70)) return random_.Pick(fitting);
  return Literal(shape);
}

std::string Generator::Literal(const Shape& shape) {
  if (shape.name == "list") {
    return random_.Chance(15) ? "[]" : "[" + MakeTerm(shape.parameters[0]) + "]";
  }
  if (shape.name == "map") {
    if (random_.Chance(15)) return "{}";
    const Shape key = shape.parameters[0].name == "string" ? Shape{"key"} : shape.parameters[0];
    return "{" + Literal(key) + ": " + MakeTerm(shape.parameters[1]) + "}";
  }
  if (shape.name == "optional_type") {
    if (random_.Chance(30)) return "optional.none()";
    return "optional.of(" + MakeTerm(shape.parameters[0]) + ")";
  }
  std::vector<std::string> fitting;
  for (const ParsedProduction& literal : Literals()) {
    if (literal.result == shape) fitting.emplace_back(literal.pattern);
  }
  // A struct has no literal: any term of it will do.
  for (const Term& term : terms_) {
    if (fitting.empty() && term.shape == shape) return term.text;
  }
  return fitting.empty() ? "null" : random_.Pick(fitting);
}

// Replaces the type variables of a hole; those without a type yet get one.
Shape Generator::Concrete(const Shape& shape, Bindings& types) {
  if (IsTypeVariable(shape)) {
    for (const Binding& known : types) {
      if (known.name == shape.name) return known.shape;
    }
    types.push_back({shape.name, AnyShape()});
    return types.back().shape;
  }
  Shape concrete = {shape.name};
  for (const Shape& part : shape.parameters) concrete.parameters.push_back(Concrete(part, types));
  return concrete;
}

std::string Generator::Fill(std::string_view pattern, Bindings types, int depth) {
  static constexpr std::array<std::string_view, 6> kNames = {"e", "v", "it", "x1", "k", "p"};
  // The loop's variables, by the letter after the dollar sign.
  Bindings names;
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '$') {
      const std::string letter(1, pattern[++at]);
      const std::size_t used = locals_.size() + names.size();
      names.push_back({letter, {std::string(kNames[used % kNames.size()])}});
      text += names.back().shape.name;
    } else if (BeginsHole(pattern, at)) {
      const std::size_t end = EndOfHole(pattern, at);
      text += FillHole(pattern.substr(at + 1, end - at - 1), types, names, depth);
      at = end;
    } else {
      text += pattern[at];
    }
  }
  return text;
}

// `hole`: "int", or "bool;x=T;y=int".
std::string Generator::FillHole(std::string_view hole, Bindings& types, const Bindings& names,
                                int depth) {
  const std::size_t locals = locals_.size();
  std::size_t semicolon = hole.find(';');
  const Shape shape = Concrete(ParseShape(hole.substr(0, semicolon)), types);
  while (semicolon != std::string_view::npos) {
    hole.remove_prefix(semicolon + 1);
    semicolon = hole.find(';');
    const Shape type = Concrete(ParseShape(hole.substr(2, semicolon - 2)), types);
    for (const Binding& name : names) {
      if (name.name[0] == hole[0]) locals_.push_back({name.shape.name, type});
    }
  }
  std::string text = Make(shape, depth);
  locals_.resize(locals);
  return text;
}

}  // namespace cel_test
