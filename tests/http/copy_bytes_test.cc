// Copies in steps.
#include "http/copy_bytes.h"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

namespace http_test {
namespace {

using apiserver::http::AppendBytes;
using apiserver::http::CopyBytes;
using apiserver::http::kCopyBytes;

TEST_CASE("http: a copy in steps is whole at every size", "[http]") {
  std::string from(3 * kCopyBytes + 1, '\0');
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 7);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kCopyBytes - 1, kCopyBytes,
                                 kCopyBytes + 1, 2 * kCopyBytes, from.size()}) {
    const std::string_view part = std::string_view(from).substr(0, size);
    std::string copied(size + 1, '!');
    CopyBytes(part, copied.data());
    CHECK((copied == std::string(part) + "!"));
    std::string appended = "before ";
    AppendBytes(part, appended);
    CHECK((appended == "before " + std::string(part)));
  }
}

}  // namespace
}  // namespace http_test
