#pragma once  // Library-internal: other rooms include this header.

// Character classes of machine formats: ASCII only, independent of the locale.
namespace apiserver::inline v0::text {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace apiserver::inline v0::text
