#pragma once  // Library-internal: other rooms include this header.

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}  // namespace re2

namespace apiserver::inline v0::runtime {

// Compiled regular expressions by their text. Filled while a Kind is made, constant afterwards.
class Patterns {
 public:
  Patterns();
  ~Patterns();

  // Empty when `pattern` is there afterwards; else why it does not compile.
  std::string Add(const std::string& pattern);
  // Whether `pattern` is found somewhere in `text`. True for one that was not added.
  bool Matches(std::string_view pattern, std::string_view text) const;

 private:
  std::map<std::string, std::unique_ptr<re2::RE2>, std::less<>> compiled_;
};

}  // namespace apiserver::inline v0::runtime
