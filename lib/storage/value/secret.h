#pragma once

#include <openssl/crypto.h>

#include <string>
#include <string_view>

namespace apiserver::inline v0::storage::value {

// The bytes of a key, which are overwritten when they are destroyed.
class Secret {
 public:
  explicit Secret(std::string_view bytes) : bytes_(bytes) {}
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  const unsigned char* data() const {
    return reinterpret_cast<const unsigned char*>(bytes_.data());
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

}  // namespace apiserver::inline v0::storage::value
