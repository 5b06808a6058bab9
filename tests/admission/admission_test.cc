#include <catch2/catch.hpp>

#include "apiserver/admission/admission.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

struct Recorder final : admission::Plugin {
  Recorder(std::string n, std::vector<std::string>& c, Status r = {})
      : plugin(std::move(n)), calls(c), refusal(std::move(r)) {}
  std::string_view name() const override { return plugin; }
  bool Handles(admission::Operation operation) const override {
    return operation != admission::Operation::kDelete;
  }
  Status Admit(const Context&, admission::Attributes&) const override {
    calls.push_back("admit " + plugin);
    return refusal;
  }
  Status Validate(const Context&, const admission::Attributes&) const override {
    calls.push_back("validate " + plugin);
    return refusal;
  }

  std::string plugin;
  std::vector<std::string>& calls;
  Status refusal;
};

}  // namespace

TEST_CASE("admission: plugins are asked in order", "[admission]") {
  std::vector<std::string> calls;
  const admission::Chain chain(
      {std::make_shared<Recorder>("a", calls), std::make_shared<Recorder>("b", calls)});
  admission::Attributes attributes;
  CHECK(chain.Admit(Context::Background(), attributes).ok());
  CHECK(chain.Validate(Context::Background(), attributes).ok());
  CHECK(calls == std::vector<std::string>{"admit a", "admit b", "validate a", "validate b"});
}

TEST_CASE("admission: the first refusal ends the chain", "[admission]") {
  std::vector<std::string> calls;
  const admission::Chain chain(
      {std::make_shared<Recorder>("a", calls, Status(Reason::kForbidden, "no")),
       std::make_shared<Recorder>("b", calls)});
  admission::Attributes attributes;
  CHECK(chain.Admit(Context::Background(), attributes).message() == "no");
  CHECK(calls == std::vector<std::string>{"admit a"});
}

TEST_CASE("admission: a plugin is asked only about what it handles", "[admission]") {
  std::vector<std::string> calls;
  const admission::Chain chain({std::make_shared<Recorder>("a", calls)});
  admission::Attributes attributes;
  attributes.operation = admission::Operation::kDelete;
  CHECK(chain.Admit(Context::Background(), attributes).ok());
  CHECK(calls.empty());
}
