// Programs that would take long: each ends in bounded time of its thread at the limit of a call,
// with its Context, and on a small stack.
#include <pthread.h>
#include <time.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/cel/authorizer.h"
#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/codec/json.h"
#include "cel/fixed_authorizer.h"

namespace {

namespace cel = apiserver::cel;
namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using apiserver::Context;
using cel::End;
using cel::Type;
using cel::Value;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// The slowest program takes 0.4 seconds, and up to 16 with a sanitizer; one that the limit of a
// call does not end takes minutes.
constexpr std::chrono::milliseconds kTimeMax(kSanitized ? 60'000 : 5'000);

std::chrono::nanoseconds ThreadTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Data as large as a request may carry: a text of 1.5 MB, one of digits, a list of 100,000 numbers
// and of 20,000 short texts, a map whose key is the text.
class LargeWorld {
 public:
  struct Ended {
    End how = End::kValue;
    std::string error;
    std::uint64_t cost = 0;
    std::chrono::nanoseconds time{0};
  };

  LargeWorld() {
    for (std::size_t i = 0; i < kTextBytes; ++i) text_ += (i * i + i / 3) % 7 < 3 ? 'a' : 'b';
    digits_.assign(kTextBytes, '7');
    std::string numbers;
    for (int i = 0; i < 100'000; ++i) numbers += (i == 0 ? "" : ",") + std::to_string(i * 7 % 1000);
    std::string words;
    for (int i = 0; i < 20'000; ++i) {
      words += (i == 0 ? "\"" : ",\"") + std::string("registry.local-") + std::to_string(i) + "\"";
    }
    Add("s", Type::String(), Value::String(text_));
    Add("digits", Type::String(), Value::String(digits_));
    Add("l", Type::List(Type::Int()), Data("[" + numbers + "]"));
    Add("words", Type::List(Type::String()), Data("[" + words + "]"));
    Add("m", Type::Map(Type::String(), Type::Int()), Data("{\"" + text_ + "\":1}"));
    Add("deep", Type::Dyn(), Data(std::string(kNesting, '[') + std::string(kNesting, ']')));
    Add("authorizer", cel::AuthorizerType(), cel::AuthorizerValue(authorizer_.user(), views_));
    environment_ = environment_.With(variables_);
  }

  apiserver::Result<cel::Program> TryCompile(const std::string& expression) const {
    return cel::Compile(environment_, expression);
  }
  cel::Program Compiled(const std::string& expression) const {
    const auto program = TryCompile(expression);
    INFO(std::string(program.status().message()));
    REQUIRE(program.ok());
    return *program;
  }
  Ended Run(const cel::Program& program, const Context& context) const {
    cel::Scratch scratch;
    cel::Budget budget;
    const std::chrono::nanoseconds begin = ThreadTime();
    const cel::Outcome outcome = cel::Evaluate(program, inputs_, budget, scratch, context);
    return {outcome.end, std::string(outcome.error), outcome.cost, ThreadTime() - begin};
  }

  std::size_t questions() const { return authorizer_.questions().size(); }

 private:
  static constexpr std::size_t kTextBytes = 1'500'000;
  static constexpr int kNesting = 2000;

  Value Data(std::string json) {
    // The data borrows from it.
    const std::string& kept = json_.emplace_back(std::move(json));
    return Value::FromData(codec::ParseJson(kept, data_).value(), nullptr, views_);
  }
  void Add(const char* name, const Type& type, const Value& value) {
    variables_.push_back({.name = name, .type = type});
    inputs_.push_back({value});
  }

  std::string text_;
  std::string digits_;
  std::deque<std::string> json_;
  runtime::Arena data_;
  cel::Arena views_;
  cel_test::FixedAuthorizer authorizer_{
      apiserver::auth::Verdict{apiserver::auth::Decision::kAllow, ""}};
  std::vector<cel::Variable> variables_;
  std::vector<cel::Input> inputs_;
  cel::Environment environment_ = cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored);
};

// Loops and calls whose work grows faster than their text.
const std::vector<std::string>& LongPrograms() {
  static const std::vector<std::string> kPrograms = {
      // Comprehensions in comprehensions.
      "l.all(x, l.all(y, l.all(z, x + y + z >= 0)))",
      "l.map(x, l.map(y, [x, y])).size() > 0",
      "l.map(x, l).map(x, x + x).map(x, x + x).map(x, x + x).size() > 0",
      "l.transformMap(k, v, l).size() > 0",
      "l.transformMapEntry(k, v, {string(k) + s: v}).size() > 0",
      "[l, l].map(x, x.map(y, x.exists_one(z, z == y))).size() > 0",
      // Texts that are read again and again at a fixed price.
      "l.all(x, s.size() > 0)",
      "l.all(x, s.charAt(1000000) != 'c')",
      "l.all(x, m[s] == 1)",
      "l.all(x, s in m)",
      "l.all(x, isQuantity(digits))",
      "l.all(x, double(digits) > 0.0)",
      "l.all(x, bytes(s).size() > 0)",
      // Texts and lists that grow.
      "s.replace('', s).size() > 0",
      "l.map(x, s.replace('a', 'aaaaaaaa')).size() > 0",
      "l.all(x, s.split('').size() > 0)",
      "s.split('').join(s).size() > 0",
      "l.map(x, s + s).size() > 0",
      "'%s'.format([l]).size() > 0",
      "l.all(x, '%s%s%s'.format([l, l, l]).size() > 0)",
      "'%.999999999f'.format([1.0]).size() > 0",
      "lists.range(1000000000).size() > 0",
      "l.map(x, lists.range(100000)).size() > 0",
      "strings.quote(s).size() > 0",
      "l.map(x, strings.quote(s)).size() > 0",
      // Orders and sets.
      "l.distinct().size() > 0",
      "words.distinct().size() > 0",
      "l.sortBy(x, -x).size() > 0",
      "words.sort().size() > 0",
      "sets.contains(l, l)",
      "sets.equivalent(words, words)",
      "l.all(x, l.indexOf(-1) < 0)",
      "l.all(x, -1 in l)",
      "deep == deep && l.all(x, deep == deep)",
      // Numbers of many digits.
      "quantity(digits).isInteger()",
      "quantity('0.' + digits).add(quantity(digits)).isInteger()",
      "digits.matches('^[0-9]+$') && double(digits) > 0.0",
      "url('https://a/' + s).getEscapedPath().size() > 0",
      "semver('1.2.3-' + s).major() == 1",
      // Patterns.
      "s.matches('[ab]*a[ab]{900}c')",
      "l.all(x, s.matches('a.*c'))",
      "s.matches('((((a{1,10}){1,10}){1,9})b?)*c')",
      "words.all(w, w.matches('^[^/]{1,253}$'))",
      "words.all(w, w.matches(w))",
      "s.findAll('a.*c|a').size() > 0",
      "s.findAll('').size() > 0",
      "s.findAll('[ab]*a[ab]{200}c|b').size() > 0",
      "s.find('[ab]*a[ab]{900}c') == ''",
      // Questions that may wait.
      "l.all(x, authorizer.group('').resource('pods').check('get').allowed())",
  };
  return kPrograms;
}

// Runs on a thread with that much stack. Nothing is asserted while that thread may assert: Catch's
// macros write to shared state without a lock.
void RunOnStack(std::size_t bytes, const std::function<void()>& work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  void* const argument = const_cast<void*>(static_cast<const void*>(&work));
  const int error = pthread_create(&thread, &attributes, run, argument);
  if (error == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  REQUIRE(error == 0);
}

}  // namespace

TEST_CASE("cel: every program ends in time at the limit of a call", "[cel]") {
  const LargeWorld world;
  for (const std::string& expression : LongPrograms()) {
    const LargeWorld::Ended ended = world.Run(world.Compiled(expression), Context::Background());
    INFO(expression << ": " << ended.error << ", cost " << ended.cost);
    CHECK(std::chrono::duration_cast<std::chrono::milliseconds>(ended.time) < kTimeMax);
    CHECK((ended.how == End::kValue || ended.how == End::kError || ended.how == End::kCostLimit));
  }
  // A question costs 350,000.
  CHECK(world.questions() == 2);
}

TEST_CASE("cel: long programs end with their Context", "[cel]") {
  const LargeWorld world;
  const Context over = Context::Child(Context::Background());
  over.Cancel(apiserver::Status(apiserver::Reason::kTimeout, "over"));
  for (const char* const expression :
       {"l.all(x, l.all(y, x + y >= 0))", "l.map(x, [x]).size() > 0", "l.all(x, s.size() > 0)",
        "words.all(w, w.matches('^[^/]{1,253}$'))", "s.findAll('a.*c|a').size() > 0",
        "m.all(k, l.exists(x, x < 0))", "l.transformMap(k, v, v).size() > 0"}) {
    INFO(expression);
    const LargeWorld::Ended ended = world.Run(world.Compiled(expression), over);
    CAPTURE(ended.cost);
    CHECK(ended.how == End::kInterrupted);
    CHECK(ended.error == "operation interrupted");
    CHECK(std::chrono::duration_cast<std::chrono::milliseconds>(ended.time) < kTimeMax / 2);
  }
}

TEST_CASE("cel: evaluating takes a small stack, however deep expressions and data are", "[cel]") {
  constexpr int kDeep = 200;
  constexpr std::size_t kStackBytes = 128 * 1024;
  const LargeWorld world;
  const auto nest = [](const std::string& open, const std::string& inside, char close, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += open;
    return text + inside + std::string(static_cast<std::size_t>(times), close);
  };
  std::vector<cel::Program> programs;
  for (const std::string& expression :
       {nest("[", "deep", ']', kDeep) + " == " + nest("[", "deep", ']', kDeep),
        nest("[1].map(x, ", "deep", ')', kDeep / 2) + ".size() == 1",
        nest("{'a': ", "s", '}', kDeep) + " != " + nest("{'a': ", "s", '}', kDeep),
        nest("(true && ", "s.matches('(a|b)+')", ')', kDeep / 2),
        nest("(s.size() > 0 ? ", "[deep] : [])", ' ', 1) + ".size() == 1",
        std::string("deep in [deep, dyn([deep])]"), std::string("[1][deep] == 1"),
        std::string("{deep: 1}[deep] == 1"), std::string("'%s'.format([deep]).size() > 0"),
        std::string("[deep].distinct().size() == 1"), std::string("[deep].flatten().size() == 1"),
        std::string("deep.flatten(1000).size() == 1"),
        std::string("sets.equivalent([deep], [deep])"),
        std::string("[deep].map(x, string(x)).size() == 1")}) {
    const auto program = world.TryCompile(expression);
    INFO(expression << std::string(program.status().message()));
    REQUIRE(program.ok());
    programs.push_back(*program);
  }
  RunOnStack(kStackBytes, [&] {
    for (const cel::Program& program : programs) {
      const LargeWorld::Ended ended = world.Run(program, Context::Background());
      CHECK((ended.how == End::kValue || ended.how == End::kError || ended.how == End::kCostLimit));
    }
  });
}
