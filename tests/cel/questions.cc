#include "cel/questions.h"

#include <fstream>
#include <functional>
#include <stdexcept>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "cel/bounded_world.h"
#include "cel/generate.h"

namespace cel_test {
namespace {

namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;

// Reads the lines of a file as JSON and hands each to `take`.
void ReadLines(const std::string& file,
               const std::function<void(const runtime::Value&, runtime::Arena&)>& take) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  for (std::string line; std::getline(in, line);) {
    runtime::Arena arena;
    const apiserver::Result<runtime::Value> value = codec::ParseJson(line, arena);
    if (!value.ok()) throw std::runtime_error(file + ": " + std::string(value.status().message()));
    take(*value, arena);
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  return quoted;
}

void Ask(std::size_t id, std::string_view environment, std::string_view inputs,
         std::string_view expression, std::ostream& out) {
  out << R"({"id":)" << id << R"(,"env":)" << Quoted(environment) << R"(,"inputs":)"
      << Quoted(inputs) << R"(,"expr":)" << Quoted(expression) << "}\n";
}

std::string Json(const runtime::Value& value) {
  std::string text;
  codec::AppendJson(value, text);
  return text;
}

// An environment with inputs, and expressions over its variables.
struct World {
  std::string name;
  std::size_t inputs;
  Generator generator;
};

// Asks the expressions of a file, a line each, with every input.
void AskAll(const std::string& file, const std::vector<World>& worlds, std::ostream& out) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::size_t id = 0;
  for (std::string line; std::getline(in, line);) {
    for (const World& world : worlds) {
      for (std::size_t i = 0; i < world.inputs; ++i) {
        Ask(id++, world.name, world.name + std::to_string(i), line, out);
      }
    }
  }
}

// Writes a random schema as an environment, with an object that fits it.
World WriteBounded(const std::string& name, Random& random, std::ostream& out) {
  BoundedWorld world = MakeBoundedWorld(random);
  out << R"({"declare":{"name":)" << Quoted(name) << R"(,"variables":[{"name":"self","schema":)"
      << world.schema << "}]}}\n";
  out << R"({"inputs":)" << Quoted(name + "0") << R"(,"values":{"self":{"json":)" << world.data
      << "}}}\n";
  return {name, 1, Generator(Random(random.Next()), std::move(world.terms))};
}

}  // namespace

void WriteGenerated(std::uint64_t seed, const Wanted& wanted, const std::string& file,
                    std::ostream& out) {
  std::vector<World> worlds;
  ReadLines(file, [&](const runtime::Value& line, runtime::Arena&) {
    const std::string name(line["declare"]["name"].AsString());
    out << R"({"declare":)" << Json(line["declare"]) << "}\n";
    std::size_t inputs = 0;
    for (const runtime::Value& values : line["inputs"].items()) {
      out << R"({"inputs":)" << Quoted(name + std::to_string(inputs++)) << R"(,"values":)"
          << Json(values) << "}\n";
    }
    std::vector<Term> terms;
    for (const runtime::Value& term : line["terms"].items()) {
      terms.push_back({std::string(term.at(0).AsString()), ParseShape(term.at(1).AsString())});
    }
    worlds.push_back({name, inputs, Generator(Random(seed + worlds.size()), std::move(terms))});
  });
  Random random(seed);
  std::vector<World> bounded;
  for (std::size_t i = 0; i < wanted.schemas; ++i) {
    bounded.push_back(WriteBounded("bounded" + std::to_string(i), random, out));
  }
  if (!wanted.file.empty()) {
    AskAll(wanted.file, worlds, out);
    return;
  }
  for (std::size_t id = 0; id < wanted.expressions; ++id) {
    const bool any = !bounded.empty() && random.Chance(30);
    World& world = any ? bounded[random.Below(bounded.size())] : worlds[id % worlds.size()];
    // The first inputs are those in which everything is there and fits.
    const std::size_t inputs = random.Chance(60) ? 0 : random.Below(world.inputs);
    Ask(id, world.name, world.name + std::to_string(inputs), world.generator.Expression(), out);
  }
}

void WriteMutated(std::uint64_t seed, std::size_t count, const std::string& file,
                  std::ostream& out) {
  Random random(seed);
  std::size_t id = 0;
  ReadLines(file, [&](const runtime::Value& group, runtime::Arena& arena) {
    const std::span<const runtime::Value> rows = group["rows"].items();
    if (rows.empty()) return;  // The header.
    const runtime::Value env =
        runtime::With(group["env"], "name", runtime::Value::String("g"), arena);
    out << R"({"declare":)" << Json(env) << "}\n";
    out << R"({"inputs":"g","values":)" << Json(group["values"]) << "}\n";
    for (std::size_t i = 0; i < count * rows.size(); ++i) {
      const std::string_view expression = rows[i % rows.size()]["expr"].AsString();
      const std::string_view other = rows[random.Below(rows.size())]["expr"].AsString();
      Ask(id++, "g", "g", Mutate(expression, other, random), out);
    }
  });
}

}  // namespace cel_test
