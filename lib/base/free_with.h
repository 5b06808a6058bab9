#pragma once  // Library-internal: other rooms include this header.

namespace apiserver::inline v0 {

// What a unique_ptr to an object of a C library ends it with: `std::unique_ptr<BIO,
// FreeWith<BIO_free>>`.
template <auto kFree>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

}  // namespace apiserver::inline v0
