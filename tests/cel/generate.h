#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Random expressions of CEL that mostly compile, from a grammar of typed productions.
namespace cel_test {

// A source of numbers that are the same on every machine: splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // Takes the numbers from the bytes, two for each, before those of the seed 0. Borrows them.
  explicit Random(std::span<const std::uint8_t> bytes) : state_(0), bytes_(bytes) {}

  std::uint64_t Next();
  // Returns a number below `count`, which must not be 0.
  std::size_t Below(std::size_t count) { return Next() % count; }
  bool Chance(std::size_t percent) { return Below(100) < percent; }
  template <class T>
  const T& Pick(const std::vector<T>& all) {
    return all[Below(all.size())];
  }

 private:
  std::uint64_t state_;
  std::span<const std::uint8_t> bytes_ = {};
};

// A type as the grammar spells it: "int", "list(string)", "map(string, T)"; `small` is an int of a
// few, `pattern`, `zone` and so on are strings that a function wants.
struct Shape {
  std::string name;
  std::vector<Shape> parameters = {};

  friend bool operator==(const Shape&, const Shape&) = default;
};
Shape ParseShape(std::string_view text);
std::string TextOf(const Shape& shape);

// An expression without parts that has a value: "self.s", "o.a.b".
struct Term {
  std::string text;
  Shape shape;
};

// Makes expressions over given terms. The same seed makes the same expressions.
class Generator {
 public:
  Generator(Random random, std::vector<Term> terms);

  // Makes an expression, most often of type bool; about one in thirty has a part of a wrong type.
  std::string Expression();
  // Makes one of that type, or with a part of a wrong type.
  std::string ExpressionOf(std::string_view type);

 private:
  struct Binding {
    std::string name;  // Of a type variable or of a loop's variable.
    Shape shape;
  };
  using Bindings = std::vector<Binding>;

  std::string Make(const Shape& shape, int depth);
  std::string MakeTerm(const Shape& shape);
  std::string Literal(const Shape& shape);
  std::string Fill(std::string_view pattern, Bindings types, int depth);
  std::string FillHole(std::string_view hole, Bindings& types, const Bindings& names, int depth);
  Shape Concrete(const Shape& shape, Bindings& types);
  Shape AnyShape();

  Random random_;
  std::vector<Term> terms_;
  Bindings locals_;
};

// Changes an expression in one place: a token is replaced, left out or doubled, or the whole is put
// into another expression, with `other` beside it.
std::string Mutate(std::string_view expression, std::string_view other, Random& random);

}  // namespace cel_test
