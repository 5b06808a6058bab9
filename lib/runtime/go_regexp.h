#pragma once  // Library-internal: other rooms include this header.

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}  // namespace re2

namespace apiserver::inline v0::runtime {

// Compiles a pattern of Go's regexp package. RE2 has the same language but for the names of groups
// and \C, which are translated or refused. Null: `error` has Go's words, "error parsing regexp:
// missing closing ): `(`".
std::unique_ptr<re2::RE2> CompileGoRegexp(std::string_view text, std::string& error);

}  // namespace apiserver::inline v0::runtime
