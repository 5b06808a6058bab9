#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/meta/options.h"
#include "apiserver/meta/selector.h"
#include "require.h"

// Label and field selectors: what parses prints in a form that parses to the same, and matching
// never fails.
namespace {

namespace meta = apiserver::meta;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;

void TryLabels(std::string_view text) {
  const auto selector = meta::LabelSelector::Parse(text);
  if (!selector.ok()) {
    Require(selector.status().reason() == apiserver::Reason::kBadRequest);
    return;
  }
  const std::string printed = selector->ToString();
  const auto again = meta::LabelSelector::Parse(printed);
  Require(again.ok());
  Require(again->requirements() == selector->requirements());
  const runtime::Member labels[] = {{"a", runtime::Value::String("b")},
                                    {"x", runtime::Value::String("7")}};
  (void)selector->Matches(runtime::Value::Map(labels));
  (void)selector->Matches(runtime::Value());
}

void TryFields(std::string_view text) {
  const auto selector = meta::FieldSelector::Parse(text);
  if (!selector.ok()) {
    Require(selector.status().reason() == apiserver::Reason::kBadRequest);
    return;
  }
  const auto again = meta::FieldSelector::Parse(selector->ToString());
  Require(again.ok());
  Require(again->requirements().size() == selector->requirements().size());
  (void)selector->Matches([](std::string_view field) { return field; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TryLabels(text);
  TryFields(text);
  (void)meta::ParseListOptions(
      {{"labelSelector", std::string(text)}, {"resourceVersionMatch", std::string(text)}});
  return 0;
}
