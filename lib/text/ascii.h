#pragma once  // Library-internal: other rooms include this header.

// Characters as JSON and YAML know them.
namespace apiserver::inline v0::codec {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace apiserver::inline v0::codec
