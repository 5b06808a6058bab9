#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <span>
#include <string>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"

// Tables of tests that check one part of an object at the path "f".
namespace apiserver::inline v0::testing {

// A part in JSON, and what is found in it: "Invalid f.a, Required f.b[0]".
struct ValueRow {
  const char* what;
  const char* json;
  const char* findings = "";
};

// Returns type and field of each finding, as upstream's tables state them.
inline std::string FindingsText(const field::ErrorList& errors) {
  constexpr std::string_view kPrefix = "FieldValue";
  std::string text;
  for (const auto& error : errors) {
    std::string_view reason = error.CauseReason();
    if (reason.starts_with(kPrefix)) reason.remove_prefix(kPrefix.size());
    text += (text.empty() ? "" : ", ") + std::string(reason) + " " + error.field;
  }
  return text;
}

using CheckValue = std::function<void(runtime::Value, const field::Path&, field::ErrorList&)>;

// Checks the findings of each row.
inline void CheckValueRows(std::span<const ValueRow> rows, const CheckValue& check) {
  for (const ValueRow& row : rows) {
    INFO(row.what << ": " << row.json);
    runtime::Arena arena;
    const std::string json = row.json;
    const auto value = codec::ParseJson(json, arena);
    REQUIRE(value.status() == Status());
    field::ErrorList errors;
    check(*value, field::Path("f"), errors);
    CHECK(FindingsText(errors) == row.findings);
  }
}

}  // namespace apiserver::inline v0::testing
