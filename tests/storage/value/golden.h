#pragma once

#include <catch2/catch.hpp>

#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "apiserver/base/file_system.h"
#include "text/base64.h"

// What tests/testdata/storage-value/golden.txt holds: see the README.md beside it.
namespace apiserver::inline v0::testing {

inline constexpr std::string_view kPath =
    "/registry/wardle.example.com/wardle.example.com/flunders/default/one";
inline constexpr std::string_view kText =
    "{\"apiVersion\":\"wardle.example.com/v1alpha1\",\"kind\":\"Flunder\",\"metadata\":"
    "{\"name\":\"one\"}}\n";

// The bytes 1, 2, 3, …
inline std::string KeyOf(std::size_t bytes) {
  std::string key;
  while (key.size() < bytes) key.push_back(static_cast<char>(key.size() + 1));
  return key;
}

// Stored values by name.
inline std::map<std::string, std::string> GoldenValues() {
  const auto file =
      RealFileSystem().Read(std::string(APISERVER_TESTDATA) + "/storage-value/golden.txt");
  REQUIRE(file.ok());
  std::map<std::string, std::string> values;
  std::istringstream lines(*file);
  std::string name;
  std::string base64;
  while (lines >> name >> base64) {
    const auto value = text::DecodeBase64(base64);
    REQUIRE(value.has_value());
    values[name] = *value;
  }
  return values;
}

}  // namespace apiserver::inline v0::testing
