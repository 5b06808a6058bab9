// Asks cel-go's program (tests/oracle/cel) and this library about the same random expressions and
// counts the answers that differ: issues, type, estimate, value, error and cost.
//   cel_differential --oracle /tmp/cel-oracle --count 20000
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "cel/excuses.h"
#include "cel/judge.h"
#include "cel/questions.h"

namespace {

using apiserver::Result;
using cel_test::Answer;
using cel_test::AnswerOf;
using cel_test::DeclaredEnvironment;
using cel_test::Difference;
using cel_test::Differences;
namespace runtime = apiserver::runtime;

struct Options {
  std::string oracle;
  std::string worlds = "tests/cel/worlds.jsonl";
  std::vector<std::string> tables;
  std::string keep;
  std::string ask;
  std::uint64_t seed = 1;
  std::size_t count = 20'000;
  std::size_t schemas = 200;
  std::size_t mutations = 4;
  std::size_t shown = 20;
};

// The oracle, reading a file of questions.
class Oracle {
 public:
  Oracle(const std::string& program, const std::string& questions) {
    const std::string command = "'" + program + "' <'" + questions + "'";
    pipe_ = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a path of ours.
    if (pipe_ == nullptr) throw std::runtime_error("cannot run " + program);
  }
  ~Oracle() { pclose(pipe_); }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // Returns the answer to the next question, a line of JSON.
  std::string Next() {
    std::string line;
    for (int c = std::fgetc(pipe_); c != EOF && c != '\n'; c = std::fgetc(pipe_)) {
      line += static_cast<char>(c);
    }
    if (line.empty()) throw std::runtime_error("the oracle ended early");
    return line;
  }

 private:
  std::FILE* pipe_;
};

runtime::Value ParseLine(const std::string& line, runtime::Arena& arena) {
  Result<runtime::Value> value = apiserver::codec::ParseJson(line, arena);
  if (!value.ok()) throw std::runtime_error(line + ": " + std::string(value.status().message()));
  return *value;
}

struct Counts {
  std::size_t asked = 0;
  std::size_t equal = 0;
  std::size_t compile = 0;  // Of those that are equal.
  std::size_t evaluate = 0;
  std::size_t panics = 0;
  std::size_t different = 0;
  std::size_t wavering = 0;  // Go has several answers, ours among them: the order of a map.
  std::map<std::string, std::size_t> excused;      // By reason.
  std::map<std::string, std::size_t> differences;  // By member.
};

// Reads questions and both answers, and counts.
class Judge {
 public:
  Judge(const Options& options, Oracle& oracle) : options_(options), oracle_(oracle) {}

  void Take(const std::string& text) {
    runtime::Arena arena;
    const runtime::Value line = ParseLine(text, arena);
    if (line["declare"].is_map()) {
      Declare(line["declare"], text);
    } else if (line["env"].AsString().empty()) {
      Kept& kept = inputs_[std::string(line["inputs"].AsString())];
      kept.text = text;
      kept.arena.emplace();
      kept.values = ParseLine(kept.text, *kept.arena)["values"];
    } else {
      Ask(line, text);
    }
  }

  // Asks Go again about each expression whose answers differ, and shows those of which it sticks to
  // its answer. `questions` is a file for the questions.
  void AskAgain(const std::string& questions) {
    {
      std::ofstream out(questions);
      for (const Differing& each : differing_) {
        out << each.declaration << '\n' << each.inputs << '\n';
        for (std::size_t i = 0; i < kRepeats; ++i) out << each.question << '\n';
      }
    }
    Oracle again(options_.oracle, questions);
    for (const Differing& each : differing_) {
      bool wavers = false;
      for (std::size_t i = 0; i < kRepeats; ++i) {
        runtime::Arena arena;
        const Answer go = AnswerOf(ParseLine(again.Next(), arena));
        wavers = wavers || Differences(go, each.ours).empty();
      }
      if (wavers) {
        ++counts_.wavering;
      } else {
        Show(each);
      }
    }
  }
  const Counts& counts() const { return counts_; }

 private:
  static constexpr std::size_t kRepeats = 16;

  struct Kept {
    std::string text;
    std::optional<runtime::Arena> arena;
    runtime::Value values;
  };
  // A question with all that it needs, and the answer that is not Go's.
  struct Differing {
    std::string declaration;
    std::string inputs;
    std::string question;
    std::string expression;
    Answer ours;
    std::vector<Difference> differences;
  };

  void Declare(const runtime::Value& declaration, const std::string& text) {
    const std::string name(declaration["name"].AsString());
    environments_.erase(name);
    Result<DeclaredEnvironment> environment = DeclaredEnvironment::From(declaration);
    // A table may need what no public function makes.
    if (environment.ok()) environments_.emplace(name, *std::move(environment));
    declarations_[name] = text;
  }

  void Ask(const runtime::Value& question, const std::string& text) {
    const std::string answer = oracle_.Next();
    const auto environment = environments_.find(question["env"].AsString());
    if (environment == environments_.end()) return;
    runtime::Arena arena;
    const Answer go = AnswerOf(ParseLine(answer, arena));
    ++counts_.asked;
    if (go.contains("panic")) {
      ++counts_.panics;
      return;
    }
    const Kept& inputs = inputs_.find(question["inputs"].AsString())->second;
    const Result<Answer> ours = environment->second.Ask(question, inputs.values);
    if (!ours.ok()) return;
    std::vector<Difference> differences = Differences(go, *ours);
    const std::string_view expression = question["expr"].AsString();
    const std::string_view excuse = cel_test::ExcuseFor(expression, differences);
    if (differences.empty()) {
      ++counts_.equal;
      counts_.compile += go.contains("type") ? 1 : 0;
      counts_.evaluate += go.contains("value") ? 1 : 0;
    } else if (!excuse.empty()) {
      ++counts_.excused[std::string(excuse)];
    } else {
      differing_.push_back({declarations_.find(environment->first)->second, inputs.text, text,
                            std::string(expression), *ours, std::move(differences)});
    }
  }

  void Show(const Differing& each) {
    ++counts_.different;
    // A few of each member, so that one fault does not hide the others.
    if (++counts_.differences[each.differences[0].member] > options_.shown) return;
    std::printf("%s\n", each.expression.c_str());
    for (const Difference& difference : each.differences) {
      std::printf("  %s\n    Go:   %s\n    ours: %s\n", difference.member.c_str(),
                  difference.go.c_str(), difference.ours.c_str());
    }
  }

  const Options& options_;
  Oracle& oracle_;
  std::map<std::string, DeclaredEnvironment, std::less<>> environments_;
  std::map<std::string, std::string, std::less<>> declarations_;  // As lines.
  std::map<std::string, Kept, std::less<>> inputs_;
  std::vector<Differing> differing_;
  Counts counts_;
};

void WriteQuestions(const Options& options, const std::string& file) {
  std::ofstream out(file);
  if (options.count > 0) {
    cel_test::WriteGenerated(options.seed, {options.count, options.schemas, options.ask},
                             options.worlds, out);
  }
  for (const std::string& table : options.tables) {
    cel_test::WriteMutated(options.seed, options.mutations, table, out);
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

void Print(const Counts& counts) {
  std::printf("%zu expressions: %zu equal (%zu of them compile, %zu have a value), %zu differ",
              counts.asked, counts.equal, counts.compile, counts.evaluate, counts.different);
  for (const auto& [member, count] : counts.differences) {
    std::printf(", %s %zu", member.c_str(), count);
  }
  std::printf("; Go panics at %zu, and has several answers to %zu\n", counts.panics,
              counts.wavering);
  for (const auto& [excuse, count] : counts.excused) {
    std::printf("differ as listed: %s %zu\n", excuse.c_str(), count);
  }
}

int Run(const Options& options) {
  const std::string file =
      options.keep.empty()
          ? (std::filesystem::temp_directory_path() / ("cel_questions_" + std::to_string(getpid())))
                .string()
          : options.keep;
  WriteQuestions(options, file);
  Oracle oracle(options.oracle, file);
  Judge judge(options, oracle);
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) judge.Take(line);
  if (options.keep.empty()) std::filesystem::remove(file);
  const std::string again = file + ".again";
  judge.AskAgain(again);
  std::filesystem::remove(again);
  Print(judge.counts());
  return judge.counts().different == 0 && judge.counts().asked > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares answers to random CEL expressions with cel-go's");
  app.add_option("--oracle", options.oracle, "The program of tests/oracle/cel")->required();
  app.add_option("--worlds", options.worlds, "Environments, inputs and terms of the generator");
  app.add_option("--count", options.count, "Generated expressions")->capture_default_str();
  app.add_option("--schemas", options.schemas, "Random schemas that some of them are about")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the generator")->capture_default_str();
  app.add_option("--tables", options.tables,
                 "Files of tests/cel/data whose expressions are changed");
  app.add_option("--mutations", options.mutations, "Changed expressions for each of a table")
      ->capture_default_str();
  app.add_option("--show", options.shown, "Differences of each kind that are printed")
      ->capture_default_str();
  app.add_option("--ask", options.ask, "A file of expressions that are asked instead");
  app.add_option("--keep", options.keep, "Writes the questions here and keeps them");
  CLI11_PARSE(app, argc, argv);
  try {
    return Run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
