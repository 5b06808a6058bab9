#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace apiserver::inline v0::storage::etcd {

// Guesses where a range of keys may be cut, so that a part has about as many keys as a page: etcd
// counts the keys of the range that is asked for, also those that the page has no room for, and two
// parts can be read at a time. Keys are looked at as numbers, whose digits are what names have: a
// part goes on for some steps of one digit. A wrong guess costs an answer with few keys or none.
class KeyStride {
 public:
  struct Part {
    std::string end;
    std::size_t digit = 0;
    std::size_t steps = 0;
  };

  // Cuts nothing within the first `fixed` bytes, which all keys share.
  explicit KeyStride(std::size_t fixed) : fixed_(fixed) {}

  // Learns from a page of `keys`.
  void Learn(std::string_view first, std::string_view last, std::size_t keys);
  // Learns how many keys a part had.
  void Learn(const Part& part, std::size_t keys);
  // The part that begins at `from` and has about `keys`. Without an end: no guess can be made.
  Part Cut(std::string_view from, std::size_t keys);

 private:
  // Goes to the digit before, of which a step has more keys. False: there is none.
  bool Coarser();

  const std::size_t fixed_;
  std::size_t digit_ = 0;  // Its position in the key.
  double of_step_ = 0;     // Keys of a step of the digit; zero: nothing is known.
};

}  // namespace apiserver::inline v0::storage::etcd
