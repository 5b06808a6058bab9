#include "client/cpprest/body.h"

#include <utility>

namespace apiserver::v0::client {

void BoundedBody::Append(const std::uint8_t* bytes, std::size_t count) {
  // The peer's claim, `count`, is checked before any byte is touched.
  if (count <= bytes_max_ - text_.size()) {
    text_.append(reinterpret_cast<const char*>(bytes), count);
  } else if (on_overflow_) {
    std::exchange(on_overflow_, nullptr)();
  }
}

pplx::task<std::size_t> BoundedBody::putn(const std::uint8_t* bytes, std::size_t count) {
  return _putn(bytes, count);
}

pplx::task<std::size_t> BoundedBody::putn_nocopy(const std::uint8_t* bytes, std::size_t count) {
  return _putn(bytes, count);
}

pplx::task<std::size_t> BoundedBody::_putn(const std::uint8_t* bytes, std::size_t count) {
  Append(bytes, count);
  return pplx::task_from_result(count);
}

pplx::task<BoundedBody::int_type> BoundedBody::_putc(std::uint8_t byte) {
  Append(&byte, 1);
  return pplx::task_from_result<int_type>(byte);
}

}  // namespace apiserver::v0::client
