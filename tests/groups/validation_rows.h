#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/codec.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"

// What the tables of a group's validation tests are made of.
namespace apiserver::inline v0::testing {

using Lines = std::vector<std::string>;

// `json` as an object of that kind in v1, with defaults.
inline std::unique_ptr<runtime::Object> ParseRow(const Result<std::vector<runtime::KindPtr>>& kinds,
                                                 const std::string& kind_name,
                                                 const std::string& json) {
  REQUIRE(kinds.ok());
  for (const auto& kind : *kinds) {
    if (kind->kind() != kind_name) continue;
    auto decoded =
        codec::DecodeObject(codec::MediaType::kJson, std::make_shared<const std::string>(json),
                            {.kind = kind, .version = "v1"});
    INFO(decoded.status().ToString());
    REQUIRE(decoded.ok());
    REQUIRE(runtime::Settle(*decoded->object, {.shape = false}).ok());
    return std::move(decoded->object);
  }
  FAIL(kind_name);
  return nullptr;
}

// "Type field" of each finding: what upstream's tables state.
inline Lines Findings(const field::ErrorList& errors) {
  Lines lines;
  for (const auto& error : errors) {
    lines.push_back(std::string(error.CauseReason()) + " " + error.field);
  }
  return lines;
}

}  // namespace apiserver::inline v0::testing
