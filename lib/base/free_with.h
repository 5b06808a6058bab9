#pragma once  // Library-internal: other rooms include this header.

namespace apiserver::inline v0 {

// The deleter of a unique_ptr to an object of a C library: `std::unique_ptr<BIO,
// FreeWith<BIO_free>>`.
template <auto kFree>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

}  // namespace apiserver::inline v0
