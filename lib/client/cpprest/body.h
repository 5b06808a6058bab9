#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/base/function.h"
#include "client/cpprest/cpprest.h"

namespace apiserver::inline v0::client {

// The sink of a response's body for cpprestsdk: keeps at most `bytes_max`, drops the rest and calls
// `on_overflow` once. Never fails, so that no exception is made.
class BoundedBody final
    : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  BoundedBody(std::size_t bytes_max, UniqueFunction<void()> on_overflow)
      : streambuf_state_manager(std::ios_base::out),
        bytes_max_(bytes_max),
        on_overflow_(std::move(on_overflow)) {}
  ~BoundedBody() override {
    if (when_gone_) when_gone_();
  }

  // Both may be called only after the response is complete: cpprestsdk writes on its own threads.
  std::string Take() { return std::move(text_); }
  // Calls `when_gone` when cpprestsdk has released this body: it has then put the connection aside,
  // and the next call finds it.
  void WhenGone(UniqueFunction<void()> when_gone) { when_gone_ = std::move(when_gone); }

  pplx::task<std::size_t> putn(const std::uint8_t* bytes, std::size_t count) override;
  pplx::task<std::size_t> putn_nocopy(const std::uint8_t* bytes, std::size_t count) override;

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode /*mode*/) const override { return 0; }
  void set_buffer_size(std::size_t /*size*/, std::ios_base::openmode /*mode*/) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode /*mode*/) const override { return traits::eof(); }
  pos_type seekpos(pos_type /*position*/, std::ios_base::openmode /*mode*/) override {
    return traits::eof();
  }
  pos_type seekoff(off_type /*offset*/, std::ios_base::seekdir /*way*/,
                   std::ios_base::openmode /*mode*/) override {
    return traits::eof();
  }
  bool acquire(std::uint8_t*& /*block*/, std::size_t& /*count*/) override { return false; }
  void release(std::uint8_t* /*block*/, std::size_t /*count*/) override {}

 protected:
  pplx::task<int_type> _putc(std::uint8_t byte) override;
  pplx::task<std::size_t> _putn(const std::uint8_t* bytes, std::size_t count) override;
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  // The stream cannot be read from.
  pplx::task<int_type> _bumpc() override { return End(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return End(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return End(); }
  pplx::task<int_type> _ungetc() override { return End(); }
  pplx::task<std::size_t> _getn(std::uint8_t* /*bytes*/, std::size_t /*count*/) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(std::uint8_t* /*bytes*/, std::size_t /*count*/) override { return 0; }
  std::uint8_t* _alloc(std::size_t /*count*/) override { return nullptr; }
  void _commit(std::size_t /*count*/) override {}

 private:
  static pplx::task<int_type> End() { return pplx::task_from_result<int_type>(traits::eof()); }
  void Append(const std::uint8_t* bytes, std::size_t count);

  const std::size_t bytes_max_;
  UniqueFunction<void()> on_overflow_;
  UniqueFunction<void()> when_gone_;
  std::string text_;
};

}  // namespace apiserver::inline v0::client
